"""The syntax tree of a text, parsed once for all who look at it. Nobody may change the tree."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache


@lru_cache(maxsize=4)
def tree_of(text: str) -> ast.Module:
    """Parses a module's text, which may begin with a byte order mark.

    Raises:
        SyntaxError: the text is no Python.
        ValueError: it holds null bytes or lone surrogates.
        RecursionError, MemoryError: it is nested too deeply.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes: what runs the text warns about them
        return ast.parse(text.removeprefix("\ufeff"))
