"""How far two tensors are from each other: every metric, in one walk, in constant memory.

Knows tensors and number formats, no models.
"""
