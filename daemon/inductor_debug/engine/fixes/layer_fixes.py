"""Guesses that give a layer the size which arrives, or make the layer before it give the size that is taken.

A layer's declaration is found by the place that the finding's facts name, or by the assignment to the expression that
was called; which argument says the size is read off torch's documented signatures.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from inductor_debug_schema import ConflictKind, ConflictSide, Location, OperandFact, ShapeConflict

from inductor_debug.engine.fixes.edits import Fix
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
    """The layer set to what arrives, its two sizes exchanged, or the layer before it set to what is taken.

    Of two numbers the one that the file says more often is rather meant. A size that comes of inputs which nobody gave
    is taken for the right one last of all.
    """
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
    before, before_name = _before(tree, facts.operands[given.operand], path)
    takes, gives = _size_of(declared, _TAKES), _size_of(before, _GIVES)
    if takes is not None:
        yield from _said_alike(tree, takes, gives, name)
        if declared is not None and layer is not None and layer.shape[:1] == [given.size]:
            yield from _exchanged(tree, declared, name)
    wanted = facts.wanted if owned is None or facts.wanted is not None else owned.size
    arrives = _set(tree, takes, None if owned is None else owned.size, given.size, name)
    guessed = facts.operands[given.operand].guessed
    if guessed:
        arrives = [replace(fix, title=f"{fix.title}, for {_input_of(facts, given)}") for fix in arrives]
    meets: list[Fix] = []
    if gives is not None and isinstance(wanted, int):
        meets = [*_said_alike(tree, gives, takes, before_name), *_set(tree, gives, given.size, wanted, before_name)]
    last = guessed or tree.times_said(wanted) > tree.times_said(given.size)
    yield from [*meets, *arrives] if last else [*arrives, *meets]


_Size = tuple[str, ast.expr]
"""The name of a constructor's argument, and the expression that it is given."""


def _set(tree: Tree, size: _Size | None, has: int | None, wanted: int, name: str) -> list[Fix]:
    """The argument made what is wanted; of a product first the number alone: `512 * k` for `256 * k`."""
    if size is None:
        return []
    argument, node = size
    texts = [*_scaled(tree, node, has, wanted), str(wanted)] if has else [str(wanted)]
    return [Fix(f"Set `{argument}` of `{name}` to {text}", (tree.replace(node, text),)) for text in texts]


def _scaled(tree: Tree, node: ast.expr, has: int, wanted: int) -> Iterator[str]:
    """A product that makes `has` with another number in it, so that it makes `wanted`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return
    left, right = tree.text_of(node.left), tree.text_of(node.right)
    for number in (node.left, node.right):
        value = number.value if isinstance(number, ast.Constant) else None
        if isinstance(value, int) and value * wanted % has == 0:
            other = str(value * wanted // has)
            yield f"{other} * {right}" if number is node.left else f"{left} * {other}"


def _said_alike(tree: Tree, size: _Size, other: _Size | None, name: str) -> Iterator[Fix]:
    """A size said in the words of the layer that it has to meet, where those mean the same."""
    if other is not None and not isinstance(other[1], ast.Constant) and tree.same_function(size[1], other[1]):
        text = tree.text_of(other[1])
        yield Fix(f"Set `{size[0]}` of `{name}` to {text}", (tree.replace(size[1], text),))


def _input_of(facts: ShapeConflict, side: ConflictSide) -> str:
    """The input that a size comes from, as the finding says it."""
    trace = facts.operands[side.operand].trace
    return trace[-1].text if trace else "these inputs"


def _exchanged(tree: Tree, declared: ast.Call, name: str) -> Iterator[Fix]:
    takes, gives = _size_of(declared, _TAKES), _size_of(declared, _GIVES)
    if takes is not None and gives is not None:
        edits = tree.replace(takes[1], tree.text_of(gives[1])), tree.replace(gives[1], tree.text_of(takes[1]))
        yield Fix(f"Exchange `{takes[0]}` and `{gives[0]}` of `{name}`", edits)


def _before(tree: Tree, given: OperandFact, path: str) -> tuple[ast.Call | None, str]:
    """The declaration of the layer that gave an operand the size in question, and what it is called."""
    last = given.trace[-1] if given.trace else None
    if last is None or not last.first or len(last.sizes) != 1:
        return None, ""
    return _at(tree, last.place, path), last.name.rpartition(".")[0]


def _size_of(declared: ast.Call | None, table: Mapping[str, _Argument]) -> _Size | None:
    if declared is None:
        return None
    function = declared.func
    kind = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    argument = table.get(kind)
    value = _value(declared, argument) if argument is not None else None
    if argument is None or value is None:
        return None
    if isinstance(value, (ast.List, ast.Tuple)):
        return (argument.name, value.elts[0]) if len(value.elts) == 1 else None
    return argument.name, value


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
