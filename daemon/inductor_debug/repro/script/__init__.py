"""A program or a piece of source as a script that needs torch alone, with the check of its failure.

Imports `minimiser` and `program`.
"""
