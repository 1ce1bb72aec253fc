"""Findings in the formats of CI services and code scanners, and as one page to pass on.

Imports `text`.
"""
