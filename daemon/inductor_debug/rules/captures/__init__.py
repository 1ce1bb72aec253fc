"""Captures that are judged more than once: recordings as bytes, what stages tell of them, and what they would cost."""
