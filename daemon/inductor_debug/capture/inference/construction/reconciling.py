"""Other values for constructor arguments that nobody wrote down, under which two sizes that differed may be equal.

A class may want two of its widths equal, the one a multiple of the other, or their sum to be a third: residual blocks,
tied weights. What was invented for them then contradicts itself, and is no fault of the class. Nothing is built here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from inductor_debug.capture.inference.construction.given_arguments import Construction
from inductor_debug.capture.inference.specs.specs import ConstantSpec

Changes = tuple[tuple[str, Any], ...]
"""Values for some arguments, by name."""


def _in_place(value: int, have: int, want: int) -> int:
    return want if value == have else 0


def _in_proportion(value: int, have: int, want: int) -> int:
    return 0 if value * want % have else value * want // have


def _by_difference(value: int, have: int, want: int) -> int:
    return value + want - have


_FOLLOWS: tuple[Callable[..., int], ...] = (_in_place, _in_proportion, _by_difference)
"""How a size may follow from an argument, likeliest first: what the argument must be for it to be the one wanted."""


def reconciled(construction: Construction, left: int, right: int) -> Iterator[Changes]:
    """Changes of invented whole numbers that may make two positive sizes equal, likeliest first, each once."""
    seen: set[str] = set()
    for follows in _FOLLOWS:
        for have, want in ((left, right), (right, left)):
            wanted = functools.partial(follows, have=have, want=want)
            for name, value in _numbers(construction):
                for changed in _changed(value, wanted):
                    if (text := f"{name}={changed}") not in seen:
                        seen.add(text)
                        yield ((name, changed),)


def _numbers(construction: Construction) -> Iterator[tuple[str, Any]]:
    """The invented arguments that are whole numbers, or lists of them."""
    for item in construction.arguments:
        value = item.spec.value if type(item.spec) is ConstantSpec and item.name in construction.invented else None
        if all(type(part) is int for part in (value if isinstance(value, list | tuple) else [value])):
            yield item.name, value


def _changed(value: Any, wanted: Callable[[int], int]) -> Iterator[Any]:
    """A number as it is wanted, or a list with one number as it is wanted, the last one first."""
    if isinstance(value, int):
        if (number := wanted(value)) > 0 and number != value:
            yield number
        return
    for index in reversed(range(len(value))):
        for number in _changed(value[index], wanted):
            yield type(value)((*value[:index], number, *value[index + 1 :]))
