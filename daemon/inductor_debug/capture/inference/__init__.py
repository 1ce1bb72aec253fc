"""Inference of constructor arguments and inputs for classes that nobody gave any. `offering` is the way in."""
