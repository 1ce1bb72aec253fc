"""Judges runs with inferred inputs: whose fault it is that none runs, and what may be said where one does.

Never looks for inputs: it varies those that the search found, and reads the code that refuses them.
"""
