"""Guesses that change an operand of a call: transposed, converted, with a dimension more, in the other one's place."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
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
_JOINS = frozenset({"cat", "concat", "concatenate", "stack"})
_MOST_DIMENSIONS = 2
"""How many dimensions may be missing that broadcasting needs."""


def fixes(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """What each kind of contradiction suggests."""
    if facts.conflict is ConflictKind.DTYPE:
        yield from _converted(tree, finding, facts)
    elif facts.conflict is ConflictKind.DEVICE and facts.right is not None:
        yield from _moved(tree, finding, facts.operands[facts.left.operand], facts.operands[facts.right.operand])
    else:
        yield from _swapped(tree, finding, facts)
        yield from _laid_out(tree, finding, facts)
        for fix in _laid_out(tree, finding, _where_made(facts)):
            yield replace(fix, title=f"{fix.title} where it is made")


def _laid_out(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """The dimensions of an operand in another order, or one more of them."""
    if facts.conflict is ConflictKind.RANK and facts.operation in _JOINS:
        yield from _unsqueezed_to_join(tree, finding, facts)
    elif facts.conflict is ConflictKind.SIZE and facts.right is not None:
        laid_out = _transposed if facts.operation in _FITS else _unsqueezed
        yield from laid_out(tree, finding, facts, facts.left, facts.right)


def _where_made(facts: ShapeConflict) -> ShapeConflict:
    """The same with operands that stand where they were made, so that whoever else uses them gets them changed, too."""
    operands = [replace(each, place=each.made_at if not each.owner else None) for each in facts.operands]
    return replace(facts, operands=operands)


def flattened(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """The last dimensions of what a layer is given made one, where that has the very size that the layer takes."""
    if facts.conflict is not ConflictKind.SIZE or facts.operation != "linear":
        return
    sides = [side for side in (facts.left, facts.right) if side is not None]
    given = next((side for side in sides if not facts.operands[side.operand].owner), None)
    wanted = next((side.size for side in sides if facts.operands[side.operand].owner), facts.wanted)
    operand = facts.operands[given.operand] if given is not None else None
    for start in range(1, len(operand.shape) - 1) if operand is not None else ():
        if operand is not None and math.prod(operand.shape[start:]) == wanted:
            title = f"Flatten `{operand.expression}` from dimension {start}"
            yield from _appended(tree, finding, operand, f".flatten({start})", title)


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
    """Two dimensions of an operand exchanged so that the product exists; the last two and the right operand first."""
    first, second = facts.operands[left.operand], facts.operands[right.operand]
    for operand in (second, first):
        for one, other in _pairs(len(operand.shape)):
            shape = list(operand.shape)
            shape[one], shape[other] = shape[other], shape[one]
            shapes = (first.shape, shape) if operand is second else (shape, second.shape)
            if shape != operand.shape and _FITS[facts.operation](*shapes):
                last = (one, other) == (len(shape) - 2, len(shape) - 1)
                which = "the last two dimensions" if last else f"dimensions {one} and {other}"
                title = f"Transpose {which} of `{operand.expression}`"
                trailer = ".transpose(-2, -1)" if last else f".transpose({one}, {other})"
                yield from _appended(tree, finding, operand, trailer, title)


def _pairs(rank: int) -> list[tuple[int, int]]:
    """Every pair of dimensions, the last ones first; nothing is moved into the place of a batch."""
    return sorted(itertools.combinations(range(1 if rank > 2 else 0, rank), 2), reverse=True)


def _multiply(left: list[int], right: list[int]) -> bool:
    """Whether `left @ right` exists."""
    if len(left) < 2 or len(right) < 2 or left[-1] != right[-2]:
        return False
    return all(1 in (a, b) or a == b for a, b in zip(left[-3::-1], right[-3::-1], strict=False))


def _attend(left: list[int], right: list[int]) -> bool:
    """Whether query, key and value of these shapes may meet: all but the lengths are equal."""
    return len(left) == len(right) and left[:-2] == right[:-2] and left[-1] == right[-1]


_FITS: Mapping[str, Callable[[list[int], list[int]], bool]] = MappingProxyType(
    {"matmul": _multiply, "mm": _multiply, "bmm": _multiply, "scaled_dot_product_attention": _attend}
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
    yield from _unconverted(tree, finding, changed_first[0][0])
    for operand, other in changed_first:
        if other.expression and isinstance(_node(tree, finding, other), (ast.Name, ast.Attribute)):
            trailer = f".to({other.expression}.dtype)"
        elif other.dtype in _CONVERSIONS:
            trailer = f".{_CONVERSIONS[other.dtype]}()"
        else:
            continue
        yield from _appended(tree, finding, operand, trailer, f"Convert `{operand.expression}` to {other.dtype}")


def _unconverted(tree: Tree, finding: Finding, operand: OperandFact) -> Iterator[Fix]:
    """The conversion taken away that gave an operand its dtype (`.double()`)."""
    place = operand.trace[0].place if operand.trace else None
    node = tree.expression_at(place.range) if place is not None and place.path == finding.path else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args or node.keywords:
        return
    if node.func.attr == _CONVERSIONS.get(operand.dtype):
        yield Fix(f"Take `.{node.func.attr}()` away", (tree.replace(node, tree.text_of(node.func.value)),))


def _moved(tree: Tree, finding: Finding, left: OperandFact, right: OperandFact) -> Iterator[Fix]:
    """One operand made, or brought, where the other one is; what the code puts on a device before all else."""
    pairs = (left, right), (right, left)
    for operand, other in pairs:
        made, beside = _made(tree, finding, operand), _node(tree, finding, other)
        given = [each.value for each in made.keywords if each.arg == "device"] if made is not None else []
        tensors = tree.local_names(beside) if beside is not None else []
        if given and tensors:
            title = f"Make `{operand.expression}` on the device of `{tensors[0]}`"
            yield Fix(title, (tree.replace(given[0], f"{tensors[0]}.device"),))
    for operand, other in sorted(pairs, key=lambda pair: not pair[0].made_by):
        if isinstance(_node(tree, finding, other), (ast.Name, ast.Attribute)):
            title = f"Move `{operand.expression}` to the device of `{other.expression}`"
            yield from _appended(tree, finding, operand, f".to({other.expression}.device)", title)


def _made(tree: Tree, finding: Finding, operand: OperandFact) -> ast.Call | None:
    """The call that made an operand, in the file of the finding."""
    place = operand.made_at
    node = tree.expression_at(place.range) if place is not None and place.path == finding.path else None
    return node if isinstance(node, ast.Call) else None


def _unsqueezed(
    tree: Tree, finding: Finding, facts: ShapeConflict, left: ConflictSide, right: ConflictSide
) -> Iterator[Fix]:
    first, second = facts.operands[left.operand], facts.operands[right.operand]
    smaller, larger = sorted((first, second), key=lambda operand: len(operand.shape))
    missing = len(larger.shape) - len(smaller.shape)
    if len(larger.shape) == 1:
        yield from _appended(tree, finding, first, ".unsqueeze(1)", f"Make a column of `{first.expression}`")
    if not 0 < missing <= _MOST_DIMENSIONS:
        return
    rank = len(smaller.shape)
    behind = larger.shape[:rank] == smaller.shape  # it lacks the last dimensions, whatever sizes are equal by chance
    for dim in [rank, *range(1, rank)] if behind else range(1, rank + 1):
        shape = [*smaller.shape[:dim], *[1] * missing, *smaller.shape[dim:]]
        if all(a in (b, 1) or b == 1 for a, b in zip(shape, larger.shape, strict=True)):
            trailer = f".unsqueeze({dim})" * missing
            title = f"Give `{smaller.expression}` the shape {shape}"
            if first.guessed or second.guessed:  # numbers that nobody asked for say nothing
                title = f"Unsqueeze `{smaller.expression}` at dimension {dim}"
            yield from _appended(tree, finding, smaller, trailer, title)


def _unsqueezed_to_join(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """A dimension more for what has one less than what it is joined with, where at most one other size differs."""
    rank = max(len(operand.shape) for operand in facts.operands)
    whole = next(operand for operand in facts.operands if len(operand.shape) == rank)
    for operand in facts.operands:
        for dim in range(rank) if len(operand.shape) == rank - 1 else ():
            shape = [*operand.shape[:dim], 1, *operand.shape[dim:]]
            if sum(a != b for a, b in zip(shape, whole.shape, strict=True)) <= 1:
                title = f"Give `{operand.expression}` the shape {shape}"
                yield from _appended(tree, finding, operand, f".unsqueeze({dim})", title)


def _swapped(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """The two operands in each other's place, where that would fit."""
    if facts.conflict is not ConflictKind.SIZE or facts.right is None or len(facts.operands) != 2:
        return
    first, second = facts.operands
    one, other = _node(tree, finding, first), _node(tree, finding, second)
    if facts.operation in _FITS:
        fits = _FITS[facts.operation](second.shape, first.shape)
    else:
        fits = len(first.shape) == len(second.shape) == 2 and second.shape[-1] == first.shape[-1]
    if one is not None and other is not None and one is not other and fits and first.shape != second.shape:
        edits = tree.replace(one, tree.text_of(other)), tree.replace(other, tree.text_of(one))
        yield Fix(f"Swap `{first.expression}` and `{second.expression}`", edits)
