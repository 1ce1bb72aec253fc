"""The syntax tree of a text, parsed once for all who look at it, and the text of nodes. Nobody may change the tree."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Sequence
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


def tree_of_file(path: str) -> ast.Module | None:
    """The tree of a file as `linecache` quotes it, which knows texts that are not saved; None where it is no Python."""
    try:
        return tree_of("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def text_of(lines: Sequence[str], node: ast.expr | ast.stmt | ast.pattern) -> str:
    """What stands at a node's place, in one line with single spaces; the columns of the tree count UTF-8."""
    assert node.end_lineno is not None
    taken = [line.encode("utf-8", "surrogatepass") for line in lines[node.lineno - 1 : node.end_lineno]]
    if not taken:
        return ""
    taken[-1] = taken[-1][: node.end_col_offset]
    taken[0] = taken[0][node.col_offset :]
    return " ".join(b"\n".join(taken).decode("utf-8", "replace").split())
