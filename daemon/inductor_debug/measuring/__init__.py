"""Clocks: how long a backend takes to compile a target, and how long that and eager then run, on this machine.

Everything else of the tool computes bounds and never a time; only this room compiles and runs models to time them, and
looks into traces of such runs. It judges nothing.
"""
