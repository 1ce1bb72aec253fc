"""The small edits that are tried on a suspected expression. Each changes one thing that people get wrong.

Which numbers of a call are dimensions is read off torch's documented signatures. Nothing is run here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree, in_order

_OF_DIMENSIONS = frozenset(
    {
        *("transpose", "swapaxes", "swapdims", "movedim", "permute", "flatten", "unflatten", "unsqueeze", "squeeze"),
        *("cat", "concat", "concatenate", "stack", "chunk", "split", "tensor_split", "unbind", "repeat_interleave"),
        *("softmax", "log_softmax", "logsumexp", "normalize", "norm", "glu", "cumsum", "cosine_similarity", "roll"),
        *("sum", "mean", "std", "var", "amax", "amin", "max", "min", "argmax", "argmin"),
        *("size", "select", "narrow", "index_select", "gather"),
    }
)
"""Functions and methods whose whole numbers are dimensions."""
_SIZE_FIRST = frozenset({"chunk", "split", "tensor_split", "repeat_interleave"})
"""Those whose first number is none."""
_DIMENSION_NAMES = frozenset({"dim", "axis", "dim0", "dim1", "start_dim", "end_dim", "dims"})
_DIMENSIONS = range(-2, 4)
_RESHAPES = frozenset({"view", "reshape", "unflatten", "expand"})
_MOVES = frozenset({"transpose", "t", "permute", "flatten", "unsqueeze", "squeeze", "mT", "T", "swapaxes", "movedim"})
"""Methods that only lay dimensions out anew, so that a tensor can do without them."""
_SLICES = 2
"""How many dimensions a subscript is moved by."""


class Change(NamedTuple):
    """An edit with how unlikely it is, as a rank: what people mistake more often has a lower one."""

    rank: int
    fix: Fix


_Operator = Callable[[Tree, ast.AST], Iterator[Change]]


def changes(tree: Tree, suspect: ast.AST) -> Iterator[Change]:
    """Every single edit of an expression or of what it is made of, outermost first."""
    for node in in_order(suspect):
        for operator in _OPERATORS:
            yield from operator(tree, node)


def _other_dimensions(tree: Tree, node: ast.AST) -> Iterator[Change]:
    """`flatten(2)` for `flatten(3)`: each number that names a dimension set to the others, the nearest first."""
    for number in _dimensions(node):
        value = _whole(number)
        if value is not None:
            others = sorted(set(_DIMENSIONS) - {value}, key=lambda each: (abs(each - value), (each < 0) != (value < 0)))
            yield from (Change(1, _replaced(tree, node, number, str(other))) for other in others)


def _dimensions(node: ast.AST) -> Iterator[ast.expr]:
    """The numbers of a call, or of a subscript of a shape, that name dimensions."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        yield node.slice
    if not isinstance(node, ast.Call):
        return
    yield from (keyword.value for keyword in node.keywords if keyword.arg in _DIMENSION_NAMES)
    if _called(node) in _OF_DIMENSIONS:
        numbers = [argument for argument in node.args if _whole(argument) is not None]
        sized = _called(node) in _SIZE_FIRST and len(numbers) > 1
        yield from numbers[1:] if sized else numbers


def _exchanged(tree: Tree, node: ast.AST) -> Iterator[Change]:
    """Neighbouring arguments of a call, or the operands of a product, in each other's place."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield Change(2, _swapped(tree, node.left, node.right))
    if isinstance(node, ast.Call) and not any(isinstance(each, ast.Starred) for each in node.args):
        for one, other in zip(node.args, node.args[1:], strict=False):
            if ast.dump(one) != ast.dump(other):
                yield Change(2 if _called(node) in ("matmul", "mm", "bmm") else 5, _swapped(tree, one, other))


def _taken_apart(tree: Tree, node: ast.AST) -> Iterator[Change]:
    """`C // heads` for `C // heads + 1`, `*` for `@`: an operand or an operator that is too much."""
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.op, (ast.Add, ast.Sub)) and _whole(node.right) is not None:
        yield Change(2, _replaced(tree, node, node, tree.text_of(node.left)))
    elif isinstance(node.op, (ast.FloorDiv, ast.Mult)) and not _of_tensors(node):
        yield Change(4, _replaced(tree, node, node, tree.text_of(node.left)))
    if isinstance(node.op, ast.MatMult):
        text = f"{tree.enclosed(node.left)} * {tree.enclosed(node.right)}"
        yield Change(4, _replaced(tree, node, node, text))


def _of_tensors(node: ast.BinOp) -> bool:
    """Whether an operand is made by a call, so that this is more likely arithmetic of tensors than of sizes."""
    return any(isinstance(each, ast.Call) for each in (node.left, node.right))


def _other_sizes(tree: Tree, node: ast.AST) -> Iterator[Change]:
    """The sizes of a view: one found by torch, or one more that the function knows."""
    if not isinstance(node, ast.Call) or _called(node) not in _RESHAPES or not node.args:
        return
    whole = node.args[0] if len(node.args) == 1 else None
    sizes = whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else node.args
    written = {ast.dump(size) for size in sizes}
    for name in _sizes_known(tree, node):
        if ast.dump(ast.Name(name, ast.Load())) not in written:
            place = sizes[-1]
            text = f"{name}, {tree.text_of(place)}"
            yield Change(3, Fix(f"Keep the dimension `{name}` in `{_said(tree, node)}`", (tree.replace(place, text),)))


def _sizes_known(tree: Tree, node: ast.AST) -> Iterator[str]:
    """The names that the function around a node gives to the sizes of a tensor: `B, T, C = x.shape`."""
    function = tree.function_around(node)
    for each in ast.walk(function) if function is not None else ():
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Tuple) and _is_shape(each.value):
            yield from (part.id for part in each.targets[0].elts if isinstance(part, ast.Name) and part.id != "_")


def _is_shape(node: ast.expr) -> bool:
    named = node.func if isinstance(node, ast.Call) else node
    return isinstance(named, ast.Attribute) and named.attr in ("shape", "size")


def _without_a_move(tree: Tree, node: ast.AST) -> Iterator[Change]:
    """`x` for `x.transpose(1, 2)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
        value = node.func.value
        if not (isinstance(value, ast.Name) and value.id in tree.aliases("torch")):
            yield Change(4, Fix(f"Take `.{_said(tree, node)}` away", (tree.replace(node, tree.text_of(value)),)))


def _other_slices(tree: Tree, node: ast.AST) -> Iterator[Change]:
    """`x[:, :n]` for `x[:n]`: a slice of another dimension."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return
    for count in range(1, _SLICES + 1):
        text = ", ".join([":"] * count + [tree.text_of(node.slice)])
        yield Change(
            2, Fix(f"Slice dimension {count} of `{tree.text_of(node.value)}`", (tree.replace(node.slice, text),))
        )


def _off_by_one(tree: Tree, node: ast.AST) -> Iterator[Change]:
    """The whole numbers of a call that name no dimension, one more and one less."""
    if not isinstance(node, ast.Call):
        return
    dimensions = list(_dimensions(node))
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    inside = [each for one in given for each in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])]
    for number in inside:
        value = _whole(number)
        if value is None or number in dimensions:
            continue
        for other in (value - 1, value + 1):
            if other >= 0:
                yield Change(5, _replaced(tree, node, number, str(other)))


_OPERATORS: tuple[_Operator, ...] = (
    _other_dimensions,
    _other_slices,
    _exchanged,
    _taken_apart,
    _other_sizes,
    _without_a_move,
    _off_by_one,
)


def _swapped(tree: Tree, one: ast.expr, other: ast.expr) -> Fix:
    first, second = tree.text_of(one), tree.text_of(other)
    return Fix(f"Swap `{first}` and `{second}`", (tree.replace(one, second), tree.replace(other, first)))


def _replaced(tree: Tree, around: ast.AST, node: ast.expr, text: str) -> Fix:
    title = f"Change `{tree.text_of(node)}` to `{text}`"
    if around is not node and isinstance(around, ast.expr):
        title += f" in `{_said(tree, around)}`"
    return Fix(title, (tree.replace(node, text),))


def _said(tree: Tree, node: ast.expr) -> str:
    """A call without what it is a method of; anything else as it is; in one line."""
    text = tree.text_of(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        text = text[len(tree.text_of(node.func.value)) :].lstrip(").").lstrip()
    return " ".join(text.split())


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _whole(node: ast.expr) -> int | None:
    """The value of a whole number that is written down, with its sign."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None
    return value if type(value) is int else None
