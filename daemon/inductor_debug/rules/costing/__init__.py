"""What ops cost at least: bytes, floating-point operations, and seconds on an accelerator, summed by place and module.

Judges nothing. Imports `recording` and what lies below.
"""
