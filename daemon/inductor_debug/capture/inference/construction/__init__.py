"""Arguments for a class's constructor: what the project gives, what its code demands, what is invented.

Runs no model.
"""
