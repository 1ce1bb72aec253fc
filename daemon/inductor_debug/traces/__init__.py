"""Chrome traces of `torch.profiler`: read as data, tied to a target, and added up by kernel and by expression.

It needs the standard library alone, so that a trace that somebody else recorded is read without torch. It runs nothing
and judges nothing. May import `source` and the schema.
"""
