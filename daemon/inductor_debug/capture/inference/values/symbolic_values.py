"""Values that a file's text says how to make, and how they are written down in a directive.

A module or an object is made anew for each construction, by calling its class as the text does; plain values are
themselves. Nothing is made here before it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any

import torch

from inductor_debug.capture.inference.values.library_tables import copied, is_table, text_of_table
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.loading import is_installed

_MOST_ITEMS = 10_000


class UnknownError(Exception):
    """An expression that is not plain. The class itself stands for a value that is not known."""


@dataclass(eq=False)
class SymbolicValue:
    """An instance: its class, what that is given, and the attributes that are set on it afterwards.

    `text` is the expression that gives it where its arguments do not say everything. `more` says that it is given
    others besides, which are not known: `Part(**config)`.
    """

    kind: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    more: bool = False

    @property
    def complete(self) -> bool:
        """Whether everything that it is made of is known."""
        return all(is_known(item) for item in (*self.args, *self.kwargs.values(), *self.attributes.values()))


@dataclass(eq=False)
class LaterInstance:
    """What a method that is followed is called on: made only where more than another method of it is asked for.

    Only a name stands for one; whoever reads that name gets the instance itself.
    """

    value: SymbolicValue


class Options(SimpleNamespace):
    """What the command line gives where nobody types anything; options without a default are missing."""


class ConfigurationTable(SimpleNamespace):
    """A table of a configuration file: its items are attributes as well, in the tables and lists in it, too."""

    @classmethod
    def of(cls, value: Any) -> Any:
        """The same as what files give, with tables for dicts."""
        if isinstance(value, dict):
            return cls(**{str(key): cls.of(item) for key, item in value.items()})
        return [cls.of(item) for item in value] if isinstance(value, list) else value

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    def __contains__(self, name: object) -> bool:
        return name in vars(self)

    def keys(self) -> Any:
        """As a dict's, so that it can be unpacked."""
        return vars(self).keys()

    def items(self) -> Any:
        """As a dict's."""
        return vars(self).items()

    def get(self, name: str, default: Any = None) -> Any:
        """As a dict's."""
        return vars(self).get(name, default)


def is_known(value: Any) -> bool:
    """Whether a value, and all that is in it, is known."""
    if value is UnknownError:
        return False
    if isinstance(value, SymbolicValue):
        return value.complete
    if type(value) in (list, tuple, set):
        return all(map(is_known, value))
    if type(value) is dict:
        return all(map(is_known, value.values()))
    return all(map(is_known, vars(value).values())) if isinstance(value, SimpleNamespace) else True


def is_same(left: Any, right: Any) -> bool:
    """Whether two values are the same as far as can be told without running anybody's code."""
    if type(left) is not type(right):
        return False
    if type(left) in (list, tuple):
        return len(left) == len(right) and all(map(is_same, left, right))
    if type(left) is dict:
        return list(left) == list(right) and all(map(is_same, left.values(), right.values()))
    return left is right or (isinstance(left, int | float | str) and bool(left == right))


def fresh(value: Any) -> Any:
    """The value itself, with everything in it made anew that has to be made."""
    if isinstance(value, SymbolicValue):
        return made(value, tuple(map(fresh, value.args)), {key: fresh(item) for key, item in value.kwargs.items()})
    if type(value) in (list, tuple, set):
        return type(value)(map(fresh, value))
    if type(value) is dict:
        return {key: fresh(item) for key, item in value.items()}
    if type(value) in (SimpleNamespace, Options, ConfigurationTable):
        kind = ConfigurationTable if type(value) is ConfigurationTable else SimpleNamespace
        return kind(**{key: fresh(item) for key, item in vars(value).items()})
    return copied(value) if is_table(value) else value


def made(value: SymbolicValue, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls the class, and sets what is set on the instance afterwards, as far as that is known."""
    instance = value.kind(*args, **kwargs)
    for name, item in value.attributes.items():
        if is_known(item):
            setattr(instance, name, fresh(item))
    return instance


@dataclass(frozen=True, eq=False)
class _Itself:
    """An object that equals itself alone, whatever its class thinks."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def parts_of(value: Any) -> Any:
    """What `fresh` would make a value of, to be compared: it differs where anything in it was changed."""
    if isinstance(value, SymbolicValue):
        return _Itself(value), *map(parts_of, (value.args, value.kwargs, value.attributes))
    if type(value) in (list, tuple, set):
        return type(value), *map(parts_of, value)
    if type(value) is dict:
        return dict, *((key, parts_of(item)) for key, item in value.items())
    if isinstance(value, SimpleNamespace):
        return _Itself(value), parts_of(vars(value))
    return (type(value), value) if type(value) in (int, float, str, bool, type(None)) else _Itself(value)


def own_copy(value: Any) -> Any:
    """Plain containers copied, so that nothing which is done to the copy reaches the file's own.

    Of long ones the items are the same as before.
    """
    if type(value) in (list, tuple, set, dict) and len(value) > _MOST_ITEMS:
        return type(value)(value)
    if type(value) in (list, tuple, set):
        return type(value)(map(own_copy, value))
    if type(value) is dict:
        return {key: own_copy(item) for key, item in value.items()}
    if type(value) is SimpleNamespace:
        return SimpleNamespace(**{key: own_copy(item) for key, item in vars(value).items()})
    return copied(value) if is_table(value) else value


def text_of(value: Any, names: Mapping[str, Any], around: tuple[int, ...] = ()) -> str:
    """An expression that gives the value in the file's namespace `names`; what holds itself is `...` inside.

    `around` are the identities of what holds the value.
    """
    if id(value) in around:
        return "..."

    def text(item: Any) -> str:
        return text_of(item, names, (*around, id(value)))

    if isinstance(value, SymbolicValue):
        arguments = _arguments([text(item) for item in value.args], value.kwargs, text)
        return value.text or f"{_name_of(value.kind)}({arguments})"
    if type(value) is list:
        return f"[{', '.join(map(text, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(text, value))}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, SimpleNamespace):
        return f"__import__('types').SimpleNamespace({_arguments([], vars(value), text)})"
    if foreign.is_a(value, type) or (callable(value) and foreign.text_attribute(value, "__name__")):
        return _name_of(value) if not names or any(item is value for item in names.values()) else _imported(value)
    if isinstance(value, Enum):
        return f"{_name_of(type(value))}.{value.name}"
    if isinstance(value, PurePath):
        return f"{_name_of(type(value).__bases__[0])}({str(value)!r})"
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return f"__import__('numpy').array({value.tolist()!r})"
    if not isinstance(value, int | float | str | bool | type(None)):
        named = next((name for name, item in names.items() if item is value), None)
        if named is not None:
            return named
    if is_table(value):
        return text_of_table(value, text)
    return foreign.representation(value)


def _arguments(positional: list[str], named: Mapping[str, Any], text: Callable[[Any], str]) -> str:
    return ", ".join([*positional, *(f"{name}={text(item)}" for name, item in named.items())])


def _imported(kind: Any) -> str:
    """What gives a class or a function where no name of the file does."""
    owner = foreign.module_name(kind)
    installed = is_installed(foreign.file_of(sys.modules.get(owner)) or "") and owner.partition(".")[0] != "torch"
    return f"__import__({owner!r}, fromlist=['_']).{kind.__name__}" if installed else _name_of(kind)


def _name_of(kind: Any) -> str:
    owner = foreign.module_name(kind)
    if owner.partition(".")[0] in ("pathlib", "functools", "collections"):
        return f"__import__({owner.partition('.')[0]!r}).{kind.__name__}"
    name = getattr(kind, "__name__", repr(kind))
    if owner.partition(".")[0] != "torch":
        return name
    homes = {"torch.nn": torch.nn, "torch": torch, "torch.nn.functional": torch.nn.functional}
    return f"{next((home for home, names in homes.items() if vars(names).get(name) is kind), owner)}.{name}"
