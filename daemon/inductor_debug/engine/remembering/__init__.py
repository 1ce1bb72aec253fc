"""What the engine remembers of files beyond one run, in memory and for the next daemon."""
