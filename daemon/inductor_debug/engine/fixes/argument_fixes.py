"""Guesses that change what a call is told beside its tensors: a view's sizes, the dimension of `cat`."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from inductor_debug_schema import ConflictKind, Finding, ShapeConflict

from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.tree import Tree

_RESHAPES = frozenset({"view", "reshape", "unflatten"})
_JOINS = frozenset({"cat", "concat", "concatenate"})


def fixes(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """What each kind of contradiction suggests."""
    call = tree.expression_at(finding.range)
    if not isinstance(call, ast.Call):
        return
    if facts.conflict is ConflictKind.LAYOUT and isinstance(call.func, ast.Attribute):
        edit = tree.rename(call.func, "reshape")
        if edit is not None:
            yield Fix("Use `reshape`, which copies where it must", (edit,))
    elif facts.conflict is ConflictKind.VOLUME and facts.left.dim is None and isinstance(facts.wanted, int):
        yield from _resized(tree, call, facts.operands[facts.left.operand].shape, facts.wanted)
    elif facts.conflict is ConflictKind.SIZE and facts.operation in _JOINS:
        yield from _joined_elsewhere(tree, call, facts)


def where_made(tree: Tree, finding: Finding, facts: ShapeConflict) -> Iterator[Fix]:
    """The size in question as the call says it that gave it to an operand: a view's number, the dimension of `cat`."""
    if facts.conflict is not ConflictKind.SIZE:
        return
    for side, other in ((facts.left, facts.right), (facts.right, facts.left)):
        if side is None or facts.operands[side.operand].owner:
            continue
        wanted = facts.wanted if other is None else other.size
        made_at = facts.operands[side.operand].made_at
        call = tree.expression_at(made_at.range) if made_at is not None and made_at.path == finding.path else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr in _RESHAPES and isinstance(wanted, int):
            for node in _sizes_of(call):
                if _number(node) == side.size:
                    yield _sized(tree, node, wanted)
        elif call.func.attr in _JOINS and side.dim is not None:
            edit = _with_dim(tree, call, side.dim)
            if edit is not None:
                yield Fix(f"Join along dimension {side.dim}", (edit,))


def _resized(tree: Tree, call: ast.Call, shape: list[int], wanted: int) -> Iterator[Fix]:
    """One of a view's sizes replaced by what fits: beside a -1, that is a product of the last dimensions."""
    volume = math.prod(shape)
    sizes = _sizes_of(call)
    numbers = [(node, number) for node in sizes if (number := _number(node)) is not None and number > 0]
    rests = [math.prod(shape[start:]) for start in range(1, len(shape))]
    open_ended = any(_number(node) == -1 for node in sizes)
    if not open_ended and not any(isinstance(node, ast.Starred) for node in sizes):
        for node in reversed(sizes):
            if _number(node) is None:
                yield Fix(f"Let `view` find the size {tree.text_of(node)}", (tree.replace(node, "-1"),))
    for node, number in reversed(numbers):
        others = wanted // number if number else 0
        if not others or volume % others:
            continue
        for size in [rest for rest in rests if (volume // others) % rest == 0] if open_ended else [volume // others]:
            if size != number:
                yield _sized(tree, node, size)


def _sizes_of(call: ast.Call) -> list[ast.expr]:
    """The sizes that a view is given, one by one or in a sequence."""
    whole = call.args[0] if len(call.args) == 1 else None
    return whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else call.args


def _sized(tree: Tree, node: ast.expr, size: int) -> Fix:
    return Fix(f"Set the size {tree.text_of(node)} to {size}", (tree.replace(node, str(size)),))


def _number(node: ast.expr) -> int | None:
    """A whole number that is written down, perhaps as a product of such."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _number(node.left), _number(node.right)
        return None if left is None or right is None else left * right
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def _joined_elsewhere(tree: Tree, call: ast.Call, facts: ShapeConflict) -> Iterator[Fix]:
    shapes = [operand.shape for operand in facts.operands]
    if len({len(shape) for shape in shapes}) != 1:
        return
    differing = [dim for dim in range(len(shapes[0])) if len({shape[dim] for shape in shapes}) > 1]
    if len(differing) == 1:
        edit = _with_dim(tree, call, differing[0])
        if edit is not None:
            yield Fix(f"Join along dimension {differing[0]}", (edit,))


def _with_dim(tree: Tree, call: ast.Call, dim: int) -> TextEdit | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg in ("dim", "axis")), None)
    if named is None and len(call.args) > 1:
        named = call.args[1]
    return tree.replace(named, str(dim)) if named is not None else tree.add_argument(call, f"dim={dim}")
