"""Runs of one model: as it is, in higher precision, node by node, with its state put back.

Judges nothing.
"""
