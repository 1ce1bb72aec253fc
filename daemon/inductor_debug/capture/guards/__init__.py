"""What compiled graphs rely on, and what compiles them again.

Imports `stages` and what lies below.
"""
