"""The page of `unreadable`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class UnreadableRule(RunRule):
    """The file cannot be read as Python source."""

    id = "unreadable"
    summary = "The file cannot be read as Python source."
    what = """
        It does not exist, may not be read, is a folder or a device, is binary, is larger than 2 MB, or holds bytes
        that are not in the encoding it declares (UTF-8, unless a comment in its first two lines says otherwise)."""
    why = """
        Python could not run it either, or it is data that was given a Python file's name."""
    example = """
        ```python
        # -*- coding: ascii -*-
        name = "Müller"
        ```"""
    fix = """
        Give the path of a Python file, declare its encoding, or put large tables into a data file. Leave files out
        with `exclude` in `pyproject.toml`."""
