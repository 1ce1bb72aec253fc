"""Rules of GPUs: what runs there as it is, with the seconds that another way of writing it would save."""
