"""Sizes that are formulas of names (`8*seq + 1`), as torch prints them: their value, and what is left where names stay.

Formulas are read, never run as code: what is not known here has no value, and nobody is told a size that is not sure.
Read against the functions of `torch.utils._sympy` in torch 2.11 to 2.13.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from inductor_debug.rules.recording.ops import Size, SymbolicSize
from inductor_debug.rules.recording.symbolic_sizes import linear

Bounds = Mapping[str, tuple[int, "int | None"]]
"""The smallest and largest value of each name that stays; None where there is no largest."""


class NoValueError(Exception):
    """The formula has a part that is not known here, or a name without a value."""


def value_of(formula: str, values: Mapping[str, int]) -> int:
    """The value of a formula, True and False for a condition.

    Raises:
        NoValueError: it has none that is a whole number.
    """
    found = _value(_tree(formula), values)
    if isinstance(found, float) and not found.is_integer():
        raise NoValueError(formula)
    return int(found)


def holds(condition: str, values: Mapping[str, int]) -> bool:
    """Whether a condition is known to be true."""
    try:
        return bool(value_of(condition, values))
    except NoValueError:
        return False


def with_values(size: SymbolicSize, values: Mapping[str, int | str], bounds: Bounds) -> Size:
    """The size where names have values, or other names.

    Args:
        size: what to change.
        values: numbers, or the formulas that stand for a name from now on.
        bounds: of the names that stay.

    Raises:
        NoValueError: it has a part that is not known here.
    """
    tree = _Renamed(values).visit(ast.parse(ast.unparse(_tree(size.expression)), mode="eval").body)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - _FUNCTIONS.keys()
    text = ast.unparse(tree)
    if not names:
        return value_of(text, {})
    if all(isinstance(value, str) for value in values.values()):
        return SymbolicSize(_tidy(text), size.divisor, size.minimum, size.maximum)
    low, high = _span(_tree(text), bounds)
    return SymbolicSize(_tidy(text), _divisor(text), max(low, 0), high)


class _Renamed(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, int | str]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id, node.id)
        return ast.Constant(value) if isinstance(value, int) else ast.parse(value, mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Call(node.func, [self.visit(argument) for argument in node.args], [])


@lru_cache(maxsize=4096)
def _tree(formula: str) -> ast.expr:
    try:
        return ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NoValueError(formula) from error


def _value(node: ast.expr, values: Mapping[str, int]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    try:
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -_value(node.operand, values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert | ast.Not):
            return not _value(node.operand, values)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            left, right = _value(node.left, values), _value(node.comparators[0], values)
            return _COMPARISONS[type(node.ops[0])](left, right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*(_value(argument, values) for argument in node.args))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise NoValueError(ast.unparse(node)) from error
    raise NoValueError(ast.unparse(node))


def _span(node: ast.expr, bounds: Bounds) -> tuple[int, int | None]:
    """The smallest and largest value that a formula can have; 0 and None where nobody knows."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value, node.value
    if isinstance(node, ast.Name):
        return bounds.get(node.id, (0, None))
    if isinstance(node, ast.BinOp):
        (low, high), (least, most) = _span(node.left, bounds), _span(node.right, bounds)
        if isinstance(node.op, ast.Add):
            return low + least, None if high is None or most is None else high + most
        if isinstance(node.op, ast.Sub):
            return (low - most if most is not None else 0), None if high is None else high - least
        if isinstance(node.op, ast.Mult) and low >= 0 and least >= 0:
            return low * least, None if high is None or most is None else high * most
        if isinstance(node.op, ast.FloorDiv) and least > 0:
            return (low // most if most else 0), None if high is None else high // least
    return 0, None


def _tidy(text: str) -> str:
    """A sum of products in its shortest form, anything else as it is."""
    try:
        terms = linear(_tree(text))
    except ValueError:
        return text
    parts = [f"{factor}*{names}" if factor != 1 else names for names, factor in terms.items() if names and factor]
    constant = terms.get("", 0)
    return " + ".join([*parts, *([str(constant)] if constant or not parts else [])]).replace("+ -", "- ")


def _divisor(text: str) -> int:
    try:
        return max(math.gcd(*linear(_tree(text)).values()), 1)
    except ValueError:
        return 1


def _power(base: int, exponent: int) -> int:
    if abs(exponent) > 8:
        raise ValueError("no size has such a power")
    return int(base**exponent) if exponent >= 0 else 0


def _divided(left: float, right: float) -> float:
    """An exact quotient stays a whole number, however large."""
    whole = isinstance(left, int) and isinstance(right, int) and right != 0 and left % right == 0
    return left // right if whole else left / right


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: _divided,
    ast.Pow: _power,
    ast.BitAnd: lambda left, right: bool(left) and bool(right),
    ast.BitOr: lambda left, right: bool(left) or bool(right),
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Eq": operator.eq,
    "Ne": operator.ne,
    "And": lambda *parts: all(parts),
    "Or": lambda *parts: any(parts),
    "Not": operator.not_,
    "Max": max,
    "Min": min,
    "Abs": abs,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "CeilDiv": lambda left, right: -(-left // right),
    "ModularIndexing": lambda base, divisor, modulus: base // divisor % modulus,
    "IntTrueDiv": operator.truediv,
    "FloatTrueDiv": operator.truediv,
    "ToFloat": float,
    "TruncToInt": math.trunc,
    "FloorToInt": math.floor,
    "CeilToInt": math.ceil,
    "Identity": lambda value: value,
}
