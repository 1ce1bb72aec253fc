"""Open documents and files on disk: what is saved, what of it may run, and places that move with edits.

Starts no process. Imports `source` alone.
"""
