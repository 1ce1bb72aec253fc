"""Whole numbers among a constructor's arguments that say how large an input is. Values are only looked into."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

from inductor_debug.capture.inference.construction import signatures
from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.values.symbolic_values import SymbolicValue


def numbers_in(known: dict[str, Any], deepest: int = 2) -> tuple[int, ...]:
    """Integers among the arguments, and in configurations among them, that say how large an input is."""
    found = []
    for name, given in sorted(known.items(), key=lambda item: not argument_names.is_surely_of_image(item[0])):
        value = given[0] if isinstance(given, tuple | list) and given else given
        if isinstance(value, int) and not isinstance(value, bool) and argument_names.is_extent(name) and value > 1:
            found += [item for item in given if type(item) is int] if isinstance(given, tuple | list) else [value]
        elif deepest:
            found += numbers_in(_parts_of(given), deepest - 1)
    return tuple(found)


def _parts_of(value: Any) -> dict[str, Any]:
    """What a configuration is made of, as far as that is written down."""
    if isinstance(value, SymbolicValue):
        parameters = {item.name: item.default for item in signatures.known_parameters(value.kind) or []}
        return {**parameters, **dict(zip(parameters, value.args, strict=False)), **value.kwargs, **value.attributes}
    if isinstance(value, SimpleNamespace) or dataclasses.is_dataclass(value):
        return vars(value)
    return {key: item for key, item in value.items() if isinstance(key, str)} if type(value) is dict else {}
