"""Which statements of a text change what outlives a call: an attribute, a global, a list that somebody shares.

Read from the text alone: an alias (`cache = self.cache; cache.append(x)`) is not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

CHANGING = frozenset(
    {
        "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem",
        "popleft", "remove", "reverse", "setdefault", "sort", "update",
    }
)  # fmt: skip
"""Methods of Python's containers that change them."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Node = TypeVar("_Node", bound=ast.AST)


def function_at(tree: ast.Module, line: int) -> _Function | None:
    """The innermost function around a one-based line."""
    return _innermost((node for node in ast.walk(tree) if isinstance(node, _Function)), line)


def writes_near(tree: ast.Module, line: int, name: str) -> list[ast.expr | ast.stmt]:
    """What changes `name`: in the function around a one-based line; else in its class; else in the file.

    What only says what it is to begin with comes last.

    Args:
        tree: the file's.
        line: where the function relies on it.
        name: `STEPS`, or `self.block.calls`, whose last attribute decides: other functions call its owner otherwise.
            Of `self.counts["calls"]`, what changes that very item counts before what changes `self.counts`.
    """
    owner, item = with_item(name)
    around: list[ast.AST | None] = [
        function_at(tree, line),
        _innermost((node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)), line),
        tree,
    ]
    found = next((found for scope in around if scope is not None and (found := list(_writes(scope, owner)))), [])
    return [node for node in found if item and item in {with_item(ast.unparse(e))[1] for e in _targets(node)}] or found


def with_item(name: str) -> tuple[str, str]:
    """A name and the items taken of it, as Python writes them: `self.counts` and `['calls']`; "" for none."""
    try:
        named = ast.parse(name, mode="eval").body
    except SyntaxError:
        return name, ""
    owner = ast.unparse(_unindexed(named))
    return owner, ast.unparse(named).removeprefix(owner)


def default_of(function: _Function, name: str) -> tuple[ast.arg, ast.expr] | None:
    """A parameter of a function with its default; None where it has none."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return next(((argument, default) for argument, default in pairs if argument.arg == name and default), None)


def owner_of(node: ast.expr | ast.stmt) -> ast.expr | None:
    """What a statement or call that `writes_near` gave changes: `self.n` of `self.n += 1`."""
    return next(_changed(node), None)


def _innermost(nodes: Iterator[_Node], line: int) -> _Node | None:
    around = [n for n in nodes if getattr(n, "lineno", 0) <= line <= (getattr(n, "end_lineno", 0) or 0)]
    return max(around, key=lambda node: getattr(node, "lineno", 0), default=None)


def _writes(scope: ast.AST, name: str) -> Iterator[ast.expr | ast.stmt]:
    found = [node for node in ast.walk(scope) if any(_is_called(target, name) for target in _changed(node))]
    initial = {
        id(node)
        for function in ast.walk(scope)
        if isinstance(function, _Function) and function.name == "__init__"
        for node in ast.walk(function)
    }
    found.sort(key=lambda node: getattr(node, "lineno", 0))
    first = next((node for node in found if _is_literal(node)), None)
    for node in sorted(found, key=lambda node: node is first):
        if id(node) not in initial and isinstance(node, ast.expr | ast.stmt):
            yield node.target if isinstance(node, ast.For) else node


def _is_literal(node: ast.AST) -> bool:
    """Whether a statement may only say what something is to begin with: a literal, as `step = 0` or `items = []`."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    literal = isinstance(value, ast.Constant | ast.List | ast.Dict | ast.Set | ast.Tuple)
    return literal and not any(isinstance(target, ast.Subscript) for target in _targets(node))


def _changed(node: ast.AST) -> Iterator[ast.expr]:
    """What a node changes: the targets of assignments, the owners of items, the receivers of methods that change."""
    yield from map(_unindexed, _targets(node))


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """The same, with items as they are."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign() | ast.Delete():
            targets = node.targets
        case ast.AugAssign() | ast.AnnAssign() | ast.For():
            targets = [node.target]
        case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if method in CHANGING:
            targets = [receiver]
    for target in targets:
        yield from target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _unindexed(node: ast.expr) -> ast.expr:
    """The owner of an item, or of an item of an item; any other expression itself."""
    return _unindexed(node.value) if isinstance(node, ast.Subscript) else node


def _is_called(node: ast.expr, name: str) -> bool:
    """Whether a target is the variable `name`, or has its last attribute."""
    attribute = name.rpartition(".")[2]
    if "." in name:
        return isinstance(node, ast.Attribute) and node.attr == attribute
    return isinstance(node, ast.Name) and node.id == name
