"""How the project itself builds a class: its calls, read as syntax and evaluated only where they are plain.

What is plain says `plain_values`: literals, constants, options of the command line, what functions of the file return
by their text. The function around a call is gone through as well, with what it is itself given by those who call it.
"""

from __future__ import annotations

import ast
import itertools
import os
import time
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from inductor_debug.capture.inference.following import Definition, Follower
from inductor_debug.capture.inference.made import UnknownError, is_known
from inductor_debug.capture.inference.plain_values import Names

Call = tuple[list[Any], dict[str, Any]]
"""Positional and keyword arguments; what is not plain is `UnknownError`."""

_MOST_CALLERS = 2
_MOST_TIMES = 3
_FURTHEST = 3
_SECONDS = 0.15
_MOST_FILES = 400
_LARGEST = 400_000
_FOREIGN = frozenset(("site-packages", "node_modules", "__pycache__", "venv", "env", "build", "dist"))


def calls_in(tree: ast.Module, name: str, namespace: Mapping[str, Any], depth: int = 0) -> Iterator[Call]:
    """The calls of `name`, except for those inside the class itself."""
    options = options_of(tree, namespace)
    for node, around in _calls(tree, name):
        functions = [item for item in around if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
        owner = functions[-1] if functions else tree
        for given in _given(owner, around, tree, namespace, depth):
            yield from _harvest(node, owner, given, Follower(namespace, options))


def _harvest(node: ast.Call, owner: Any, given: Names, follower: Follower) -> Iterator[Call]:
    """What one call is given, each time that it is reached in going through the function around it."""
    found: list[Call] = []

    def look(part: ast.AST, names: Names) -> None:
        if len(found) < _MOST_TIMES and any(item is node for item in ast.walk(part)):
            try:
                call = follower.arguments(node, names)
            except (UnknownError, ArithmeticError, LookupError, TypeError, ValueError):
                return
            if call not in found:
                found.append(call)

    follower.look = look
    try:
        names = {**(follower.defaults(owner) if not isinstance(owner, ast.Module) else {}), **given}
        follower.run(owner.body, names)
    except (UnknownError, RecursionError):
        pass
    yield from found


def _given(
    owner: Any, around: list[ast.AST], tree: ast.Module, namespace: Mapping[str, Any], depth: int
) -> Iterator[Names]:
    """What the function around a call is given by those who call it, one after the other; at least nothing."""
    found = False
    if not isinstance(owner, ast.Module) and depth < _FURTHEST and owner.args.args:
        parameters = [item.arg for item in owner.args.args]
        called, itself = owner.name, {}
        if owner.name == "__init__":
            classes = [item for item in around if isinstance(item, ast.ClassDef)]
            called = classes[-1].name if classes else called
            itself = {parameters.pop(0): SimpleNamespace()}
        for args, kwargs in itertools.islice(calls_in(tree, called, namespace, depth + 1), _MOST_CALLERS):
            given = {**dict(zip(parameters, args, strict=False)), **kwargs}
            known = {name: value for name, value in given.items() if name in parameters and is_known(value)}
            if known:
                found = True
                yield {**itself, **known}
    if not found:
        yield {}


def calls_in_project(root: str, path: str, name: str) -> Iterator[Call]:
    """The same for the other files of the project; bounded in files and processor time whatever the load."""
    deadline = time.process_time() + _SECONDS
    marker = f"{name}("
    for number, file in enumerate(_files(root)):
        if number >= _MOST_FILES or time.process_time() > deadline:
            return
        try:
            if file == path or os.path.getsize(file) > _LARGEST:
                continue
            with open(file, encoding="utf-8", errors="replace") as stream:
                text = stream.read()
            if marker in text:
                tree = ast.parse(text)
                yield from calls_in(tree, name, _names_of(tree))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue


def _files(root: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(item for item in folders if not item.startswith(".") and item not in _FOREIGN)
        for file in sorted(files):
            if file.endswith(".py"):
                yield os.path.join(folder, file)


def _names_of(tree: ast.Module) -> Names:
    """The plain constants and the functions of a file that is not executed."""
    found: Names = {}
    follower = Follower(found, {})
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = Definition(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = follower.or_unknown(node.value, {})
            if value is not UnknownError:
                found[node.targets[0].id] = value
    return found


def _calls(tree: ast.Module, name: str) -> Iterator[tuple[ast.Call, list[ast.AST]]]:
    """The calls of a name, each with the definitions around it."""
    pending: list[tuple[list[ast.AST], ast.AST]] = [([], tree)]
    while pending:
        around, node = pending.pop(0)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            around = [*around, node]
        if isinstance(node, ast.Call):
            called = node.func
            last = (
                called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
            )
            if last == name:
                yield node, around
        pending += [(around, child) for child in ast.iter_child_nodes(node)]


def options_of(tree: ast.Module, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the command line's options that are plain, by name: their defaults, flags, first choices."""
    found: dict[str, Any] = {}
    follower = Follower(namespace, {})
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "add_argument":
            flags = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            said = {item.arg: item.value for item in node.keywords}
            named = said.get("dest")
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                flags = [named.value]
            value = _option(follower, said)
            long = [flag for flag in flags if flag.startswith("--")] or flags[-1:]
            if long and value is not UnknownError:
                found[long[0].lstrip("-").replace("-", "_")] = value
        elif node.func.attr == "set_defaults":
            found.update({item.arg: follower.or_unknown(item.value, {}) for item in node.keywords if item.arg})
    return {name: value for name, value in found.items() if value is not UnknownError}


def _option(follower: Follower, said: Mapping[str | None, ast.expr]) -> Any:
    """What an option is where nobody gives it."""
    if "default" in said:
        return follower.or_unknown(said["default"], {})
    action = said.get("action")
    if isinstance(action, ast.Constant) and action.value in ("store_true", "store_false"):
        return action.value == "store_false"
    choices = follower.or_unknown(said["choices"], {}) if "choices" in said else ()
    return next(iter(choices), UnknownError) if isinstance(choices, list | tuple) else UnknownError
