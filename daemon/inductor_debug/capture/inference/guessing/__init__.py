"""First guesses of inputs, likeliest first, from all evidence of one callable.

Runs nothing.
"""
