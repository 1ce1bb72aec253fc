"""Why Dynamo broke a graph, as typed facts: the kind, the expression, what was called.

The words are made in `rules`.
"""
