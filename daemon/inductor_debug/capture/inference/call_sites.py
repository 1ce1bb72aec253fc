"""How the project itself builds a class: its calls, read as syntax and evaluated only where they are plain.

Literals, arithmetic on them, constants of the module and of the function around the call, defaults of `argparse`
options, and names of classes and functions are evaluated; nothing is ever called.
"""

from __future__ import annotations

import ast
import operator
import os
import time
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

_PLAIN = (int, float, str, bool, type(None), tuple, list, dict)
_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_SECONDS = 0.15
_MOST_FILES = 400
_LARGEST = 400_000
_FOREIGN = frozenset(("site-packages", "node_modules", "__pycache__", "venv", "env", "build", "dist"))


class UnknownError(Exception):
    """An expression that is not plain."""


def calls_in(tree: ast.Module, name: str, namespace: Mapping[str, Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Positional and keyword arguments of the calls of `name`; what cannot be evaluated is `UnknownError`.

    Calls inside the class itself are left out.
    """
    options = _options(tree)
    for owner, node in _calls(tree, name):
        scope = {**_locals(owner), **options}
        if any(isinstance(item, ast.Starred) for item in node.args) or any(item.arg is None for item in node.keywords):
            continue
        args = [_or_unknown(item, namespace, scope) for item in node.args]
        yield args, {item.arg: _or_unknown(item.value, namespace, scope) for item in node.keywords if item.arg}


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
        if isinstance(node, ast.ClassDef) and node.name == name:
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


def _found(namespace: Mapping[str, Any], name: str) -> Any:
    return _checked(namespace.get(name, UnknownError))


def _checked(value: Any) -> Any:
    if value is UnknownError or not (isinstance(value, (*_PLAIN, ModuleType, type)) or callable(value)):
        raise UnknownError
    return value
