"""Conditions on numbers that a call breaks, in words: `6 <= L['n']` is "`n` is 3, less than 6".

Torch writes what has to hold; people want to know what is there now. A condition of another form has no words here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

_SIZE = re.compile(r"\.size\(\)\[(\d+)\]")
_SAID: Mapping[type[ast.cmpop], str] = MappingProxyType(
    {ast.LtE: "more than {}", ast.Lt: "not below {}", ast.GtE: "less than {}", ast.Gt: "not above {}"}
)
"""What is so where the comparison is not."""
_TURNED: Mapping[type[ast.cmpop], type[ast.cmpop]] = MappingProxyType(
    {ast.LtE: ast.GtE, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.Gt: ast.Lt, ast.NotEq: ast.NotEq}
)
_HOLDS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = MappingProxyType(
    {
        ast.LtE: lambda left, right: left <= right,
        ast.Lt: lambda left, right: left < right,
        ast.GtE: lambda left, right: left >= right,
        ast.Gt: lambda left, right: left > right,
        ast.NotEq: lambda left, right: left != right,
    }
)


def in_words(code: str, value_of: Callable[[str], Any], name_of: Callable[[str], str]) -> str:
    """What is so in place of a condition that does not hold; empty where it is of another form.

    Args:
        code: the condition, as torch writes it.
        value_of: evaluates a part of it.
        name_of: what the user calls a part of it.
    """
    try:
        return _of(ast.parse(code, mode="eval").body, value_of, name_of)
    except Exception:
        return ""  # a part of it cannot be evaluated


def _of(node: ast.expr, value_of: Callable[[str], Any], name_of: Callable[[str], str]) -> str:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        failing = (part for part in node.values if not value_of(ast.unparse(part)))
        return next((said for part in failing if (said := _of(part, value_of, name_of))), "")
    if not isinstance(node, ast.Compare):
        return ""
    sides = [node.left, *node.comparators]
    for left, comparison, right in zip(sides, node.ops, sides[1:], strict=False):
        if isinstance(comparison, ast.Is | ast.IsNot) and isinstance(right, ast.Constant) and right.value is None:
            name, kind = f"`{_readable(left, name_of)}`", type(value_of(ast.unparse(left))).__name__
            return f"{name} is None, unlike before" if kind == "NoneType" else f"{name} is {_a(kind)}, not None"
        if isinstance(comparison, ast.Is | ast.IsNot):
            same = "the same object" if isinstance(comparison, ast.IsNot) else "two objects"
            return f"`{_readable(left, name_of)}` and `{_readable(right, name_of)}` are {same}, unlike before"
        holds = _HOLDS.get(type(comparison))
        if holds is None or holds(value_of(ast.unparse(left)), value_of(ast.unparse(right))):
            continue
        if isinstance(left, ast.Constant):
            return _said(right, _TURNED[type(comparison)], left, value_of, name_of)
        return _said(left, type(comparison), right, value_of, name_of)
    return ""


def _said(
    what: ast.expr,
    comparison: type[ast.cmpop],
    limit: ast.expr,
    value_of: Callable[[str], Any],
    name_of: Callable[[str], str],
) -> str:
    now = value_of(ast.unparse(what))
    if not isinstance(now, int | float):
        return ""
    name = f"`{_readable(what, name_of)}` is {now}"
    if comparison is ast.NotEq:
        return f"{name}, unlike before"
    known = value_of(ast.unparse(limit))
    shown = str(known) if isinstance(limit, ast.Constant) else f"`{_readable(limit, name_of)}`, which is {known}"
    return f"{name}, {_SAID[comparison].format(shown)}"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _readable(node: ast.expr, name_of: Callable[[str], str]) -> str:
    return _SIZE.sub(r".shape[\1]", name_of(ast.unparse(node)))
