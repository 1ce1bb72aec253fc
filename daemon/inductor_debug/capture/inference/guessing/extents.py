"""How large the images and how long the sequences of a model are, as far as its own numbers say.

Reads attributes of the model, of its parts and of its configuration, and what its constructor was given; runs nothing.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from torch import nn

from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.specs.call_plan import CallPlan, Parameter
from inductor_debug.capture.runtime import foreign

_MOST_PARTS = 40
_OF_INPUT = re.compile(r"(n_?|num_)?(in|input)_?(channels?|features?|dims?|size|planes|width)", re.IGNORECASE)


def sized_plan(
    parameters: list[Parameter],
    owner: nn.Module | None,
    hints: tuple[int, ...],
    image_sides: tuple[tuple[int, int], ...] = (),
) -> CallPlan:
    """A plan for these arguments, with the sizes that numbers of the model and of its constructor tell."""
    told = list(_numbers(owner))
    own = [number for _, number in told]
    numbers = tuple(dict.fromkeys((*own, *hints)))
    # What is called after images comes first where images are meant.
    of_images = [number for name, number in told if argument_names.is_extent_of_image(name)]
    images = tuple(number for number in dict.fromkeys((*of_images, *numbers)) if 8 <= number <= 1024)
    kept = {name: value for name, value in getattr(owner, "__dict__", {}).items() if type(value) is int and value > 0}
    batches = tuple(dict.fromkeys(value for name, value in kept.items() if argument_names.is_batch(name)))
    parts = frozenset(name for name, _ in owner.named_children()) if owner is not None else frozenset[str]()
    held = (argument_names.sides_of_image(name, value) for name, value in getattr(owner, "__dict__", {}).items())
    sides = tuple(dict.fromkeys((*image_sides, *filter(None, held))))
    return CallPlan(parameters, images, sides, numbers, batches, tuple(dict.fromkeys(kept.values())), parts=parts)


def says_image_size(owner: nn.Module) -> bool:
    """Whether numbers of the model are called after images beyond doubt."""
    return any(argument_names.is_surely_of_image(name) for name, _ in _numbers(owner))


def built_of(subject: Any, given: Mapping[str, int]) -> tuple[int, ...]:
    """The whole numbers that a model was built of: those that its constructor was given, else has by default."""
    return tuple(dict.fromkeys(_given_to(subject, given).values())) if isinstance(subject, nn.Module) else ()


def declared_by(subject: Any, given: Mapping[str, int]) -> frozenset[int]:
    """The numbers that a model has as sizes of its input: of images, lengths, and what is called so (`in_channels`).

    Where it has a layer for each, they are as many as these are.

    Args:
        subject: the model; a function declares nothing.
        given: what its constructor was given, which it need not have kept.
    """
    if not isinstance(subject, nn.Module):
        return frozenset()
    own = ((name, value) for name, value in vars(subject).items() if type(value) is int)
    of_input = (value for name, value in own if _OF_INPUT.match(name))
    built = _given_to(subject, given)
    of_built = (value for name, value in built.items() if _OF_INPUT.match(name) or argument_names.is_extent(name))
    several = (part for part in foreign.parts_of(subject) if isinstance(part, nn.ModuleList | nn.ParameterList))
    counted = (len(part) for part in itertools.islice(several, _MOST_PARTS))
    return frozenset((*of_input, *of_built, *counted, *(number for _, number in _numbers(subject))))


def _given_to(subject: nn.Module, given: Mapping[str, int]) -> dict[str, int]:
    """The whole numbers of a model's constructor by name: what it was given, else what it has by default."""
    defaults = {item.name: item.default for item in foreign.parameters(type(subject)) or ()}
    return {name: value for name, value in {**defaults, **given}.items() if type(value) is int}


def _numbers(owner: nn.Module | None) -> Iterator[tuple[str, int]]:
    """Integers that are called like sizes of images or lengths: the model's own, then those of its parts."""
    parts = itertools.islice(foreign.parts_of(owner), 1, _MOST_PARTS) if owner is not None else ()
    own = [part for part in parts if not type(part).__module__.startswith("torch.")]
    sources: list[Any] = [owner, getattr(owner, "config", None), getattr(owner, "cfg", None), *own]
    for source in sources:
        for name, given in getattr(source, "__dict__", {}).items():
            value = given[0] if isinstance(given, tuple | list) and given else given
            if (
                not argument_names.is_extent(name)
                or not isinstance(value, int)
                or isinstance(value, bool)
                or value <= 1
            ):
                continue
            yield name, value
            if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], int):
                # Pixels or patches in a row.
                yield name, math.prod(given)
