"""Guesses that give a layer the size which arrives, or make the layer before it give the size that is taken.

A layer's declaration is found by the place that the finding's facts name, or by the assignment to the expression that
was called; which argument says the size is read off torch's documented signatures.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from inductor_debug_schema import ConflictKind, Location, OperandFact, ShapeConflict

from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.tree import Tree


class _Argument(NamedTuple):
    """Where a constructor takes a size, by name and by position."""

    name: str
    position: int


_DIMENSIONS = ("1d", "2d", "3d")
_TAKES: Mapping[str, _Argument] = MappingProxyType(
    {
        "Linear": _Argument("in_features", 0),
        "LayerNorm": _Argument("normalized_shape", 0),
        "RMSNorm": _Argument("normalized_shape", 0),
        "GroupNorm": _Argument("num_channels", 1),
        "MultiheadAttention": _Argument("embed_dim", 0),
        **{f"Conv{each}": _Argument("in_channels", 0) for each in _DIMENSIONS},
        **{f"ConvTranspose{each}": _Argument("in_channels", 0) for each in _DIMENSIONS},
        **{f"BatchNorm{each}": _Argument("num_features", 0) for each in _DIMENSIONS},
        **{f"InstanceNorm{each}": _Argument("num_features", 0) for each in _DIMENSIONS},
        **{f"{kind}{cell}": _Argument("input_size", 0) for kind in ("RNN", "LSTM", "GRU") for cell in ("", "Cell")},
    }
)
_GIVES: Mapping[str, _Argument] = MappingProxyType(
    {
        "Linear": _Argument("out_features", 1),
        "Embedding": _Argument("embedding_dim", 1),
        **{f"Conv{each}": _Argument("out_channels", 1) for each in _DIMENSIONS},
        **{f"ConvTranspose{each}": _Argument("out_channels", 1) for each in _DIMENSIONS},
    }
)


def fixes(tree: Tree, facts: ShapeConflict, path: str) -> Iterator[Fix]:
    """The layer set to what arrives, then the layer before it to what is taken."""
    if facts.conflict is not ConflictKind.SIZE:
        return
    sides = [facts.left, *([] if facts.right is None else [facts.right])]
    owned = next((side for side in sides if facts.operands[side.operand].owner), None)
    given = next((side for side in sides if not facts.operands[side.operand].owner), None)
    if given is None or not (owned is not None or facts.call):
        return
    layer = None if owned is None else facts.operands[owned.operand]
    declared = _declaration(tree, layer, facts.call, path)
    name = (facts.call if layer is None else layer.owner).removeprefix("self.")
    yield from _resized(tree, declared, _TAKES, given.size, name)
    arriving = facts.operands[given.operand].trace
    wanted = facts.wanted if owned is None or facts.wanted is not None else owned.size
    if arriving and arriving[-1].first and isinstance(wanted, int) and len(arriving[-1].sizes) == 1:
        before = _at(tree, arriving[-1].place, path)
        yield from _resized(tree, before, _GIVES, wanted, arriving[-1].name.rpartition(".")[0])


def _resized(
    tree: Tree, declared: ast.Call | None, table: Mapping[str, _Argument], size: int, name: str
) -> Iterator[Fix]:
    if declared is None:
        return
    function = declared.func
    kind = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    argument = table.get(kind)
    if argument is None:
        return
    value = _value(declared, argument)
    if value is None:
        return
    if isinstance(value, (ast.List, ast.Tuple)):
        if len(value.elts) != 1:
            return
        value = value.elts[0]
    edit: TextEdit = tree.replace(value, str(size))
    yield Fix(f"Set `{argument.name}` of `{name}` to {size}", (edit,))


def _value(call: ast.Call, argument: _Argument) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == argument.name:
            return keyword.value
    before = call.args[: argument.position + 1]
    if len(before) <= argument.position or any(isinstance(given, ast.Starred) for given in before):
        return None
    return before[argument.position]


def _declaration(tree: Tree, layer: OperandFact | None, called: str, path: str) -> ast.Call | None:
    declared = _at(tree, layer.made_at, path) if layer is not None else None
    return declared or tree.assigned(called)


def _at(tree: Tree, place: Location | None, path: str) -> ast.Call | None:
    node = tree.expression_at(place.range) if place is not None and place.path == path else None
    return node if isinstance(node, ast.Call) else None
