"""What a rule sees: a recording of operations as plain data, its statistics, and arithmetic on its sizes.

Judges nothing.
"""
