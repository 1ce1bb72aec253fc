"""What runs have told: joined, folded, ruled by policy, kept, and let through one gate.

Runs nothing. Imports `text`, `settings` and `pool`.
"""
