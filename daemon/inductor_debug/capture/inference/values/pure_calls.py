"""Operations on plain values, and the few functions of libraries that are called on them: none has an effect.

Everything stays small: what would make more than a few thousand items has no value here. What may run code of the
user's (a comparison, a length) is given little time; what it raises are `UnknownError`s.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any

import torch

from inductor_debug.capture.inference.values.guarded_execution import TooLongError, at_most
from inductor_debug.capture.inference.values.symbolic_values import SymbolicValue, UnknownError, fresh, is_known

_LARGEST = 1 << 24
_HUGEST = 1 << 2048
"""Whole numbers beyond this one take time to compute with."""
_LONGEST = 10_000
_WIDE = re.compile(r"%[^a-zA-Z]*(?:\d{4}|\*)")
"""What writes a text longer than anybody reads."""
_MOST_ELEMENTS = {"numpy": 1 << 24, "torch": 1 << 28}
"""Of tensors that are made: numpy's have memory of their own."""
_SECONDS_TO_LOOK = 0.2
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
_SCALARS = (int, float, str, bool, type(None))
_ITERATORS: tuple[type, ...] = (range, zip, enumerate, reversed, type({}.items()), type({}.keys()), type({}.values()))
_LAZY = (len, range, zip, enumerate, reversed, isinstance, hasattr)
_SPELLING = (int, float, str, round)
"""What these make of collections says how Python writes them."""
_EXPLOSIVE = frozenset(("factorial", "comb", "perm"))
_OF_TORCH = (
    *(torch.device, torch.tensor, torch.zeros, torch.ones, torch.empty, torch.randn, torch.rand, torch.randint),
    *(torch.arange, torch.eye),
)
_OF_NUMPY = frozenset(
    (
        *("array", "asarray", "prod", "cumsum", "sum", "max", "min", "zeros", "ones", "full", "arange", "linspace"),
        *("log2", "log", "sqrt", "ceil", "floor", "int64", "float32", "int32", "concatenate", "exp"),
    )
)
_OF_TEXT = frozenset(("sub", "split", "findall"))
METHODS: dict[type, tuple[str, ...]] = {
    str: ("lower", "upper", "strip", "split", "replace", "format", "startswith", "endswith", "join"),
    list: ("append", "extend", "insert", "index", "copy", "count", "pop", "reverse", "sort"),
    tuple: ("index", "count"),
    dict: ("get", "items", "keys", "values", "copy", "pop", "update", "setdefault"),
}
CHANGING = frozenset(
    ("append", "extend", "insert", "pop", "reverse", "sort", "update", "setdefault", "clear", "remove")
)
"""Methods that change what they are called on."""
OF_ARRAYS = ("size", "shape", "ndim", "tolist", "sum", "max", "min", "astype", "item", "prod")


def combined(kind: ast.operator, left: Any, right: Any) -> Any:
    """The result of an operation on plain values, if that stays small.

    Raises:
        UnknownError: it is none of those, or would not.
    """
    if type(kind) not in OPERATORS or left is UnknownError or right is UnknownError or not _is_small(kind, left, right):
        raise UnknownError
    return calculated(OPERATORS[type(kind)], left, right)


def _is_small(kind: ast.operator, left: Any, right: Any) -> bool:
    """Whether an operation is one on plain values, and its result small."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        if isinstance(kind, ast.Pow | ast.LShift):
            return abs(right) <= 64 and abs(left) <= _LARGEST
        return abs(left) <= _HUGEST and abs(right) <= _HUGEST
    if is_array(left) or is_array(right):
        return not isinstance(kind, ast.Mod) and math.prod(map(_elements, (left, right))) <= _MOST_ELEMENTS["numpy"]
    if isinstance(kind, ast.Mult):
        count, whole = (left, right) if isinstance(left, int) else (right, left)
        return isinstance(count, int) and isinstance(whole, list | tuple | str) and count * len(whole) <= _LONGEST
    if isinstance(kind, ast.Div):
        return isinstance(left, PurePath)
    if isinstance(kind, ast.Mod) and isinstance(left, str):
        items = right if isinstance(right, tuple) else right.values() if type(right) is dict else (right,)
        return _WIDE.search(left) is None and all(type(item) in _SCALARS for item in items)
    if isinstance(kind, ast.Mod) or not isinstance(left, list | tuple | str | dict | set):
        return False
    return len(left) + (len(right) if isinstance(right, list | tuple | str | dict | set) else 0) <= _LONGEST


def _elements(value: Any) -> int:
    return int(value.size) if is_array(value) else 1 if isinstance(value, int | float) else len(value)


def calculated(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function gives; not for long where that may run code of the user's."""
    if not kwargs and all(type(item) in _SCALARS for item in args):
        return function(*args)
    return guarded(lambda: function(*args, **kwargs))


def listed(value: Any) -> list[Any]:
    """The items of something that is plainly a collection, and a small one."""
    if not isinstance(value, (list, tuple, set, dict, str, *_ITERATORS)) and not is_array(value):
        raise UnknownError
    found: list[Any] = guarded(lambda: list(itertools.islice(iter(value), _LONGEST + 1)))
    if len(found) > _LONGEST:
        raise UnknownError
    return found


def seen(value: Any) -> Any:
    """A value that may be compared and tested without running anybody's code."""
    if isinstance(value, SymbolicValue | torch.Tensor) or not is_known(value):
        raise UnknownError
    return value


def truth(value: Any) -> bool:
    """Whether a value counts as true."""
    return bool(calculated(bool, seen(value)))


def result_of(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a function without effects gives, on small values that are known."""
    given = [*args, *kwargs.values()]
    if not all(map(is_known, given)):
        raise UnknownError
    may_be_made = function in (list, tuple, dict, len, zip, enumerate, reversed, isinstance, hasattr)
    if not may_be_made and any(isinstance(item, SymbolicValue) for item in given):
        raise UnknownError
    library = _library(function)
    numbers = list(_numbers_in(given if library else [item for item in given if isinstance(item, int)]))
    if any(abs(number) > _LARGEST for number in numbers):
        raise UnknownError
    if library and math.prod(max(number, 1) for number in numbers) > _MOST_ELEMENTS[library]:
        raise UnknownError
    if getattr(function, "__name__", "") in _EXPLOSIVE and any(number > 1000 for number in numbers):
        raise UnknownError
    if function in _SPELLING and not all(type(item) in _SCALARS or is_array(item) for item in given):
        raise UnknownError
    if function not in _LAZY:
        args = [listed(item) if isinstance(item, _ITERATORS) else item for item in args]
    if function in (isinstance, hasattr, len) and isinstance(args[0], SymbolicValue):
        kind = args[0].kind
        if function is isinstance and isinstance(kind, type):
            return issubclass(kind, args[1])
        return guarded(lambda: function(fresh(args[0]), *args[1:]))
    return calculated(function, *args, **kwargs)


def _library(function: Any) -> str:
    """The library that a function makes tensors for; empty where it makes none."""
    owner = (getattr(function, "__module__", None) or "").partition(".")[0]
    return "torch" if any(function is item for item in _OF_TORCH[1:]) else "numpy" if owner == "numpy" else ""


def _numbers_in(values: Any) -> Iterator[int]:
    for item in values:
        if isinstance(item, int):
            yield item
        elif type(item) in (list, tuple):
            # Of tables it matters how long they are: the numbers in them are no sizes.
            yield from item if all(type(inner) is int for inner in item) and len(item) <= 8 else [len(item)]


def method_of(owner: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a method of a plain value gives, and does to that value."""
    if type(owner) is str and (not all(map(is_known, args)) or (name == "format" and ":" in owner)):
        raise UnknownError
    length = len(owner) if not is_array(owner) else 0
    if length + sum(len(item) for item in args if isinstance(item, list | tuple | dict | set | str)) > _LONGEST:
        raise UnknownError
    return calculated(getattr(owner, name), *args, **kwargs)


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
    if isinstance(function, type) and issubclass(function, PurePath):
        return True
    owner, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    if owner == "re":
        return name in _OF_TEXT
    return owner == "math" or (isinstance(owner, str) and owner.partition(".")[0] == "numpy" and name in _OF_NUMPY)
