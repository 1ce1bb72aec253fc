"""Contradictions between the tensors of one call: which of their sizes cannot be, said from metadata alone.

`capture.conflicts` is the way in. The modules here know one family of operations each, by the names and the order of
arguments that torch documents; they need no torch and compute nothing but sizes.
"""
