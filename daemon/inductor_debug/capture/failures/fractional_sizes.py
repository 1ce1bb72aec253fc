"""Quotients where whole numbers are wanted: `nn.Conv2d(planes, planes / 2, 3)`, `x.view(n, width / heads)`.

`/` gives a float whatever is divided, so that no input and no argument of the constructor mends such code, as Python 2
ran it. Read from the statement that raised and from where the names in it are given their values; nothing is run.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from torch import nn

from inductor_debug.capture.failures.failed_statement import blocks_at, statement_at, users_steps, value_of
from inductor_debug.capture.runtime import foreign

_WANTS_WHOLE = re.compile(
    r"\bfloat\b.*\b(?:integer|int|ints|SymInt)\b|\b(?:int|ints|integers?)\b.*\b(?:float|__index__)\b|non-int"
)
"""How Python 3.10 to 3.14 and torch 2.11 to 2.14 refuse a float."""
_DEEPEST = 6
_NUMBERS = (int, float)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

Division = ast.BinOp | ast.AugAssign


@dataclass(frozen=True, slots=True)
class RefusedDivision:
    """A division, in the file `path`, whose result `taken_by` (as the code says it, or "") is given as a size."""

    division: Division
    path: str
    taken_by: str


@dataclass(frozen=True, slots=True)
class _Given:
    """An expression that a call is given; `taken_by` is what is called."""

    node: ast.expr
    taken_by: str
    position: int = -1
    name: str = ""


def refused_division(error: BaseException) -> RefusedDivision | None:
    """The division behind a number that was refused because it is not whole; None of any other exception."""
    if not isinstance(error, TypeError) or not _WANTS_WHOLE.search(str(error)):
        return None
    frames = [(step.tb_frame, step.tb_lineno) for step in reversed(users_steps(error))]
    handed_on: frozenset[str] | None = None
    for index, (frame, line) in enumerate(frames):
        statement = statement_at(frame, line)
        given = list(_given_in(statement, frame)) if statement is not None else []
        if handed_on is not None:
            called = frames[index - 1][0]
            given = [item for item in given if _is_bound_to(item, handed_on, called)]
        for item in given:
            division = _Divisions(frame, line).behind(item.node)
            if division is not None:
                return RefusedDivision(division, frame.f_code.co_filename, item.taken_by)
        handed_on = _parameters_among(given, frame)
        if not handed_on:
            return None
    return None


def _given_in(statement: ast.AST, frame: FrameType) -> Iterator[_Given]:
    """What calls, subscripts and repeated lists of a statement are given."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            yield from _given_to(node, frame)
        elif isinstance(node, ast.Subscript):
            bounds = [part for part in ast.walk(node.slice) if isinstance(part, ast.Slice)]
            parts = [item for part in bounds for item in (part.lower, part.upper, part.step) if item is not None]
            yield from (_Given(item, "") for item in parts or [node.slice])
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, ast.List | ast.Tuple):
                    yield _Given(other, "")


def _given_to(call: ast.Call, frame: FrameType) -> Iterator[_Given]:
    known, called = value_of(call.func, frame)
    taken_by = ast.unparse(call.func)
    if known and isinstance(called, nn.Module) and type(called).__module__.startswith("torch.nn."):
        yield _Given(call.func, taken_by)  # a layer that was made with it
    for position, item in enumerate(call.args):
        if not _takes_floats(called, position, ""):
            yield _Given(item, taken_by, position)
    for keyword in call.keywords:
        if keyword.arg and not _takes_floats(called, -1, keyword.arg):
            yield _Given(keyword.value, taken_by, name=keyword.arg)


def _takes_floats(called: Any, position: int, name: str) -> bool:
    """Whether a layer of torch's says that it takes floats there."""
    if not (isinstance(called, type) and foreign.module_name(called).startswith("torch.nn.")):
        return False
    parameters = list(inspect.signature(called).parameters.values())
    found = [item for index, item in enumerate(parameters) if index == position or item.name == name]
    return bool(found) and "float" in str(found[0].annotation)


def _parameters_among(given: list[_Given], frame: FrameType) -> frozenset[str]:
    """The arguments of the frame's own function that are handed on, and are floats."""
    code = frame.f_code
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = {node.id for item in given for node in ast.walk(item.node) if isinstance(node, ast.Name)}
    return frozenset(name for name in own if name in names and _has_float(frame.f_locals.get(name)))


def _has_float(value: Any) -> bool:
    return type(value) is float or (type(value) in (list, tuple) and any(type(item) is float for item in value))


def _is_bound_to(item: _Given, asked: frozenset[str], frame: FrameType) -> bool:
    """Whether something that a call gives is one of the asked arguments of the function that was called."""
    own = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    shift = 1 if own[:1] in (("self",), ("cls",)) else 0
    index = item.position + shift
    return item.name in asked or (item.position >= 0 and index < len(own) and own[index] in asked)


def _first(found: Iterable[Division | None]) -> Division | None:
    return next((item for item in found if item is not None), None)


class _Divisions:
    """Looks for the division that made a value, at a line of a frame."""

    def __init__(self, frame: FrameType, line: int) -> None:
        self._frame = frame
        blocks = blocks_at(frame, line)
        self._function = next((block for block in reversed(blocks) if isinstance(block, _FUNCTIONS)), None)
        self._class = next((block for block in reversed(blocks) if isinstance(block, ast.ClassDef)), None)

    def behind(self, node: ast.expr, depth: int = 0) -> Division | None:
        """The division whose result an expression is, or is computed from by arithmetic; None where there is none."""
        if depth > _DEEPEST:
            return None
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Div):
                return node if self._divides_numbers(node) else None
            return self.behind(node.left, depth + 1) or self.behind(node.right, depth + 1)
        if isinstance(node, ast.UnaryOp):
            return self.behind(node.operand, depth + 1)
        if isinstance(node, ast.Tuple | ast.List):
            return _first(self.behind(item, depth + 1) for item in node.elts)
        known, value = value_of(node, self._frame)
        if known and isinstance(value, nn.Module):
            made = [item for item in self._values_of(node) if isinstance(item, ast.expr)]
            return _first(self._within(item, depth + 1) for item in made)
        if known and _has_float(value):
            values = self._values_of(node)
            divided = next((item for item in values if isinstance(item, ast.AugAssign)), None)
            if divided is not None:
                return divided
            found = [self.behind(item, depth + 1) for item in values if isinstance(item, ast.expr)]
            return found[-1] if found and all(found) else None
        return None

    def _within(self, node: ast.expr, depth: int) -> Division | None:
        """The division among what the layers of an expression are made with."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                for item in _given_to(call, self._frame):
                    if item.node is not call.func and (found := self.behind(item.node, depth)) is not None:
                        return found
        return None

    def _values_of(self, node: ast.expr) -> list[ast.expr | ast.AugAssign]:
        """What a name is given in its function, or an attribute of `self` in its class; statements like `n /= 2`."""
        scope: ast.AST | None = self._class if isinstance(node, ast.Attribute) else self._function
        wanted = ast.unparse(node)
        found: list[ast.expr | ast.AugAssign] = []
        for statement in ast.walk(scope) if scope is not None else ():
            targets: list[ast.expr]
            value: ast.expr | ast.AugAssign
            if isinstance(statement, ast.Assign):
                targets, value = statement.targets, statement.value
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                targets, value = [statement.target], statement.value
            elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Div):
                targets, value = [statement.target], statement
            else:
                continue
            found += [value] if wanted in map(ast.unparse, targets) else []
        return found

    def _divides_numbers(self, node: ast.BinOp) -> bool:
        """Whether nothing says that other things than numbers are divided."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name | ast.Attribute):
                known, value = value_of(part, self._frame)
                inner = isinstance(value, nn.Module) or callable(value) or not known
                if not inner and type(value) not in _NUMBERS and part in (node.left, node.right):
                    return False
        return True
