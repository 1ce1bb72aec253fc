"""Reproducers: reduce a failure, write it down as a script, prove it; find the layer that goes wrong."""
