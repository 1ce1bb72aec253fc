"""The registry of mistakes, and what operators ask of a node.

An operator looks at one node of a function and offers single edits that spoil it. Whether an edit breaks the model it
does not know: that is judged by running it. New operators are functions under `@operator`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inductor_debug_benchmarks.mutation.mutated_source import MutatedSource, MutationEdit


@dataclass(frozen=True, slots=True)
class Site:
    """A node in a function of the class that is mutated; `owner` is the class of a method."""

    source: MutatedSource
    node: ast.AST
    owner: ast.ClassDef | None


Operator = Callable[[Site], Iterator[MutationEdit]]

OPERATORS: dict[str, Operator] = {}
"""Every operator by its name."""


def operator(name: str) -> Callable[[Operator], Operator]:
    """Adds an operator to the registry."""

    def add(function: Operator) -> Operator:
        OPERATORS[name] = function
        return function

    return add


def called(node: ast.AST) -> str:
    """The last name of what a call calls; empty for other nodes."""
    if not isinstance(node, ast.Call):
        return ""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def number(node: ast.AST) -> int | None:
    """The integer that a node is, with or without a minus."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
    return None


def receiver(source: MutatedSource, call: ast.Call) -> str:
    """What a method is called on, its parentheses included, as it is written."""
    assert isinstance(call.func, ast.Attribute)
    start, end = source.span(call.func)
    return source.text[start : end - len(call.func.attr)].rstrip().removesuffix(".").rstrip()


def is_library(node: ast.expr) -> bool:
    """Whether a name is that of a module (`torch`, `F`, `nn.functional`), so that its attributes are functions."""
    return isinstance(node, ast.Name) and node.id in ("torch", "F", "nn", "np", "math", "functional", "init")


def constructed(node: ast.AST) -> str:
    """The name of what a call of a module's function or class calls; empty for methods and other nodes."""
    plain = isinstance(node, ast.Call) and (isinstance(node.func, ast.Name) or not is_method_call(node))
    return called(node) if plain else ""


def is_method_call(node: ast.AST) -> bool:
    """Whether a node calls a method of some value, not a function of a module."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not is_library(node.func.value)


def argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """An argument by its keyword or its position."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    plain = len(call.args) > position and not any(isinstance(item, ast.Starred) for item in call.args[: position + 1])
    return call.args[position] if plain else None


def one_more(source: MutatedSource, node: ast.expr) -> str:
    """An expression that is larger by one."""
    value = number(node)
    if value is not None:
        return str(value + 1)
    text = source.quoted(node)
    plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.BinOp)
    return f"{text} + 1" if plain else f"({text}) + 1"
