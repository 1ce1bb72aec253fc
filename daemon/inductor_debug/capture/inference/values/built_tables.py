"""Configurations that Python code builds attribute by attribute: `config.model = ConfigDict(); config.model.nf = 128`.

A function that takes nothing and gives such a table (`get_config()`), and names of a file that such tables stand for
(`_C = CfgNode()`), are followed by their text. Nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from torch import nn

from inductor_debug.capture.inference.values.following import FollowedFunction, Follower
from inductor_debug.capture.inference.values.plain_values import Names
from inductor_debug.capture.inference.values.symbolic_values import (
    ConfigurationTable,
    SymbolicValue,
    UnknownError,
    is_known,
)
from inductor_debug.capture.runtime import foreign


def tables_built_in(tree: ast.Module, names: Names) -> Iterator[dict[str, Any]]:
    """The tables that a file builds, each with the fields that are known; `names` are what its names stand for."""
    follower = Follower(names, {})
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Attribute) for target in node.targets):
            follower.simple(node, names)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not _required(node.args):
            yield from _fields_of(_given_by(follower, FollowedFunction(node)))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield from _fields_of(names.get(node.targets[0].id))


def _required(arguments: ast.arguments) -> bool:
    """Whether a function cannot be called without arguments."""
    positional = len(arguments.posonlyargs) + len(arguments.args)
    return positional > len(arguments.defaults) or None in arguments.kw_defaults


def _given_by(follower: Follower, function: FollowedFunction) -> Any:
    """What a function gives, even if not all of it is known."""
    names = follower.bound(function.node, [], {})
    inner = Follower({**follower.namespace, **names}, {}, budget=follower.budget)
    try:
        for node in function.node.body:
            if isinstance(node, ast.Return):
                return inner.or_unknown(node.value, names) if node.value is not None else None
            inner.run([node], names)
    except Exception:  # whatever following comes upon in a function that builds no table
        return None
    return None


def _fields_of(value: Any) -> Iterator[dict[str, Any]]:
    try:
        table = _as_table(value, ())
    except RecursionError:  # a list of it has the table itself
        return
    if isinstance(table, ConfigurationTable) and vars(table):
        yield vars(table)


def _as_table(value: Any, around: tuple[Any, ...]) -> Any:
    """A table with all known fields where attributes were set on something; any other value as it is.

    What a table of those `around` it has of itself (`config.parent = config`) is left out.
    """
    if any(value is outer for outer in around):
        return UnknownError
    if isinstance(value, SymbolicValue) and _is_open(value):
        items = {**value.kwargs, **value.attributes}
        if value.args and type(value.args[0]) is dict:
            items = {**value.args[0], **items}
    elif isinstance(value, SimpleNamespace):
        items = vars(value)
    else:
        return value
    parts = {name: _as_table(item, (*around, value)) for name, item in items.items()}
    return ConfigurationTable(**{name: item for name, item in parts.items() if is_known(item)})


def _is_open(value: SymbolicValue) -> bool:
    """Whether it is of a class that only holds what it is told to: a table, no model and no other object."""
    kind = value.kind
    if not foreign.is_a(kind, type) or issubclass(kind, nn.Module):
        return False
    return bool(value.attributes) or issubclass(kind, dict)
