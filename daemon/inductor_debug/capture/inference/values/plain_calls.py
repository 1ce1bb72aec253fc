"""What calls in expressions give, by their text.

Functions of the file are followed by their text (`following`), never called; calls of classes say how to make an
instance (`symbolic_values`). Of libraries a few functions that have no effects are called, on plain values.
"""

from __future__ import annotations

import ast
import collections
import copy
import dataclasses
import functools
import inspect
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.values.later_modules import LaterModule
from inductor_debug.capture.inference.values.plain_values import Names, PlainValues
from inductor_debug.capture.inference.values.pure_calls import (
    METHODS,
    OF_ARRAYS,
    is_array,
    is_namespace,
    is_pure,
    listed,
    method_of,
    result_of,
)
from inductor_debug.capture.inference.values.symbolic_values import (
    LaterInstance,
    Options,
    SymbolicValue,
    UnknownError,
    own_copy,
    text_of,
)
from inductor_debug.capture.inference.values.tensor_values import PASSING, method_of_tensor

_COPIES = (copy.copy, copy.deepcopy)


class PlainCalls(PlainValues):
    """Evaluates expressions with calls in them."""

    def followed(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a function of the project gives, by its text."""
        raise UnknownError

    def call(self, node: ast.Call, names: Names) -> Any:
        """What a call gives."""
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in ("parse_args", "parse_known_args"):
                options = Options(**self.options)
                return options if node.func.attr == "parse_args" else (options, [])
            if node.func.attr == "is_available":
                return False
            owner = self.owner(node.func.value, names)
            known = self._method(owner, node, names)
            if known is not UnknownError:
                return known
            value = owner.value if isinstance(owner, LaterInstance) else owner
            if isinstance(value, SymbolicValue) and (method := _method_of(value, node.func.attr)) is not None:
                if not value.complete:
                    raise UnknownError
                args, kwargs = self.arguments(node, names)
                return self.followed(method, [LaterInstance(value), *args], kwargs)
            function = self.attribute_of(owner, node.func)
        else:
            function = self.value(node.func, names)
        args, kwargs = self.arguments(node, names)
        if function is eval and len(args) == 1 and isinstance(args[0], str):
            return self.value(ast.parse(args[0].strip(), mode="eval").body, names)
        value = self.called(function, args, kwargs, node)
        if isinstance(value, SymbolicValue) and self._is_given_more(node, names):
            return replace(value, more=True)
        return value

    def _is_given_more(self, node: ast.Call, names: Names) -> bool:
        """Whether a call spreads a dict of which nothing is known."""
        spread = (item.value for item in node.keywords if item.arg is None)
        return any(self.or_unknown(value, names) is UnknownError for value in spread)

    def arguments(self, node: ast.Call, names: Names) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, `UnknownError` for those that are not plain.

        Raises:
            UnknownError: nobody can tell how many there are.
        """
        args: list[Any] = []
        for item in node.args:
            if isinstance(item, ast.Starred):
                args += listed(self.value(item.value, names))
            else:
                args.append(self.or_unknown(item, names))
        kwargs: dict[str, Any] = {}
        for named in node.keywords:
            if named.arg is not None:
                kwargs[named.arg] = self.or_unknown(named.value, names)
            else:
                more = self.or_unknown(named.value, names)
                kwargs.update(
                    more if isinstance(more, dict) else vars(more) if isinstance(more, SimpleNamespace) else {}
                )
        return args, kwargs

    def called(self, function: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call) -> Any:
        """What a call gives, by what is known of the function."""
        if isinstance(function, LaterModule):
            function = function.called()
        if function in _COPIES and len(args) == 1:
            return own_copy(args[0])
        if function is getattr and len(args) > 1 and type(args[1]) is str:
            return self.attribute(args[0], args[1])
        if is_namespace(function):
            return SimpleNamespace(**kwargs)
        if any(function is item for item in PASSING) and args and isinstance(args[0], torch.Tensor):
            return args[0]
        if function is map and len(args) > 1:
            return [self.called(args[0], list(items), {}, node) for items in zip(*map(listed, args[1:]), strict=False)]
        if function is vars and len(args) == 1 and isinstance(args[0], SimpleNamespace):
            return dict(vars(args[0]))
        if isinstance(function, functools.partial):
            return self.called(function.func, [*function.args, *args], {**function.keywords, **kwargs}, node)
        if isinstance(function, SymbolicValue) and function.kind is functools.partial:
            return self.called(function.args[0], [*function.args[1:], *args], {**function.kwargs, **kwargs}, node)
        if is_pure(function):
            return result_of(function, args, kwargs)
        if function is dataclasses.replace and args and isinstance(args[0], SymbolicValue):
            return SymbolicValue(args[0].kind, args[0].args, {**args[0].kwargs, **kwargs})
        if function is collections.OrderedDict:
            return dict(*args, **kwargs)
        if isinstance(function, type):
            if function in (object, type) or issubclass(function, BaseException | ModuleType):
                raise UnknownError
            return SymbolicValue(function, tuple(args), kwargs)
        value = self.followed(function, args, kwargs)
        if isinstance(value, SymbolicValue) and value.attributes and not value.text and isinstance(node.func, ast.Name):
            given = [*(text_of(item, self.namespace) for item in args)]
            given += [f"{name}={text_of(item, self.namespace)}" for name, item in kwargs.items()]
            value.text = f"{node.func.id}({', '.join(given)})"
        return value

    def _method(self, owner: Any, node: ast.Call, names: Names) -> Any:
        """What a method of a plain value gives; unknown where it is none."""
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        module = isinstance(owner, SymbolicValue) and isinstance(owner.kind, type) and issubclass(owner.kind, nn.Module)
        if module and name in ("to", "cuda", "cpu", "train", "eval", "half", "float", "double", "apply"):
            return owner
        if name == "_replace" and isinstance(owner, SymbolicValue) and hasattr(owner.kind, "_fields"):
            return replace(owner, kwargs={**owner.kwargs, **self.arguments(node, names)[1]})
        if is_array(owner) and name in OF_ARRAYS[3:]:
            return method_of(owner, name, [self.value(item, names) for item in node.args], {})
        if isinstance(owner, torch.Tensor):
            return method_of_tensor(owner, name, [self.value(item, names) for item in node.args])
        if name not in METHODS.get(type(owner), ()):
            return UnknownError
        args, kwargs = self.arguments(node, names)
        return method_of(owner, name, args, kwargs)


def _method_of(value: SymbolicValue, name: str) -> Any:
    """A method that an instance has of its class, whatever it is made of; None where only an instance could tell."""
    if name in value.attributes or not isinstance(value.kind, type):
        return None
    found = inspect.getattr_static(value.kind, name, None)
    return found if inspect.isfunction(found) else None
