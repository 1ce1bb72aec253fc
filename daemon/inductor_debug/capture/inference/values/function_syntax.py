"""Syntax trees of functions that are already loaded. Parses a file once; executes nothing."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from functools import lru_cache
from typing import Any

from inductor_debug.capture.runtime import foreign

Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=64)
def _functions(path: str, text: str) -> dict[int, Function]:
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, Function] = {}
    for node in ast.walk(tree):
        if isinstance(node, Function):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            found[first] = found[node.lineno] = node
    return found


def function_tree(function: Any) -> Function | None:
    """The definition of a Python function, with the line numbers of its file where that is the user's own."""
    function = foreign.plain_function(function)
    code = foreign.code_of(function)
    if code is None:
        return None
    if "site-packages" in code.co_filename:
        # Libraries' files are long: only the function is read.
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError, SyntaxError, ValueError):
            return None
        return tree.body[0] if tree.body and isinstance(tree.body[0], Function) else None
    return _functions(code.co_filename, "".join(linecache.getlines(code.co_filename))).get(code.co_firstlineno)


def source_lines(function: Any) -> list[str]:
    """The lines of a Python function, its docstring and comments among them."""
    function = foreign.plain_function(function)
    tree, code = function_tree(function), foreign.code_of(function)
    if tree is None or code is None:
        return []
    lines = linecache.getlines(code.co_filename)
    return lines[code.co_firstlineno - 1 : code.co_firstlineno + (tree.end_lineno or 0) - tree.lineno]
