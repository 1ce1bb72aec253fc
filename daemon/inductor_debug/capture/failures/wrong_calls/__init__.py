"""Calls that Python itself refuses: which argument is missing, unknown or given twice.

From signatures; nothing is called.
"""
