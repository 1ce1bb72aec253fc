"""Programs as plain data: steps and inputs, from recordings or graphs, and how they are run.

Reduces and judges nothing.
"""
