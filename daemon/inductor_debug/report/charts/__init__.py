"""Charts for files: what a run takes of memory and of time, drawn by matplotlib.

Each module has one chart; `canvas` is the only one that knows matplotlib, which may be missing.
"""
