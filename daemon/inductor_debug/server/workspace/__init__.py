"""The whole workspace, checked on request: the command, and what is kept of its results for files that are not open.

Nothing here runs unasked, and nothing runs again by itself: a result that its file has outgrown is marked, not renewed.
"""
