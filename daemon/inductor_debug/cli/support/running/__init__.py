"""Where many files are run, and how the command line says so: here or elsewhere, how many at once, with which Python.

Stands on the terminal alone among the other modules of `support`.
"""
