"""What scripts and notebooks call to have orders carried out: `reproduce` and `bisect`, as the command line does it.

Nothing runs in the caller's process: its model goes to a worker as a file, or as source and state. Imports `engine` and
what lies below it, and torch where a model is given in memory.
"""
