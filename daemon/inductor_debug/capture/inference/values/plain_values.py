"""What expressions give, by their text: literals, constants of the module, and what is plainly made of them.

Of the file's own code only constructors of classes are called, as for the model itself, and only to look at an
attribute of the instance. What calls give says `plain_calls`.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from inductor_debug.capture.inference.values.later_modules import LaterModule
from inductor_debug.capture.inference.values.library_tables import is_table
from inductor_debug.capture.inference.values.pure_calls import (
    OF_ARRAYS,
    OPERATORS,
    calculated,
    combined,
    guarded,
    is_array,
    listed,
    seen,
    truth,
)
from inductor_debug.capture.inference.values.symbolic_values import (
    LaterInstance,
    SymbolicValue,
    UnknownError,
    fresh,
    own_copy,
    parts_of,
)
from inductor_debug.capture.runtime import foreign

Names = dict[str, Any]
"""What local names stand for; `UnknownError` for those that are not known."""

_SECONDS = 0.3
_DEEPEST = 150
"""Expressions within expressions that are read: fewer than Python's stack takes, however deep it is already."""


@dataclass
class ValueBudget:
    """How many more expressions and statements are read for one question, and until when: processor time.

    `depth` is how many expressions are being read, each within the one before; `made` has the instances
    that methods were followed on, `UnknownError` for what cannot be made, and what they were made of, by its identity.
    """

    steps: int = 4000
    until: float = 0.0
    depth: int = 0
    made: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def spend(self) -> None:
        """Takes one step; raises `UnknownError` where none is left."""
        self.until = self.until or time.process_time() + _SECONDS
        self.steps -= 1
        if self.steps < 0 or time.process_time() > self.until:
            raise UnknownError


class PlainValues:
    """Evaluates expressions.

    Args:
        namespace: what the module's names stand for.
        options: defaults of the command line's options, by name.
        budget: what there is left to spend.
    """

    def __init__(
        self, namespace: Mapping[str, Any], options: Mapping[str, Any], budget: ValueBudget | None = None
    ) -> None:
        self.namespace, self.options, self.budget = namespace, options, budget or ValueBudget()

    def or_unknown(self, node: ast.expr, names: Names) -> Any:
        """The value of an expression, `UnknownError` where it is not plain."""
        try:
            return self.value(node, names)
        except UnknownError:
            return UnknownError

    def value(self, node: ast.expr, names: Names) -> Any:
        """The value of an expression.

        Raises:
            UnknownError: it is not plain, or Python would raise.
        """
        self.budget.spend()
        reader = _READERS.get(type(node))
        if reader is None or self.budget.depth >= _DEEPEST:
            raise UnknownError
        self.budget.depth += 1
        try:
            return reader(self, node, names)
        except Exception:
            # Whatever operations and functions of libraries raise: `torch.device("auto")` has no value either.
            raise UnknownError from None
        finally:
            self.budget.depth -= 1

    def _constant(self, node: Any, names: Names) -> Any:
        # As the compiler does, for code that asks `name is "conv2d"`.
        return sys.intern(node.value) if type(node.value) is str else node.value

    def _name(self, node: Any, names: Names) -> Any:
        found = names[node.id] if node.id in names else own_copy(self.namespace.get(node.id, _builtin(node.id)))
        if found is UnknownError:
            raise UnknownError
        return self.instance(found) if isinstance(found, LaterInstance) else found

    def owner(self, node: ast.expr, names: Names) -> Any:
        """What an attribute or a method is looked up on: what is still to be made is not made for that alone."""
        held = names.get(node.id) if isinstance(node, ast.Name) else None
        return held if isinstance(held, LaterInstance) else self.or_unknown(node, names)

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
        return calculated(OPERATORS[type(node.op)], seen(self.value(node.operand, names)))

    def _binary(self, node: Any, names: Names) -> Any:
        return combined(node.op, self.value(node.left, names), self.value(node.right, names))

    def _compare(self, node: Any, names: Names) -> Any:
        left = seen(self.value(node.left, names))
        for kind, comparator in zip(node.ops, node.comparators, strict=True):
            right = seen(self.value(comparator, names))
            if type(kind) not in OPERATORS:
                raise UnknownError
            if not truth(calculated(OPERATORS[type(kind)], left, right)):
                return False
            left = right
        return True

    def _either(self, node: Any, names: Names) -> Any:
        for item in node.values:
            value = self.value(item, names)
            if truth(value) is isinstance(node.op, ast.Or):
                return value
        return value

    def _choice(self, node: Any, names: Names) -> Any:
        return self.value(node.body if truth(self.value(node.test, names)) else node.orelse, names)

    def _text(self, node: Any, names: Names) -> Any:
        if any(
            isinstance(item, ast.FormattedValue) and (item.format_spec or item.conversion >= 0) for item in node.values
        ):
            raise UnknownError
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
        if isinstance(owner, SymbolicValue):
            owner = self.looked_at(owner)
        return _checked(owner[index] if type(owner) in (list, tuple, dict, str) else guarded(lambda: owner[index]))

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
            if all(truth(self.value(test, names)) for test in first.ifs):
                yield from self.rounds(rest, names)

    def _attribute(self, node: Any, names: Names) -> Any:
        return self.attribute_of(self.owner(node.value, names), node)

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        """The value of an expression whose owner's value is known, or is `UnknownError`."""
        try:
            return self.attribute(_checked(owner), node.attr)
        except UnknownError:
            if node.attr in self.options:
                return self.options[node.attr]
            raise

    def attribute(self, owner: Any, name: str) -> Any:
        """An attribute of a value; of an instance that is still to be made, as its class makes it."""
        if isinstance(owner, LaterInstance):
            owner = self.instance(owner)
        if isinstance(owner, SymbolicValue):
            if name in owner.attributes:
                return _checked(owner.attributes[name])
            owner = self.looked_at(owner)
        if isinstance(owner, SimpleNamespace):
            return _checked(vars(owner).get(name, UnknownError))
        if isinstance(owner, ModuleType):
            held = owner.loaded() if isinstance(owner, LaterModule) else foreign.namespace(owner)
            return dict(held) if name == "__dict__" else _checked(own_copy(held.get(name, UnknownError)))
        if isinstance(owner, type):
            return _checked(_of_class(owner, name))
        if (is_array(owner) and name in OF_ARRAYS[:3]) or (isinstance(owner, torch.Tensor) and name == "shape"):
            return getattr(owner, name)
        if name.startswith("__") or isinstance(owner, int | float | str | list | tuple | set | torch.Tensor):
            raise UnknownError
        if type(owner) is dict:
            raise UnknownError
        if is_table(owner):  # a copy of the file's by now, in which more is set
            return guarded(lambda: getattr(owner, name))
        return _checked(own_copy(guarded(lambda: getattr(owner, name))))

    def looked_at(self, value: SymbolicValue) -> Any:
        """An instance as its class makes it, to look at only."""
        if not value.complete:
            raise UnknownError
        return guarded(lambda: fresh(value))

    def instance(self, later: LaterInstance) -> Any:
        """The instance that a method is followed on, made once as long as it would be made of the same."""
        value = later.value
        parts, made = parts_of(value), self.budget.made.get(id(value))
        if made is None or made[0] != parts:
            made = self.budget.made[id(value)] = (parts, self._looked_at_or_unknown(value))
        return _checked(made[1])

    def _looked_at_or_unknown(self, value: SymbolicValue) -> Any:
        try:
            return self.looked_at(value)
        except UnknownError:
            return UnknownError

    def call(self, node: ast.Call, names: Names) -> Any:
        """What a call gives."""
        raise UnknownError


def bind(target: ast.expr, value: Any, names: Names) -> None:
    """Gives a name, or several at once, a value; `UnknownError` where it cannot be taken apart."""
    if isinstance(target, ast.Name):
        names[target.id] = value
    elif isinstance(target, ast.Tuple | ast.List):
        items = listed(value) if type(value) in (list, tuple, dict) else []
        fits = len(items) == len(target.elts) and not any(isinstance(item, ast.Starred) for item in target.elts)
        for index, item in enumerate(target.elts):
            bind(item, items[index] if fits else UnknownError, names)


def _of_class(owner: type, name: str) -> Any:
    """An attribute of a class, found without running anybody's code."""
    if issubclass(owner, Enum):
        return owner.__members__.get(name, UnknownError)
    found = inspect.getattr_static(owner, name, UnknownError)
    if isinstance(found, classmethod | staticmethod):
        return found.__get__(None, owner)
    return UnknownError if isinstance(found, property) else own_copy(found)


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
    ast.Call: lambda reader, node, names: reader.call(node, names),
}
