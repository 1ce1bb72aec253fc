"""Iterators among arguments: whoever runs a target uses them up, so each run is given one of its own."""

from __future__ import annotations

import copy
from typing import Any

_CONTAINERS: tuple[Any, ...] = ([], (), {}, {}.values(), {}.items(), set(), range(0), range(1 << 99), "")
_BY_THEMSELVES = tuple(type(iter(container)) for container in _CONTAINERS)
"""Iterators that walk over a container. Those over other iterators would share these with their copies."""


def own_iterator(value: Any) -> Any:
    """An iterator that stands where `value` does and moves by itself; anything else as it is."""
    return copy.copy(value) if type(value) in _BY_THEMSELVES else value
