"""Inference of constructor arguments and inputs for classes that nobody gave any.

`inference` is the way in; the packages are evidence, guesses, the search, and what its runs mean.
"""
