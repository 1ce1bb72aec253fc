"""The settings of a file: the ladder of those who may say something, read strictly.

Imports no other package of `engine`.
"""
