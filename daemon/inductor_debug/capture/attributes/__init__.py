"""Which attributes the objects of a file's classes may have, and reads of such as nothing sets. Reads text alone.

Nothing is built or run, and no attribute of the user's objects is asked for. What is dynamic may be anything.
"""
