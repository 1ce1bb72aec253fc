"""What expressions give, by their text: literals, constants of the module, and what is plainly made of them.

Of the file's own code only constructors of classes are called, as for the model itself, and only to look at an
attribute of the instance; functions are followed by their text (`following`), never called. Of libraries a few
functions that have no effects are called, on plain values.
"""

from __future__ import annotations

import ast
import builtins
import collections
import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.made import Made, Options, UnknownError, fresh, is_known, own_copy, text_of
from inductor_debug.capture.inference.pure_calls import (
    METHODS,
    OF_ARRAYS,
    OPERATORS,
    combined,
    guarded,
    is_array,
    is_namespace,
    is_pure,
    listed,
    result_of,
    seen,
)

Names = dict[str, Any]
"""What local names stand for; `UnknownError` for those that are not known."""

_COPIES = (copy.copy, copy.deepcopy)


class PlainValues:
    """Evaluates expressions.

    Args:
        namespace: what the module's names stand for.
        options: defaults of the command line's options, by name.
    """

    def __init__(self, namespace: Mapping[str, Any], options: Mapping[str, Any], steps: int = 4000) -> None:
        self.namespace, self.options, self.steps = namespace, options, steps

    def followed(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a function of the project gives, by its text."""
        raise UnknownError

    def or_unknown(self, node: ast.expr, names: Names) -> Any:
        """The value of an expression, `UnknownError` where it is not plain."""
        try:
            return self.value(node, names)
        except (UnknownError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
            return UnknownError

    def value(self, node: ast.expr, names: Names) -> Any:
        """The value of an expression.

        Raises:
            UnknownError: it is not plain; other exceptions where Python would raise them.
        """
        self.steps -= 1
        if self.steps < 0:
            raise UnknownError
        reader = _READERS.get(type(node))
        if reader is None:
            raise UnknownError
        return reader(self, node, names)

    def _constant(self, node: Any, names: Names) -> Any:
        return node.value

    def _name(self, node: Any, names: Names) -> Any:
        found = names[node.id] if node.id in names else own_copy(self.namespace.get(node.id, _builtin(node.id)))
        if found is UnknownError:
            raise UnknownError
        return found

    def _items(self, node: Any, names: Names) -> Any:
        found: list[Any] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                found += listed(self.value(item.value, names))
            else:
                found.append(self.value(item, names))
        return found if isinstance(node, ast.List) else tuple(found) if isinstance(node, ast.Tuple) else set(found)

    def _dict(self, node: Any, names: Names) -> Any:
        found: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, names)
            found.update(value if key is None else {self.value(key, names): value})
        return found

    def _unary(self, node: Any, names: Names) -> Any:
        if type(node.op) not in OPERATORS:
            raise UnknownError
        return OPERATORS[type(node.op)](seen(self.value(node.operand, names)))

    def _binary(self, node: Any, names: Names) -> Any:
        return combined(node.op, self.value(node.left, names), self.value(node.right, names))

    def _compare(self, node: Any, names: Names) -> Any:
        left = seen(self.value(node.left, names))
        for kind, comparator in zip(node.ops, node.comparators, strict=True):
            right = seen(self.value(comparator, names))
            if type(kind) not in OPERATORS:
                raise UnknownError
            if not OPERATORS[type(kind)](left, right):
                return False
            left = right
        return True

    def _either(self, node: Any, names: Names) -> Any:
        for item in node.values:
            value = self.value(item, names)
            if bool(seen(value)) is isinstance(node.op, ast.Or):
                return value
        return value

    def _choice(self, node: Any, names: Names) -> Any:
        return self.value(node.body if bool(seen(self.value(node.test, names))) else node.orelse, names)

    def _text(self, node: Any, names: Names) -> Any:
        written = [item.value if isinstance(item, ast.FormattedValue) else item for item in node.values]
        parts = [self.value(item, names) for item in written]
        if not all(isinstance(item, str | int | float) for item in parts):
            raise UnknownError
        return "".join(map(str, parts))

    def _subscript(self, node: Any, names: Names) -> Any:
        owner = self.value(node.value, names)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            index: Any = slice(*(self.value(item, names) if item is not None else None for item in bounds))
        else:
            index = self.value(node.slice, names)
        if isinstance(owner, Made):
            owner = self.looked_at(owner)
        return _checked(owner[index])

    def _comprehension(self, node: Any, names: Names) -> Any:
        rounds = self.rounds(node.generators, dict(names))
        if isinstance(node, ast.DictComp):
            return {self.value(node.key, inner): self.value(node.value, inner) for inner in rounds}
        found = [self.value(node.elt, inner) for inner in rounds]
        return set(found) if isinstance(node, ast.SetComp) else found

    def rounds(self, generators: list[ast.comprehension], names: Names) -> Iterator[Names]:
        """The names in each round of a comprehension."""
        if not generators:
            yield names
            return
        first, *rest = generators
        for item in listed(self.value(first.iter, names)):
            bind(first.target, item, names)
            if all(seen(self.value(test, names)) for test in first.ifs):
                yield from self.rounds(rest, names)

    def _attribute(self, node: Any, names: Names) -> Any:
        try:
            owner = self.value(node.value, names)
        except UnknownError:
            if node.attr in self.options:
                return self.options[node.attr]
            raise
        return self.attribute(owner, node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        """An attribute of a value; of an instance that is still to be made, as its class makes it."""
        if isinstance(owner, Made):
            if name in owner.attributes:
                return _checked(owner.attributes[name])
            owner = self.looked_at(owner)
        if isinstance(owner, SimpleNamespace):
            return _checked(vars(owner).get(name, UnknownError))
        if isinstance(owner, ModuleType | type):
            return _checked(vars(owner).get(name, UnknownError))
        if is_array(owner) and name in OF_ARRAYS[:3]:
            return getattr(owner, name)
        if name.startswith("__") or isinstance(owner, int | float | str | list | tuple | set | torch.Tensor):
            raise UnknownError
        if type(owner) is dict:
            raise UnknownError
        return _checked(own_copy(guarded(lambda: getattr(owner, name))))

    def looked_at(self, value: Made) -> Any:
        """An instance as its class makes it, to look at only."""
        if not value.complete:
            raise UnknownError
        return guarded(lambda: fresh(value))

    def _call(self, node: Any, names: Names) -> Any:
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in ("parse_args", "parse_known_args"):
                options = Options(**self.options)
                return options if node.func.attr == "parse_args" else (options, [])
            if node.func.attr == "is_available":
                return False
            known = self._method(node, names)
            if known is not UnknownError:
                return known
        function = self.value(node.func, names)
        args, kwargs = self.arguments(node, names)
        return self.called(function, args, kwargs, node)

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
                kwargs.update(more if isinstance(more, dict) else vars(more) if type(more) is SimpleNamespace else {})
        return args, kwargs

    def called(self, function: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call) -> Any:
        """What a call gives, by what is known of the function."""
        if function in _COPIES and len(args) == 1:
            return own_copy(args[0])
        if is_namespace(function):
            return SimpleNamespace(**kwargs)
        if isinstance(function, functools.partial):
            return self.called(function.func, [*function.args, *args], {**function.keywords, **kwargs}, node)
        if function is functools.partial:
            raise UnknownError
        if is_pure(function):
            return result_of(function, args, kwargs)
        if function is collections.OrderedDict:
            return dict(*args, **kwargs)
        if isinstance(function, type):
            if function in (object, type) or issubclass(function, BaseException | ModuleType):
                raise UnknownError
            return Made(function, tuple(args), kwargs)
        value = self.followed(function, args, kwargs)
        if isinstance(value, Made) and value.attributes and not value.text and isinstance(node.func, ast.Name):
            given = [*(text_of(item, self.namespace) for item in args)]
            given += [f"{name}={text_of(item, self.namespace)}" for name, item in kwargs.items()]
            value.text = f"{node.func.id}({', '.join(given)})"
        return value

    def _method(self, node: ast.Call, names: Names) -> Any:
        """What a method of a plain value gives; unknown where it is none."""
        assert isinstance(node.func, ast.Attribute)
        owner, name = self.or_unknown(node.func.value, names), node.func.attr
        module = isinstance(owner, Made) and isinstance(owner.kind, type) and issubclass(owner.kind, nn.Module)
        if module and name in ("to", "cuda", "cpu", "train", "eval", "half", "float", "double", "apply"):
            return owner
        if is_array(owner) and name in OF_ARRAYS[3:]:
            return getattr(owner, name)(*(self.value(item, names) for item in node.args))
        if name not in METHODS.get(type(owner), ()):
            return UnknownError
        args, kwargs = self.arguments(node, names)
        if isinstance(owner, str) and not all(map(is_known, args)):
            raise UnknownError
        return getattr(owner, name)(*args, **kwargs)


def bind(target: ast.expr, value: Any, names: Names) -> None:
    """Gives a name, or several at once, a value; `UnknownError` where it cannot be taken apart."""
    if isinstance(target, ast.Name):
        names[target.id] = value
    elif isinstance(target, ast.Tuple | ast.List):
        items = listed(value) if type(value) in (list, tuple, dict) else []
        fits = len(items) == len(target.elts) and not any(isinstance(item, ast.Starred) for item in target.elts)
        for index, item in enumerate(target.elts):
            bind(item, items[index] if fits else UnknownError, names)


def _builtin(name: str) -> Any:
    return getattr(builtins, name, UnknownError)


def _checked(value: Any) -> Any:
    if value is UnknownError:
        raise UnknownError
    return value


_READERS: dict[type, Callable[[PlainValues, Any, Names], Any]] = {
    ast.Constant: PlainValues._constant,
    ast.Name: PlainValues._name,
    ast.Tuple: PlainValues._items,
    ast.List: PlainValues._items,
    ast.Set: PlainValues._items,
    ast.Dict: PlainValues._dict,
    ast.UnaryOp: PlainValues._unary,
    ast.BinOp: PlainValues._binary,
    ast.BoolOp: PlainValues._either,
    ast.Compare: PlainValues._compare,
    ast.IfExp: PlainValues._choice,
    ast.JoinedStr: PlainValues._text,
    ast.Subscript: PlainValues._subscript,
    ast.ListComp: PlainValues._comprehension,
    ast.GeneratorExp: PlainValues._comprehension,
    ast.SetComp: PlainValues._comprehension,
    ast.DictComp: PlainValues._comprehension,
    ast.Attribute: PlainValues._attribute,
    ast.Call: PlainValues._call,
}
