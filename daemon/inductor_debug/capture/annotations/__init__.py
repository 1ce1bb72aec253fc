"""Shapes that are written beside the code, held against those that are there when it runs.

`shape_watch` runs a target once more and notes them, `shape_judging` says which notes are wrong. May import what stages
may; texts are read by `source.shape_notes`.
"""
