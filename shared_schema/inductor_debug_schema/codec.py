"""Dataclasses to plain values and back, for msgpack and JSON alike.

Written here, and not taken from a library, because workers run in the user's interpreter where only torch and msgpack
may be assumed. Unknown keys are ignored, so that a newer peer can add fields; a missing or ill-typed one is a
`WireError`.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union

T = TypeVar("T")


class WireError(ValueError):
    """A value from the wire does not fit the type it should have; the message names the field."""


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


def from_wire(cls: type[T], data: Any) -> T:
    """Rebuilds a value of type `cls` from what `to_wire` made.

    Raises:
        WireError: `data` does not have the shape of `cls`.
    """
    return typing.cast(T, _read(cls, data, getattr(cls, "__name__", str(cls))))


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


def _read(kind: Any, data: Any, where: str) -> Any:
    if kind is Any:
        return data
    origin = typing.get_origin(kind)
    if origin is Union or origin is types.UnionType:
        return _read_union(kind, data, where)
    if origin in (list, tuple, frozenset, dict):
        return _read_container(origin, typing.get_args(kind), data, where)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError as error:
            raise WireError(f"{where}: {error}") from None
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _read_dataclass(kind, data, where)
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise WireError(f"{where}: expected {kind.__name__}, got {type(data).__name__}")
    return data


def _read_union(kind: Any, data: Any, where: str) -> Any:
    for member in typing.get_args(kind):
        if member is type(None):
            if data is None:
                return None
            continue
        try:
            return _read(member, data, where)
        except WireError:
            continue
    raise WireError(f"{where}: {type(data).__name__} fits no member of {kind}")


def _read_container(origin: Any, arguments: tuple[Any, ...], data: Any, where: str) -> Any:
    if origin is dict:
        if not isinstance(data, dict):
            raise WireError(f"{where}: expected dict, got {type(data).__name__}")
        return {key: _read(arguments[1], item, f"{where}.{key}") for key, item in data.items()}
    if not isinstance(data, (list, tuple)):
        raise WireError(f"{where}: expected list, got {type(data).__name__}")
    items = [_read(arguments[0], item, f"{where}[{index}]") for index, item in enumerate(data)]
    return items if origin is list else origin(items)


def _read_dataclass(cls: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise WireError(f"{where}: expected an object, got {type(data).__name__}")
    values: dict[str, Any] = {}
    for name, kind, required in _field_types(cls):
        key = key_of(name)
        if key in data:
            values[name] = _read(kind, data[key], f"{where}.{key}")
        elif required:
            raise WireError(f"{where}.{key} is missing")
    return cls(**values)
