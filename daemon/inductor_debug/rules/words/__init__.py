"""Sentences for people, made of typed facts that nobody has to read back.

Judges nothing.
"""
