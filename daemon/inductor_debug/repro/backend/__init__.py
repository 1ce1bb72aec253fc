"""Reproducers of what a backend does: it raises, kills the process, or computes something else.

Imports `script` and what lies below.
"""
