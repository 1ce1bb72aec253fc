"""Which sizes, dtypes and devices of a call contradict each other, one family of operations a module.

From shapes and dtypes alone; nothing is run.
"""
