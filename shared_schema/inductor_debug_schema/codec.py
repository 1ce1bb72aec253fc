"""Dataclasses to plain values and back, for msgpack and JSON alike.

Written here, and not taken from a library, because workers run in the user's interpreter where only torch and msgpack
may be assumed. Unknown keys are ignored, so that a newer peer can add fields; a missing or ill-typed one is a
`WireError`.

Who listens to a peer of another minor version reads leniently: what this version does not know (a member of an enum, a
kind of fact) is as if it had not been said. An optional value is absent, an item of a list is left out; only what
cannot be done without is a `WireError` still. `released/` says which additions that leaves room for, and
`vscode-extension/webview/shared/wire.ts` reads by the same rule.
"""

from __future__ import annotations

import contextlib
import dataclasses
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union

T = TypeVar("T")


class WireError(ValueError):
    """A value from the wire does not fit the type it should have; the message names the field."""


class UnknownMemberError(WireError):
    """A text from the wire is none of the `members` that there are."""

    def __init__(self, where: str, said: Any, members: list[str]) -> None:
        super().__init__(f"{where}: expected one of {', '.join(members)}, got {said!r}")
        self.said, self.members = said, members


def to_wire(value: Any) -> Any:
    """Turns dataclasses, enums and containers of them into dicts, lists, strings and numbers."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (str, int, float, bytes)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [to_wire(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(to_wire(item) for item in value)
    if isinstance(value, dict):
        return {key: to_wire(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: to_wire(getattr(value, name)) for name, key in _field_names(type(value))}
    raise TypeError(f"{type(value).__name__} cannot go over the wire")


def from_wire(cls: type[T], data: Any, *, lenient: bool = False) -> T:
    """Rebuilds a value of type `cls` from what `to_wire` made, `lenient` where that was perhaps another version's.

    Raises:
        WireError: `data` does not have the shape of `cls`.
    """
    return typing.cast(T, read_value(cls, data, getattr(cls, "__name__", str(cls)), lenient=lenient))


def key_of(name: str) -> str:
    """What a field is called on the wire: `pass_`, which Python cannot call `pass`, is `pass`."""
    return name.removesuffix("_")


@cache
def _field_names(cls: type) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, key_of(field.name)) for field in dataclasses.fields(cls))


@cache
def _field_types(cls: type) -> tuple[tuple[str, Any, bool], ...]:
    hints = typing.get_type_hints(cls)
    return tuple(
        (
            field.name,
            hints[field.name],
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
        )
        for field in dataclasses.fields(cls)
    )


def read_value(kind: Any, data: Any, where: str, *, lenient: bool = False) -> Any:
    """As `from_wire`, of any type that a field may have; errors say that the value is at `where`.

    Raises:
        WireError: `data` does not have the shape of `kind`.
    """
    if kind is Any:
        return data
    origin = typing.get_origin(kind)
    if origin is Union or origin is types.UnionType:
        return _read_union(kind, data, where, lenient)
    if origin in (list, tuple, frozenset, dict, Mapping):
        return _read_container(origin, typing.get_args(kind), data, where, lenient)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError:
            raise UnknownMemberError(where, data, [member.value for member in kind]) from None
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _read_dataclass(kind, data, where, lenient)
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise WireError(f"{where}: expected {kind.__name__}, got {type(data).__name__}")
    return data


def _read_union(kind: Any, data: Any, where: str, lenient: bool) -> Any:
    members = [member for member in typing.get_args(kind) if member is not type(None)]
    nullable = len(members) < len(typing.get_args(kind))
    if data is None and nullable:
        return None
    if len(members) == 1 and not lenient:
        return read_value(members[0], data, where)
    for member in members:
        with contextlib.suppress(WireError):
            return read_value(member, data, where, lenient=lenient)
    if nullable and lenient:
        return None
    raise WireError(f"{where}: {type(data).__name__} fits no member of {kind}")


def _read_container(origin: Any, arguments: tuple[Any, ...], data: Any, where: str, lenient: bool) -> Any:
    if origin in (dict, Mapping):
        if not isinstance(data, dict):
            raise WireError(f"{where}: expected dict, got {type(data).__name__}")
        if lenient:
            return dict(_known_items((key, arguments[1], item, f"{where}.{key}") for key, item in data.items()))
        return {key: read_value(arguments[1], item, f"{where}.{key}") for key, item in data.items()}
    if not isinstance(data, (list, tuple)):
        raise WireError(f"{where}: expected list, got {type(data).__name__}")
    fixed = origin is tuple and Ellipsis not in arguments
    kinds = arguments if fixed else arguments[:1] * len(data)
    if len(kinds) != len(data):
        raise WireError(f"{where}: expected {len(kinds)} values, got {len(data)}")
    if lenient and not fixed:
        numbered = [(at, arguments[0], item, f"{where}[{at}]") for at, item in enumerate(data)]
        return origin(value for _, value in _known_items(numbered))
    return origin(
        read_value(kind, item, f"{where}[{index}]", lenient=lenient)
        for index, (kind, item) in enumerate(zip(kinds, data, strict=True))
    )


def _known_items(items: Iterable[tuple[Any, Any, Any, str]]) -> Iterator[tuple[Any, Any]]:
    """Key and value of those of the items (key, type, value, place) that this version knows."""
    for key, kind, item, where in items:
        with contextlib.suppress(WireError):
            yield key, read_value(kind, item, where, lenient=True)


def _read_dataclass(cls: type, data: Any, where: str, lenient: bool) -> Any:
    if not isinstance(data, dict):
        raise WireError(f"{where}: expected an object, got {type(data).__name__}")
    values: dict[str, Any] = {}
    for name, kind, required in _field_types(cls):
        key = key_of(name)
        if key in data:
            try:
                values[name] = read_value(kind, data[key], f"{where}.{key}", lenient=lenient)
            except WireError:
                if required or not lenient:
                    raise
        elif required:
            raise WireError(f"{where}.{key} is missing")
    return cls(**values)
