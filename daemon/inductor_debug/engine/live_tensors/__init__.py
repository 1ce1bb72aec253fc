"""Which tensors are alive at a line, from the timelines that runs have left.

Nothing runs for it.
"""
