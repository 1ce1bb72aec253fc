"""Constraints of accelerators, judged over a recording of ops. Nothing in this room imports torch."""
