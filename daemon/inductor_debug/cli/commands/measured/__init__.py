"""Commands that run models with real values and a clock, or read what such a run left.

They import what all commands do.
"""
