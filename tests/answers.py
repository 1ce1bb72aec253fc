"""Answers as tests write them: what a test says nothing of is empty, 0, False or None."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

from inductor_debug_schema import from_wire, to_wire

T = TypeVar("T")


def answer(kind: type[T], said: Mapping[str, Any]) -> T:
    """A value of `kind` that has what is said, as on the wire; rows of its tables may be said in part as well."""
    return from_wire(kind, _filled(kind, said))


def row(kind: type[Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """The same on the wire."""
    document: dict[str, Any] = to_wire(answer(kind, said))
    return document


def _filled(kind: Any, said: Any) -> Any:
    """What is said of a value of a type, with what is missing for it."""
    members = [item for item in typing.get_args(kind) if item is not type(None)]
    if typing.get_origin(kind) is typing.Union:
        return said if said is None or len(members) > 1 else _filled(members[0], said)
    if typing.get_origin(kind) is list:
        return [_filled(members[0], item) for item in said]
    if not dataclasses.is_dataclass(kind):
        return said
    filled = dict(said)
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        name = field.name.removesuffix("_")
        if name in said:
            filled[name] = _filled(hints[field.name], said[name])
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            filled[name] = _empty(hints[field.name])
    return filled


def _empty(kind: Any) -> Any:
    if type(None) in typing.get_args(kind):
        return None
    if dataclasses.is_dataclass(kind):
        return _filled(kind, {})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind)).value
    return (typing.get_origin(kind) or kind)()
