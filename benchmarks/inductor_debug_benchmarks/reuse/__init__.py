"""What the daemon spares itself by using again what it has seen, and that nobody can tell by what it says."""
