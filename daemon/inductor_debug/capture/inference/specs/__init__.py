"""Guesses of a call as plain values: specs of tensors, names, changes, and how they are written down.

Runs nothing and reads no evidence.
"""
