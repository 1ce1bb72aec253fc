"""What the operating system knows of processes, for rooms on both sides of the line. Standard library only."""
