"""Constraints of accelerators, judged over a recording of ops. Nothing in this room imports torch.

`judge` asks every rule that `registry` finds.
"""
