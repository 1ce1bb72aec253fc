"""From a shape that a tensor could not take to guesses with as many elements: last sizes, and sizes in proportion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from inductor_debug.capture.inference.search.trial import TrialOutcome
from inductor_debug.capture.inference.specs.spec_changes import redimensioned, replaced, resized_alone, resized_item
from inductor_debug.capture.inference.specs.specs import Guess, TensorSpec, tensors_in

_LONGEST = 100_000
"""The largest size that a view is taken at its word for."""


def by_view(outcome: TrialOutcome) -> Iterator[Guess]:
    """`shape '[-1, 21]' is invalid for input of size 838272`, `you must pass in 21 values`: a last size is 21."""
    raised, sizes = outcome.raised, outcome.guess.size_of().values()
    asked = [number for number in raised.numbers if raised.by_user and number not in sizes and 1 < number < _LONGEST]
    view = raised.last_size_of_view
    for last in asked[:2] if view is None else [view]:
        for name, spec in outcome.guess.tensors():
            if len(spec.dims) > 1 and spec.dtype == "float32" and spec.dims[-1] != last:
                yield replaced(outcome.guess, name, spec, replace(spec, dims=(*spec.dims[:-1], last)))
                yield from _items_resized(outcome.guess, name, spec, last)


def _items_resized(guess: Guess, name: str, spec: TensorSpec, last: int) -> Iterator[Guess]:
    """Another last size for one of several like tensors in a list: boxes have four numbers, scores one a class."""
    whole = guess.spec_of(name)
    items = list(tensors_in(whole)) if whole is not None else []
    if items.count(spec) > 1:
        yield from (
            resized_item(guess, name, number, len(spec.dims) - 1, last)
            for number, item in enumerate(items)
            if item == spec
        )


def by_volume(outcome: TrialOutcome) -> Iterator[Guess]:
    """`shape '[2, 1, 100]' is invalid for input of size 32`: an argument of 32 elements is to have 200.

    Of what begins with the same sizes the others are missing: `[2, 32, 1, 4]` of `[2, 32]` wants `[2, 32, 4]`.
    """
    wanted, got = outcome.raised.volumes_of_view or (0, 0)
    sizes = outcome.guess.size_of()
    known = tuple(size for size in outcome.raised.shape_of_view if size != 1)
    for name, spec in outcome.guess.tensors():
        shape = spec.shape(sizes)
        if math.prod(shape) == got and 1 < len(shape) < len(known) and known[: len(shape)] == shape and min(known) > 0:
            longer = replace(spec, dims=(*spec.dims, *known[len(shape) :]))
            yield replaced(outcome.guess, name, spec, longer)
        for index, size in enumerate(shape if wanted > 1 and math.prod(shape) == got else ()):
            if size * wanted % got == 0 and index:
                yield redimensioned(outcome.guess, name, spec, index, size * wanted // got)
                yield resized_alone(outcome.guess, name, spec, index, size * wanted // got)
