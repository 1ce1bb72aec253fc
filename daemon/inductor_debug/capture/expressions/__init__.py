"""From running code to expressions of the user's source.

Knows bytecode and syntax trees; runs nothing, and imports no other package of `capture`.
"""
