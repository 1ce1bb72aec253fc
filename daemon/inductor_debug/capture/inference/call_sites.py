"""How the project itself builds a class: its calls, read as syntax and evaluated only where they are plain.

Literals, arithmetic on them, constants of the module and of the function around the call, what that function is itself
given, defaults of `argparse` options, and names of classes and functions are evaluated; nothing is ever called. A
module as an argument is `BuiltModule`, which says how to make it.
"""

from __future__ import annotations

import ast
import copy
import itertools
import operator
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from torch import nn


@dataclass(frozen=True)
class BuiltModule:
    """A module that a call makes of plain arguments: how the project itself writes it down."""

    kind: type[nn.Module]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_PLAIN = (int, float, str, bool, type(None), tuple, list, dict, BuiltModule)
_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_TRANSPARENT = frozenset(("array", "asarray", "list", "tuple"))
_SAME = {"int": int, "float": float, "len": len, "min": min, "max": max, "sum": sum}
_MOST_CALLERS = 2
_FURTHEST = 3
_SECONDS = 0.15
_MOST_FILES = 400
_LARGEST = 400_000
_FOREIGN = frozenset(("site-packages", "node_modules", "__pycache__", "venv", "env", "build", "dist"))


class UnknownError(Exception):
    """An expression that is not plain."""


def calls_in(
    tree: ast.Module, name: str, namespace: Mapping[str, Any], depth: int = 0
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Positional and keyword arguments of the calls of `name`; what cannot be evaluated is `UnknownError`.

    Calls inside the class itself are left out, as is what comes in `*args` and `**kwargs`.
    """
    options = _options(tree)
    for owner, node in _calls(tree, name):
        if any(isinstance(item, ast.Starred) for item in node.args):
            continue
        for given in _given(owner, tree, namespace, depth):
            scope = {name: value for name, value in {**_locals(owner), **options}.items() if name not in given}
            names = {**namespace, **given}
            args = [_or_unknown(item, names, scope) for item in node.args]
            yield args, {item.arg: _or_unknown(item.value, names, scope) for item in node.keywords if item.arg}


def _given(owner: ast.AST, tree: ast.Module, namespace: Mapping[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    """What the function around a call is given by those who call it, one after the other; at least nothing."""
    found = False
    if isinstance(owner, ast.FunctionDef) and depth < _FURTHEST and owner.args.args:
        names = [item.arg for item in owner.args.args]
        for args, kwargs in itertools.islice(calls_in(tree, owner.name, namespace, depth + 1), _MOST_CALLERS):
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            known = {name: value for name, value in given.items() if name in names and value is not UnknownError}
            found = found or bool(known)
            if known:
                yield known
    if not found:
        yield {}


def calls_in_project(root: str, path: str, name: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """The same for the other files of the project; bounded in files and time."""
    deadline = time.perf_counter() + _SECONDS
    marker = f"{name}("
    for number, file in enumerate(_files(root)):
        if number >= _MOST_FILES or time.perf_counter() > deadline:
            return
        try:
            if file == path or os.path.getsize(file) > _LARGEST:
                continue
            with open(file, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
            if marker in text:
                yield from calls_in(ast.parse(text), name, _constants(text))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue


def _files(root: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(item for item in folders if not item.startswith(".") and item not in _FOREIGN)
        for file in sorted(files):
            if file.endswith(".py"):
                yield os.path.join(folder, file)


def _constants(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = _or_unknown(node.value, found, {})
            if value is not UnknownError:
                found[node.targets[0].id] = value
    return found


def _calls(tree: ast.Module, name: str) -> Iterator[tuple[ast.AST, ast.Call]]:
    pending: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while pending:
        owner, node = pending.pop(0)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            owner = node
        if isinstance(node, ast.Call):
            called = node.func
            last = (
                called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
            )
            if last == name:
                yield owner, node
        pending += [(owner, child) for child in ast.iter_child_nodes(node)]


def _locals(owner: ast.AST) -> dict[str, ast.expr]:
    """What plain names of a function are assigned once, and the defaults of its parameters."""
    found: dict[str, ast.expr] = {}
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = [*owner.args.posonlyargs, *owner.args.args]
        for item, default in zip(reversed(arguments), reversed(owner.args.defaults), strict=False):
            found[item.arg] = default
        for item, value in zip(owner.args.kwonlyargs, owner.args.kw_defaults, strict=True):
            if value is not None:
                found[item.arg] = value
    for node in ast.walk(owner) if not isinstance(owner, ast.Module) else _module_assignments(owner):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found


def _module_assignments(tree: ast.Module) -> Iterator[ast.AST]:
    """Assignments of a module, those under `if __name__ == "__main__"` too, which never run here."""
    for node in tree.body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from (item for item in ast.walk(node) if isinstance(item, ast.Assign))


def options_of(tree: ast.Module, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the command line's options that are plain, by name."""
    found = {name.lstrip("."): _or_unknown(node, namespace, {}) for name, node in _options(tree).items()}
    return {name: value for name, value in found.items() if value is not UnknownError}


def _options(tree: ast.Module) -> dict[str, ast.expr]:
    """`args.hidden` of `parser.add_argument("--hidden", default=64)`, by the dotted end `.hidden`."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            flags = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            default = next((item.value for item in node.keywords if item.arg == "default"), None)
            if flags and default is not None:
                found["." + flags[-1].lstrip("-").replace("-", "_")] = default
    return found


def _or_unknown(node: ast.expr, namespace: Mapping[str, Any], scope: Mapping[str, ast.expr]) -> Any:
    try:
        return plain_value(node, namespace, scope)
    except (
        UnknownError,
        TypeError,
        ValueError,
        ZeroDivisionError,
        KeyError,
        IndexError,
        OverflowError,
        RecursionError,
    ):
        return UnknownError


def plain_value(node: ast.expr, namespace: Mapping[str, Any], scope: Mapping[str, ast.expr], depth: int = 0) -> Any:
    """The value of a plain expression.

    Raises:
        UnknownError: it is not plain.
    """
    if depth > 12:
        raise UnknownError

    def value(item: ast.expr) -> Any:
        return plain_value(item, namespace, scope, depth + 1)

    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List):
        items = [value(item) for item in node.elts]
        return tuple(items) if isinstance(node, ast.Tuple) else items
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {value(key): value(item) for key, item in zip(node.keys, node.values, strict=True) if key is not None}
    if isinstance(node, ast.Call):
        return _called(node, value)
    if isinstance(node, ast.Subscript):
        return _checked(value(node.value)[value(node.slice)])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = value(node.left), value(node.right)
        if isinstance(left, int | float) and isinstance(right, int | float):
            return _OPERATORS[type(node.op)](left, right)
        if isinstance(left, list | tuple) and isinstance(right, int) and isinstance(node.op, ast.Mult) and right < 1000:
            return left * right
        raise UnknownError
    if isinstance(node, ast.Name):
        if node.id in scope:
            return value(scope[node.id])
        return _found(namespace, node.id)
    if isinstance(node, ast.Attribute):
        if f".{node.attr}" in scope:
            return value(scope[f".{node.attr}"])
        owner = plain_value(node.value, namespace, {}, depth + 1)
        if isinstance(owner, ModuleType | type):
            return _checked(vars(owner).get(node.attr, UnknownError))
    raise UnknownError


def _called(node: ast.Call, value: Callable[[ast.expr], Any]) -> Any:
    """What a call gives, as far as that is known without calling: lists as arrays, lengths, modules to be built."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if any(isinstance(item, ast.Starred) for item in node.args) or any(item.arg is None for item in node.keywords):
        raise UnknownError
    if len(node.args) == 1 and not node.keywords and name in (*_TRANSPARENT, *_SAME):
        given = value(node.args[0])
        if name in _TRANSPARENT and isinstance(given, list | tuple):
            return given
        if name in _SAME and isinstance(given, int | float | str | list | tuple):
            return _SAME[name](given)  # type: ignore[operator]
    kind = value(node.func)
    if kind is copy.deepcopy and len(node.args) == 1:
        return value(node.args[0])
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        raise UnknownError
    return BuiltModule(kind, tuple(map(value, node.args)), {str(item.arg): value(item.value) for item in node.keywords})


def _found(namespace: Mapping[str, Any], name: str) -> Any:
    return _checked(namespace.get(name, UnknownError))


def _checked(value: Any) -> Any:
    if value is UnknownError or not (isinstance(value, (*_PLAIN, ModuleType, type)) or callable(value)):
        raise UnknownError
    return value
