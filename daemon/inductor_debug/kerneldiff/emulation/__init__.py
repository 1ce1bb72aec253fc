"""The arithmetic of accelerators that are not there, and faults put into it on purpose.

Imports `judging` and what lies below.
"""
