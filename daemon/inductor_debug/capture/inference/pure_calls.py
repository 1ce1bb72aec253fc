"""Operations on plain values, and the few functions of libraries that are called on them: none has an effect.

Everything stays small: what would make more than a few thousand items has no value here.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from inductor_debug.capture.inference.guards import TooLongError, at_most
from inductor_debug.capture.inference.made import Made, UnknownError, fresh, is_known

_LARGEST = 1 << 24
_LONGEST = 10_000
_SECONDS_TO_LOOK = 0.5
OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_BUILTINS = tuple(
    getattr(builtins, name)
    for name in (
        *("int", "float", "str", "bool", "len", "min", "max", "sum", "abs", "round", "range", "list", "tuple"),
        *("dict", "set", "sorted", "reversed", "zip", "enumerate", "divmod", "any", "all", "isinstance", "hasattr"),
    )
)
_OF_TORCH = (torch.device, torch.tensor, torch.zeros, torch.ones, torch.randn, torch.rand, torch.arange, torch.eye)
_OF_NUMPY = frozenset(
    (
        *("array", "asarray", "prod", "cumsum", "sum", "max", "min", "zeros", "ones", "full", "arange", "linspace"),
        *("log2", "log", "sqrt", "ceil", "floor", "int64", "float32", "int32", "concatenate", "exp"),
    )
)
METHODS: dict[type, tuple[str, ...]] = {
    str: ("lower", "upper", "strip", "split", "replace", "format", "startswith", "endswith", "join"),
    list: ("append", "extend", "insert", "index", "copy", "count", "pop", "reverse", "sort"),
    tuple: ("index", "count"),
    dict: ("get", "items", "keys", "values", "copy", "pop", "update", "setdefault"),
}
OF_ARRAYS = ("size", "shape", "ndim", "tolist", "sum", "max", "min", "astype", "item", "prod")


def combined(kind: ast.operator, left: Any, right: Any) -> Any:
    """The result of an operation on plain values, if that stays small.

    Raises:
        UnknownError: it is none of those, or would not.
    """
    if type(kind) not in OPERATORS or left is UnknownError or right is UnknownError:
        raise UnknownError
    numbers = all(isinstance(item, int | float) for item in (left, right))
    if numbers:
        if isinstance(kind, ast.Pow | ast.LShift) and (abs(right) > 64 or abs(left) > _LARGEST):
            raise UnknownError
    elif isinstance(kind, ast.Mult):
        count, whole = (left, right) if isinstance(left, int) else (right, left)
        small = isinstance(count, int) and isinstance(whole, list | tuple | str) and count * len(whole) <= _LONGEST
        if not small and not is_array(left) and not is_array(right):
            raise UnknownError
    elif isinstance(kind, ast.Mod) or not (
        isinstance(left, list | tuple | str | dict | set) or is_array(left) or is_array(right)
    ):
        raise UnknownError
    return OPERATORS[type(kind)](left, right)


def listed(value: Any) -> list[Any]:
    """The items of something that is plainly a collection, and a small one."""
    if isinstance(value, range | list | tuple | set | dict) and len(value) > _LONGEST:
        raise UnknownError
    if isinstance(value, range | list | tuple | set | dict | zip | enumerate | reversed | type({}.items())):
        return list(value)
    if isinstance(value, type({}.keys()) | type({}.values())) or is_array(value):
        return list(value)
    raise UnknownError


def seen(value: Any) -> Any:
    """A value that may be compared and tested without running anybody's code."""
    if isinstance(value, Made | torch.Tensor) or not is_known(value):
        raise UnknownError
    return value


def result_of(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a function without effects gives, on small values that are known."""
    given = [*args, *kwargs.values()]
    if not all(map(is_known, given)):
        raise UnknownError
    may_be_made = function in (list, tuple, dict, len, zip, enumerate, reversed, isinstance, hasattr)
    if not may_be_made and any(isinstance(item, Made) for item in given):
        raise UnknownError
    numbers = [item for item in given if isinstance(item, int)]
    if any(abs(number) > _LARGEST for number in numbers) or math.prod(max(number, 1) for number in numbers) > 1 << 40:
        raise UnknownError
    if function in (list, tuple, set, sorted, sum, min, max) and len(args) == 1:
        args = [listed(args[0])] if not isinstance(args[0], str) else args
    if function in (isinstance, hasattr, len) and isinstance(args[0], Made):
        kind = args[0].kind
        if function is isinstance and isinstance(kind, type):
            return issubclass(kind, args[1])
        return guarded(lambda: function(fresh(args[0]), *args[1:]))
    return function(*args, **kwargs)


def guarded(look: Callable[[], Any]) -> Any:
    """Runs a constructor or a property of the user's, not for long."""
    try:
        with at_most(_SECONDS_TO_LOOK):
            return look()
    except (Exception, SystemExit, TooLongError):
        raise UnknownError from None


def is_array(value: Any) -> bool:
    """Whether a value is numpy's."""
    return type(value).__module__ == "numpy" and hasattr(value, "tolist")


def is_namespace(function: Any) -> bool:
    """Whether a call gives an object with the attributes that it names."""
    if function is SimpleNamespace:
        return True
    return getattr(function, "__name__", "") == "Namespace" and getattr(function, "__module__", "") == "argparse"


def is_pure(function: Any) -> bool:
    """Whether a function of a library may be called on plain values."""
    if any(function is item for item in (*_BUILTINS, *_OF_TORCH)):
        return True
    owner, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    return owner == "math" or (isinstance(owner, str) and owner.partition(".")[0] == "numpy" and name in _OF_NUMPY)
