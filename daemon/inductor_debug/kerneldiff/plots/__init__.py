"""Differences as pictures and small tables for pages.

Judges nothing.
"""
