"""Calls whose arguments do not fit what is called: which are missing, unknown or too many, read off the signature."""
