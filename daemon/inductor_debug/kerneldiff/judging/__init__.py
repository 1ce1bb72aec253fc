"""From differences to a verdict: the error to expect, and how far a result is over it.

Knows no backend by name. Imports `metrics` and `execution`.
"""
