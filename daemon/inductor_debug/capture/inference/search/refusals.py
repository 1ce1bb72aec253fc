"""What a call was refused for by code that raises or asserts: the conditions under which it does so, as written.

`if x.ndim != 5 or x.size(1) != 2: raise` says what `x` is to be, `if x is None: raise` that it is to be given. Where
Python refuses itself to do something with None, the names of the statement that stand for it are to be given. Read from
the syntax of the function that raised and from the values of its names; no message is read and nothing is run. A name
is the argument of the call that it was handed on from, where it still is that very tensor; others are taken for
arguments that are called alike.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import operator
import textwrap
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

import torch

from inductor_debug.capture.inference.usage.expression_kinds import integer, name_of, shape_of
from inductor_debug.capture.runtime import foreign

Size = tuple[str, int]
"""A tensor's name and the number of one of its dimensions."""

_HELD_APART, _HELD_EQUAL = (ast.NotEq, ast.Lt, ast.Gt), (ast.Eq, ast.LtE, ast.GtE)
"""Comparisons that equal sides turn out false, and true."""

_RECKONED = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_NOBODYS = ("torch", __name__.partition(".")[0])
"""Packages whose functions are not the user's."""
_EXTREMES = ("min", "max", "amin", "amax", "aminmax")


@dataclass
class Refusal:
    """What was asked for. `missing` are names that stood for None, `ranks` and `sizes` what tensors are to have.

    `had` and `had_ranks` are what they have where they were refused, `multiples` numbers of which a size is to be one,
    `flags` tensors that were asked whether they are true, `bounded` those whose least or largest element was looked at,
    `alike` pairs of one that is to have the shape of another one, which has more dimensions.
    """

    missing: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    ranks: dict[str, int] = field(default_factory=dict)
    sizes: dict[Size, int] = field(default_factory=dict)
    had: dict[Size, int] = field(default_factory=dict)
    had_ranks: dict[str, int] = field(default_factory=dict)
    multiples: dict[Size, int] = field(default_factory=dict)
    bounded: list[str] = field(default_factory=list)
    alike: list[tuple[str, str]] = field(default_factory=list)

    def renamed(self, names: Mapping[str, str]) -> Refusal:
        """The same of arguments that are called otherwise."""

        def of(name: str) -> str:
            return names.get(name, name)

        return Refusal(
            list(map(of, self.missing)),
            list(map(of, self.flags)),
            {of(name): rank for name, rank in self.ranks.items()},
            {(of(name), dim): size for (name, dim), size in self.sizes.items()},
            {(of(name), dim): size for (name, dim), size in self.had.items()},
            {of(name): rank for name, rank in self.had_ranks.items()},
            {(of(name), dim): number for (name, dim), number in self.multiples.items()},
            list(map(of, self.bounded)),
            [(of(one), of(other)) for one, other in self.alike],
        )


def refusal_of(error: BaseException | None) -> Refusal:
    """The conditions under which the statement that raised `error` does so; empty where it is no such statement."""
    steps = list(traceback.walk_tb(error.__traceback__ if error is not None else None))
    if error is None or not steps or _owner(steps[-1][0]) == "torch":
        return Refusal()
    frame, line = steps[-1]
    return _refused(error, frame, line).renamed(_handed_on([frame for frame, _ in steps]))


def asked_of_tensors(error: BaseException | None) -> tuple[Refusal, dict[str, torch.Tensor]]:
    """The same conditions by the names in the function that raised, and the tensors that these stand for there."""
    steps = list(traceback.walk_tb(error.__traceback__ if error is not None else None))
    if error is None or not steps or _owner(steps[-1][0]) in _NOBODYS:
        return Refusal(), {}
    frame, line = steps[-1]
    values = frame.f_locals.items()
    return _refused(error, frame, line), {name: value for name, value in values if isinstance(value, torch.Tensor)}


def _owner(frame: FrameType) -> str:
    """The package that the code of a frame is of."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _handed_on(frames: list[FrameType]) -> dict[str, str]:
    """What the arguments of the innermost of some frames are called in the outermost one that had them as arguments."""
    *outer, inner = frames
    users = [frame for frame in outer if _owner(frame) not in _NOBODYS]
    found: dict[str, str] = {}
    for name, value in _arguments(inner) if users else ():
        origin = (other for other, given in _arguments(users[0]) if given is value)
        if isinstance(value, torch.Tensor) and (called := next(origin, None)) is not None:
            found[name] = called
    return found


def _arguments(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The arguments of a function by name, as far as its names still stand for something."""
    code = frame.f_code
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        if name in frame.f_locals:
            yield name, frame.f_locals[name]


def _refused(error: BaseException, frame: FrameType, line: int) -> Refusal:
    """What a statement of a line asks for that raised `error`, by the names in its own function."""
    if isinstance(error, TypeError | AttributeError):
        return Refusal(_unset(frame, line))
    if isinstance(error, RuntimeError) and (flags := _asked_for_truth(frame, line)):
        return Refusal(flags=flags)
    conditions = _conditions(frame.f_code, line)
    if not conditions:
        return Refusal()
    reader = _Reader(frame)
    for test, holds in conditions:
        names = _names(test, frame.f_code)
        reader.found.missing += [name for name in names if frame.f_locals.get(name, test) is None]
        if any(isinstance(node, ast.Attribute) and node.attr in _EXTREMES for node in ast.walk(test)):
            reader.found.bounded += [name for name in names if isinstance(frame.f_locals.get(name), torch.Tensor)]
        for sides in _unequal(test, holds):
            for left, right in reader.elements(*sides):
                reader.take(left, right)
                reader.take(right, left)
    return reader.found


@lru_cache(maxsize=64)
def syntax_of(code: CodeType) -> ast.Module | None:
    """The syntax of a function, whose first line is line 1; None where there is no text of it."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None


def _unset(frame: FrameType, line: int) -> list[str]:
    """The names in the statement of a line that stand for None, which Python refuses to do much with."""
    tree = syntax_of(frame.f_code)
    line -= frame.f_code.co_firstlineno - 1
    nodes = ast.walk(tree) if tree is not None else ()
    statements = (node for node in nodes if isinstance(node, ast.stmt))
    found = [node for node in statements if node.lineno <= line <= (node.end_lineno or 0)]  # outer ones first
    names = (node.id for node in ast.walk(found[-1]) if isinstance(node, ast.Name)) if found else ()
    return sorted({name for name in names if frame.f_locals.get(name, line) is None})


def _asked_for_truth(frame: FrameType, line: int) -> list[str]:
    """The names of tensors in the condition of a line that are asked whether they are true, and nothing else."""
    tree = syntax_of(frame.f_code)
    line -= frame.f_code.co_firstlineno - 1
    nodes = ast.walk(tree) if tree is not None else ()
    tests = (node.test for node in nodes if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert))
    names = (name for test in tests if test.lineno <= line <= (test.end_lineno or line) for name in _truths(test))
    return sorted({name for name in names if isinstance(frame.f_locals.get(name), torch.Tensor)})


def _truths(test: ast.expr) -> Iterator[str]:
    """The names whose truth a condition asks for."""
    if isinstance(test, ast.Name):
        yield test.id
    elif isinstance(test, ast.UnaryOp):
        yield from _truths(test.operand)
    elif isinstance(test, ast.BoolOp):
        for item in test.values:
            yield from _truths(item)


def _names(test: ast.expr, code: CodeType) -> list[str]:
    """The names in a test, and those in what its own names were set to."""
    tree = syntax_of(code)
    read = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in read:
            read |= {item.id for item in ast.walk(node.value) if isinstance(item, ast.Name)}
    return sorted(read)


def _conditions(code: CodeType, line: int) -> list[tuple[ast.expr, bool]]:
    """The tests that led to the statement of a line, innermost last, and whether each held."""
    tree = syntax_of(code)
    line -= code.co_firstlineno - 1
    raising = next((node for node in _raising(tree) if node.lineno <= line <= (node.end_lineno or line)), None)
    if tree is None or raising is None:
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            found += [(node.test, True)] if _within(raising, node.body) else []
            found += [(node.test, False)] if _within(raising, node.orelse) else []
    if isinstance(raising, ast.Assert):
        found.append((raising.test, False))
    return found


def _raising(tree: ast.Module | None) -> Iterator[ast.Raise | ast.Assert]:
    return (node for node in (ast.walk(tree) if tree is not None else ()) if isinstance(node, ast.Raise | ast.Assert))


def _within(node: ast.stmt, body: list[ast.stmt]) -> bool:
    return any(statement.lineno <= node.lineno <= (statement.end_lineno or 0) for statement in body)


def _unequal(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The pairs of expressions that are to be equal for a test to come out otherwise."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _unequal(test.operand, not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if holds else ast.And):
        for item in test.values:
            yield from _unequal(item, holds)
    elif isinstance(test, ast.Compare) and all(
        isinstance(operator, _HELD_APART if holds else _HELD_EQUAL) for operator in test.ops
    ):
        yield from itertools.combinations([test.left, *test.comparators], 2)
    elif isinstance(test, ast.BinOp) and holds:
        yield test, ast.Constant(0)


def _sizes_in(node: ast.expr, count: int) -> list[ast.expr]:
    """The first `count` sizes in `x.shape` or in `x.shape[2:]`, each as an expression; none where it is neither."""
    first: int | None = 0
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        whole = node.slice.upper is None and node.slice.step is None
        first = (integer(node.slice.lower) if node.slice.lower is not None else 0) if whole else None
        node = node.value
    if first is None or shape_of(node) is None:
        return []
    return [ast.Subscript(node, ast.Constant(first + index), ast.Load()) for index in range(count)]


class _Reader:
    """Reads the conditions of one function, whose names have the values of a frame."""

    def __init__(self, frame: FrameType) -> None:
        self.frame, self.found = frame, Refusal()
        self._named: dict[str, Size] = {}
        self._shapes: dict[str, ast.expr] = {}
        tree = syntax_of(frame.f_code)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Assign):
                self._names_sizes(node.targets[0], node.value)

    def _names_sizes(self, target: ast.expr, value: ast.expr) -> None:
        """`b, c, n = x.shape`, `h, w = x.shape[2:]`, `n = x.size(2)` and `size = x.size()` give sizes names."""
        if isinstance(target, ast.Tuple):
            for item, source in zip(target.elts, _sizes_in(value, len(target.elts)), strict=False):
                self._names_sizes(item, source)
        elif isinstance(target, ast.Name) and (whole := shape_of(value)) is not None:
            self._shapes[target.id] = whole
        elif isinstance(target, ast.Name):
            name, index = self._measure(value)
            if name and index is not None:
                self._named[target.id] = name, index

    def elements(self, left: ast.expr, right: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
        """The elements of two sides in pairs, `(h, w) != (299, 299)`; the sides where they have none."""
        nodes = [node for node in map(shape_of, (left, right)) if node is not None]
        shaped = [(len(shape), node) for node in nodes if (shape := self._shape(name_of(node))) is not None]
        ranks = sorted(rank for rank, _ in shaped)
        if len(set(ranks)) > 1:
            lower, higher = (node for _, node in sorted(shaped, key=lambda item: item[0]))
            self.found.alike.append((name_of(lower), name_of(higher)))
            # What has more dimensions was shown to have them, perhaps.
            self.take(ast.Attribute(lower, "ndim", ast.Load()), ast.Constant(ranks[-1]))
            return
        both = [self._elements(side) for side in (left, right)]
        count = max([*ranks, *map(len, both)])
        one, other = (known or _sizes_in(side, count) for known, side in zip(both, (left, right), strict=True))
        yield from zip(one, other, strict=False) if one and other else [(left, right)]

    def _elements(self, side: ast.expr) -> list[ast.expr]:
        """The elements of a tuple that is written down, or that the value of an expression is."""
        if isinstance(side, ast.Tuple | ast.List):
            return list(side.elts)
        value = self._value(side)
        return list(map(ast.Constant, value)) if type(value) in (tuple, list) else []

    def take(self, measured: ast.expr, wanted: ast.expr) -> None:
        """Takes down `x.ndim`, `x.shape[1]` or `x.shape[1] % 8` with the number that it is compared with."""
        number = self._number(wanted)
        if isinstance(measured, ast.BinOp) and isinstance(measured.op, ast.Mod) and number == 0:
            name, index = self._measure(measured.left)
            factor = self._number(measured.right)
            if name and index is not None and factor:
                self.found.multiples[name, index] = factor
        elif number is not None:
            name, index = self._measure(measured)
            if name and index is None:
                self.found.ranks[name] = number
                if (had := self._shape(name)) is not None:
                    self.found.had_ranks[name] = len(had)
            elif name and index is not None:
                self.found.sizes[name, index] = number
                shape = self._shape(name)
                if shape is not None and -len(shape) <= index < len(shape):
                    self.found.had[name, index] = int(shape[index])

    def _number(self, node: ast.expr) -> int | None:
        """A whole number: written down, of a name, the rank or a size of a tensor, or what is reckoned of such."""
        if isinstance(node, ast.BinOp):
            left, right = self._number(node.left), self._number(node.right)
            reckoned = _RECKONED.get(type(node.op))
            return reckoned(left, right) if reckoned is not None and left is not None and right else None
        value = integer(node) if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else self._value(node)
        if type(value) is int:
            return value
        name, index = self._measure(node)
        shape = self._shape(name)
        if shape is None or (index is not None and not -len(shape) <= index < len(shape)):
            return None
        return len(shape) if index is None else int(shape[index])

    def _shape(self, name: str) -> torch.Size | None:
        """The shape of what has a name, if that is a tensor."""
        value = self.frame.f_locals.get(name)
        return value.shape if isinstance(value, torch.Tensor) else None

    def _shaped(self, node: ast.expr) -> ast.expr | None:
        """The tensor whose shape an expression is, by itself or by the name that it was given."""
        return shape_of(node) or (self._shapes.get(node.id) if isinstance(node, ast.Name) else None)

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Attribute):
            return foreign.attribute(self._value(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            owner, index = self._value(node.value), integer(node.slice)
            inside = type(owner) in (tuple, list) and index is not None and -len(owner) <= index < len(owner)
            return owner[index] if inside else None
        return self.frame.f_locals.get(node.id) if isinstance(node, ast.Name) else None

    def _measure(self, node: ast.expr) -> tuple[str, int | None]:
        """The name of which an expression gives the rank, or with an index one size; an empty one for all else."""
        if isinstance(node, ast.Name):
            return self._named.get(node.id, ("", None))
        if isinstance(node, ast.Subscript):
            shaped, index = self._shaped(node.value), integer(node.slice)
            return (name_of(shaped), index) if shaped is not None and index is not None else ("", None)
        if isinstance(node, ast.Attribute):
            return (name_of(node.value) if node.attr == "ndim" else ""), None
        if not isinstance(node, ast.Call):
            return "", None
        if name_of(node.func) == "len" and node.args:
            shaped = self._shaped(node.args[0])
            return (name_of(shaped) if shaped is not None else ""), None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "size" and node.args:
            index = integer(node.args[0])
            return (name_of(node.func.value), index) if index is not None else ("", None)
        is_rank = isinstance(node.func, ast.Attribute) and node.func.attr in ("dim", "ndimension")
        return (name_of(node.func.value) if is_rank and isinstance(node.func, ast.Attribute) else ""), None
