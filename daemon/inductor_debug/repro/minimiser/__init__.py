"""From a program that fails to the smallest one that still fails in the same way.

What failing means is the oracle's; imports `program`.
"""
