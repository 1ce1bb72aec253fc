"""The looks at a target, cheapest first: run eagerly, compiled with our backend, lowered forward and backward.

Imports `graphs` and what lies below; builds no target.
"""
