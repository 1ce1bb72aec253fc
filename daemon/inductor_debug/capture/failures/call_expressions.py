"""Which expression of the source each tensor of a call was written as. Syntax only; nothing is evaluated.

The arguments that a call was seen with are laid beside the expression that made it: both sides of an operator, the
receiver of a method, positional and named arguments, the elements of a list. Where the two do not match (`*args`), the
tensors have no expression.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from inductor_debug_schema import Location

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failed_calls import FailedCall

_LONGEST = 48


@dataclass(frozen=True, slots=True)
class Written:
    """An expression as the source has it, on one line, and where it stands."""

    text: str
    location: Location


class CallExpression:
    """The expression at a place of the source that calls something.

    Args:
        sources: the texts that ran.
        location: where the expression stands.
    """

    def __init__(self, sources: SourceMap, location: Location) -> None:
        self._sources = sources
        self._path = location.path
        self._node = node_at(sources, location)

    def tensors(self, call: FailedCall) -> dict[int, list[Written]]:
        """By the identity of each tensor of a call, what it was written as in this expression, as often as it was."""
        found: dict[int, list[ast.expr]] = {}
        node = self._node
        if isinstance(node, ast.BinOp):
            _lay((node.left, node.right), call.args, found)
        elif isinstance(node, ast.AugAssign):
            _lay((node.target, node.value), call.args, found)
        elif isinstance(node, ast.Compare):
            _lay((node.left, *node.comparators), call.args, found)
        elif isinstance(node, ast.Subscript):
            _lay((node.value, node.slice), call.args, found)
        elif isinstance(node, ast.Call):
            _lay_call(node, call, found)
        return {number: [self._written(each) for each in nodes] for number, nodes in found.items()}

    def callee(self) -> Written | None:
        """What is called (`self.fc1`), where the expression is a call."""
        return self._written(self._node.func) if isinstance(self._node, ast.Call) else None

    def text(self) -> str:
        """The expression as the source has it; nothing where none stands at the place."""
        return self._written(self._node).text if isinstance(self._node, ast.expr) else ""

    def name(self) -> str:
        """One word for what the expression does: the name of what it calls, an operator's sign, or nothing."""
        node = self._node
        if isinstance(node, ast.Call):
            function = node.func
            return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            return _SIGNS.get(type(node.op), "")
        return "[…]" if isinstance(node, ast.Subscript) else ""

    def _written(self, node: ast.expr) -> Written:
        text = ast.unparse(node)
        shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        return Written(shown, self._sources.location_of(self._path, node))


def node_at(sources: SourceMap, location: Location) -> ast.expr | ast.stmt | None:
    """The expression, or statement, that stands exactly at a place; None where there is none."""
    tree, line = sources.tree(location.path), location.range.start.line + 1
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, (ast.expr, ast.stmt)) or isinstance(node, ast.Expr) or node.lineno != line:
            continue
        if sources.location_of(location.path, node) == location:
            return node
    return None


_SIGNS = {
    ast.MatMult: "@", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


def _lay(nodes: Sequence[ast.expr], values: Sequence[Any], found: dict[int, list[ast.expr]]) -> None:
    """Lays expressions beside values, one for one, as far as neither is starred."""
    for node, value in zip(nodes, values, strict=False):
        if isinstance(node, ast.Starred):
            return
        if isinstance(value, torch.Tensor):
            found.setdefault(id(value), []).append(node)
        elif isinstance(value, (list, tuple)) and isinstance(node, (ast.List, ast.Tuple)):
            _lay(node.elts, value, found)


def _lay_call(node: ast.Call, call: FailedCall, found: dict[int, list[ast.expr]]) -> None:
    written = list(node.args)
    if isinstance(node.func, ast.Attribute) and not call.is_module and len(call.args) == len(written) + 1:
        written.insert(0, node.func.value)
    _lay(written, call.args, found)
    values = dict(call.kwargs)
    names = _parameter_names(call.function)
    for index, argument in enumerate(written[len(call.args) :], len(call.args)):
        # Functions of `torch.nn.functional` hand on by name what they were given in order.
        if index < len(names) and names[index] in values:
            _lay([argument], [values[names[index]]], found)
    _lay_named(node.keywords, values, call, names, found)


def _lay_named(
    keywords: Sequence[ast.keyword],
    values: Mapping[str, Any],
    call: FailedCall,
    names: Sequence[str],
    found: dict[int, list[ast.expr]],
) -> None:
    for keyword in keywords:
        if keyword.arg is None:
            continue
        if keyword.arg in values:
            _lay([keyword.value], [values[keyword.arg]], found)
        elif keyword.arg in names and names.index(keyword.arg) < len(call.args):
            _lay([keyword.value], [call.args[names.index(keyword.arg)]], found)


def _parameter_names(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
