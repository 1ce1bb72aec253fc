"""From a recording to facts of the user's expressions: what each gave, ran and cost, for hovers and hints.

Imports `recording` and what lies below; judges nothing.
"""
