"""Guesses that change an operand of a call: transposed, converted, with a dimension more, in the other one's place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from inductor_debug_schema import ConflictKind, ConflictSide, Finding, OperandFact, ShapeConflict

from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree

_CONVERSIONS: Mapping[str, str] = MappingProxyType(
    {
        "float32": "float",
        "float64": "double",
        "float16": "half",
        "bfloat16": "bfloat16",
        "int64": "long",
        "bool": "bool",
    }
)
"""The methods of tensors that convert to a dtype."""
_MOST_DIMENSIONS = 2
"""How many dimensions may be missing that broadcasting needs."""


def fixes(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """What each kind of contradiction suggests."""
    if facts.conflict is ConflictKind.DTYPE:
        yield from _converted(tree, finding, facts)
    elif facts.conflict is ConflictKind.SIZE and facts.right is not None:
        if facts.operation in ("matmul", "mm", "bmm"):
            yield from _transposed(tree, finding, facts, facts.left, facts.right)
        else:
            yield from _unsqueezed(tree, finding, facts, facts.left, facts.right)
        yield from _swapped(tree, finding, facts)


def _node(tree: Tree, finding: Finding, operand: OperandFact) -> ast.expr | None:
    place = operand.place
    return tree.expression_at(place.range) if place is not None and place.path == finding.path else None


def _appended(tree: Tree, finding: Finding, operand: OperandFact, trailer: str, title: str) -> Iterator[Fix]:
    node = _node(tree, finding, operand)
    if node is not None:
        yield Fix(title, tree.append(node, trailer))


def _transposed(
    tree: Tree, finding: Finding, facts: ShapeConflict, left: ConflictSide, right: ConflictSide
) -> Iterator[Fix]:
    first, second = facts.operands[left.operand], facts.operands[right.operand]
    if len(first.shape) < 2 or len(second.shape) < 2:
        return
    for operand, fits in ((second, second.shape[-1] == first.shape[-1]), (first, first.shape[-2] == second.shape[-2])):
        if fits:
            yield from _appended(
                tree,
                finding,
                operand,
                ".transpose(-2, -1)",
                f"Transpose the last two dimensions of `{operand.expression}`",
            )


def _converted(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    left = facts.operands[facts.left.operand]
    if facts.right is None:
        method = _CONVERSIONS.get(str(facts.wanted))
        if method is not None:
            yield from _appended(tree, finding, left, f".{method}()", f"Convert `{left.expression}` to {facts.wanted}")
        return
    right = facts.operands[facts.right.operand]
    changed_first = sorted(((left, right), (right, left)), key=lambda pair: not pair[0].trace)
    for operand, other in changed_first:
        if other.expression and isinstance(_node(tree, finding, other), (ast.Name, ast.Attribute)):
            trailer = f".to({other.expression}.dtype)"
        elif other.dtype in _CONVERSIONS:
            trailer = f".{_CONVERSIONS[other.dtype]}()"
        else:
            continue
        yield from _appended(tree, finding, operand, trailer, f"Convert `{operand.expression}` to {other.dtype}")


def _unsqueezed(
    tree: Tree, finding: Finding, facts: ShapeConflict, left: ConflictSide, right: ConflictSide
) -> Iterator[Fix]:
    first, second = facts.operands[left.operand], facts.operands[right.operand]
    smaller, larger = sorted((first, second), key=lambda operand: len(operand.shape))
    missing = len(larger.shape) - len(smaller.shape)
    if not 0 < missing <= _MOST_DIMENSIONS:
        return
    for dim in range(1, len(smaller.shape) + 1):
        shape = [*smaller.shape[:dim], *[1] * missing, *smaller.shape[dim:]]
        if all(a in (b, 1) or b == 1 for a, b in zip(shape, larger.shape, strict=True)):
            trailer = f".unsqueeze({dim})" * missing
            title = f"Give `{smaller.expression}` the shape {shape}"
            yield from _appended(tree, finding, smaller, trailer, title)


def _swapped(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """The two operands in each other's place, where that would fit."""
    if len(facts.operands) != 2 or any(len(operand.shape) != 2 for operand in facts.operands):
        return
    first, second = facts.operands
    one, other = _node(tree, finding, first), _node(tree, finding, second)
    fits = second.shape[-1] == first.shape[-2 if facts.operation in ("matmul", "mm") else -1]
    if one is not None and other is not None and one is not other and fits and first.shape != second.shape:
        edits = tree.replace(one, tree.text_of(other)), tree.replace(other, tree.text_of(one))
        yield Fix(f"Swap `{first.expression}` and `{second.expression}`", edits)
