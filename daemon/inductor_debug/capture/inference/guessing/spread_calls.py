"""To what a function hands on whatever it is given: with `return self.inner(*args, **kwargs)` it takes what that takes.

Read from the function's syntax and from the parts that the model has; nothing is run, and what is not found so is not
claimed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from torch import nn

from inductor_debug.capture.inference.values.function_syntax import Function
from inductor_debug.capture.runtime import foreign


@dataclass(frozen=True, slots=True)
class HandedOn:
    """A call that is given all that its caller was given: `called` is a bound method of `owner`.

    It gets `before` arguments ahead of those, and some that are `named`. `by_position` says that it gets `*args`,
    `by_name` that it gets `**kwargs`.
    """

    called: Any
    owner: nn.Module
    before: int
    named: frozenset[str]
    by_position: bool
    by_name: bool


def handed_on(tree: Function | None, function: Any, owner: nn.Module | None) -> HandedOn | None:
    """The first call to which a method of `owner` hands on its `*args` or `**kwargs`; None where there is none."""
    if tree is None or owner is None or not (tree.args.vararg or tree.args.kwarg):
        return None
    several, rest = (given.arg if given is not None else None for given in (tree.args.vararg, tree.args.kwarg))
    reader = _Reader(tree, foreign.plain_function(function), owner)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        starred = [index for index, item in enumerate(node.args) if isinstance(item, ast.Starred)]
        by_position = len(starred) == 1 and _is_called(node.args[starred[0]], several)
        by_name = any(item.arg is None and _is_called(item.value, rest) for item in node.keywords)
        found = reader.method(node.func) if by_position or by_name else None
        if found is not None and (by_position or not starred):
            named = frozenset(item.arg for item in node.keywords if item.arg is not None)
            before = starred[0] if by_position else len(node.args)
            return HandedOn(*found, before, named, by_position, by_name)
    return None


def optional_keys(tree: Function | None) -> frozenset[str]:
    """The keys of `**kwargs` that a function does without: it takes them with `get`, or asks whether they are there."""
    rest = tree.args.kwarg.arg if tree is not None and tree.args.kwarg is not None else None
    keys = _asked_for(tree, rest) if tree is not None and rest is not None else ()
    return frozenset(str(key.value) for key in keys if isinstance(key, ast.Constant))


def _asked_for(tree: Function, rest: str) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_called(node.func.value, rest):
            least = {"get": 1, "pop": 2}.get(node.func.attr)
            if least is not None and len(node.args) >= least:
                yield node.args[0]
        elif isinstance(node, ast.Compare) and _is_called(node.comparators[0], rest):
            yield node.left


def _is_called(node: ast.expr, name: str | None) -> bool:
    node = node.value if isinstance(node, ast.Starred) else node
    return name is not None and isinstance(node, ast.Name) and node.id == name


class _Reader:
    """Finds the methods that a function calls on the object that it is a method of."""

    def __init__(self, tree: Function, function: Any, owner: nn.Module) -> None:
        self._tree, self._function, self._owner = tree, function, owner
        positional = (*tree.args.posonlyargs, *tree.args.args)
        self._itself = positional[0].arg if positional else None

    def method(self, called: ast.expr) -> tuple[MethodType, nn.Module] | None:
        """The method that an expression is, a module's `forward` where it is none of torch's, and whose it is."""
        value = self._value(called)
        if isinstance(value, nn.DataParallel):
            value = value.module
        if isinstance(value, nn.Module) and not type(value).__module__.startswith("torch.nn."):
            value = _method_of(value, type(value).__mro__, "forward")
        owner = value.__self__ if isinstance(value, MethodType) else None
        return (value, owner) if isinstance(value, MethodType) and isinstance(owner, nn.Module) else None

    def _value(self, node: ast.expr) -> Any:
        if _is_called(node, self._itself):
            return self._owner
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Call) and _is_called(node.value.func, "super"):
                return _method_of(self._owner, self._bases(), node.attr)
            return self._part(self._value(node.value), node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return self._part(self._value(node.value), str(node.slice.value))
        if isinstance(node, ast.Call) and _is_called(node.func, "getattr") and len(node.args) == 2:
            name = self._text(node.args[1])
            return self._part(self._value(node.args[0]), name) if name is not None else None
        return None

    @staticmethod
    def _part(of: Any, name: str) -> Any:
        if not isinstance(of, nn.Module):
            return None
        part = of._modules.get(name)
        return part if part is not None else _method_of(of, type(of).__mro__, name)

    def _bases(self) -> tuple[type, ...]:
        """The classes behind the one that defines the function."""
        order = type(self._owner).__mro__
        own = [index for index, kind in enumerate(order) if any(self._is_it(item) for item in vars(kind).values())]
        return order[own[0] + 1 :] if own else ()

    def _is_it(self, value: Any) -> bool:
        return isinstance(value, FunctionType) and value.__code__ is foreign.code_of(self._function)

    def _text(self, node: ast.expr, within: frozenset[str] = frozenset()) -> str | None:
        """A text that the function puts together of written ones; a key of `**kwargs` is what it is by default.

        `within` are the names that the text is set to: `mode = "_" + mode` begins with what `mode` was given as.
        """
        parts: list[str | None] = [None]
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._text(node.left, within), self._text(node.right, within)]
        elif isinstance(node, ast.JoinedStr):
            values = (item.value if isinstance(item, ast.FormattedValue) else item for item in node.values)
            parts = [self._text(value, within) for value in values]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 2:
            parts = [self._text(node.args[1], within) if node.func.attr in ("get", "pop") else None]
        elif isinstance(node, ast.Name):
            found = self._given(node.id) if node.id in within else self._set_to(node.id) or self._given(node.id)
            parts = [self._text(value, within | {node.id}) for value in found[:1]]
        return "".join(part for part in parts if part is not None) if parts and None not in parts else None

    def _set_to(self, name: str) -> list[ast.expr]:
        """What statements set a name to."""
        assignments = (node for node in ast.walk(self._tree) if isinstance(node, ast.Assign))
        return [node.value for node in assignments if any(_is_called(target, name) for target in node.targets)]

    def _given(self, name: str) -> list[ast.expr]:
        """What an argument that is passed by name is by default."""
        defaults = zip(self._tree.args.kwonlyargs, self._tree.args.kw_defaults, strict=True)
        return [value for item, value in defaults if item.arg == name and value is not None]


def _method_of(of: nn.Module, kinds: tuple[type, ...], name: str) -> MethodType | None:
    """A method written in Python, of one of some classes."""
    function = next((vars(kind)[name] for kind in kinds if name in vars(kind)), None)
    return MethodType(function, of) if inspect.isfunction(function) else None
