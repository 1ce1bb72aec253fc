"""What user code runs in: loaded as a module, contained, seeded, quiet, on the CPU, and looked at without trust.

Knows nothing of targets. Imports `expressions` alone.
"""
