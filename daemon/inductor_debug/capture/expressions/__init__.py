"""From running code to expressions of the user's source, and facts about them.

Knows bytecode and syntax trees; runs nothing, and imports no other package of `capture`.
"""
