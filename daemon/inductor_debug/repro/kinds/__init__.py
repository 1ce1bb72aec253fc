"""From a failure that is meant to its reproducer, one kind a module.

Imports `backend` and what lies below.
"""
