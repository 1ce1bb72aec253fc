"""Which sizes of a target's inputs may be others, what they are called, and the target with other ones."""
