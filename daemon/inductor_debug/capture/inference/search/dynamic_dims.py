"""Which sizes of a call that runs are free, found by changing them: a size is free when the model does not object.

The call that is traced has sizes which occur nowhere in the model, so that a size of ours is recognised wherever it
turns up as a number. What users are shown keeps the usual sizes.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from torch import nn

from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.specs import Guess
from inductor_debug.capture.runtime import foreign

_SMALL = 4
_EXTENTS = frozenset("HWFLA")
"""Sizes of images and signals, which strides divide; others are rather the lengths of loops."""
_QUARTERS_OF_SMALL = (28, 20, 44, 52, 68)
_QUARTERS_OF_EXTENTS = (12, 20, 8, 28)
_QUARTERS = (5, 7, 6, 9, 12)
"""What a size is multiplied with, in quarters."""
_SPREAD = (2, 3)


@dataclass(frozen=True, slots=True)
class Found:
    """A call that runs, the sizes of it that are free, and the same call with sizes that the model has nowhere."""

    guess: Guess
    free: frozenset[str]
    traced: Guess

    @classmethod
    def only(cls, guess: Guess) -> Found:
        """A call none of whose sizes is known to be free."""
        return cls(guess, frozenset(), guess)


def settled(trials: Trials, guess: Guess, deadline: float) -> Found:
    """The call with distinct sizes where that is possible, and its free sizes. Gives up guessing at `deadline`."""
    trials.materialise(guess)
    sizes = guess.size_of()
    names = [name for name in guess.used_sizes() if sizes[name] > 1]
    changed = _changeable(trials, guess, names, deadline) if names else {}
    values: dict[int, str] = {}
    for name in names:
        clash = values.setdefault(sizes[name], name)
        if clash != name and name in changed and time.process_time() < deadline:
            for factor in (3, 2, 5):
                distinct = guess.with_sizes(**{name: sizes[name] * factor})
                if sizes[name] * factor not in sizes.values() and trials.run(distinct).error is None:
                    guess = distinct
                    break
            sizes = guess.size_of()
    return Found(guess, frozenset(changed), guess.with_sizes(**changed))


def numbers_of(model: Any) -> frozenset[int]:
    """The numbers that a model is made of: sizes of its parameters, and integers among the attributes of its parts."""
    if not isinstance(model, nn.Module):
        return frozenset()
    found: set[int] = set()
    for part in foreign.parts_of(model):
        for tensor in (*part._parameters.values(), *part._buffers.values()):
            if tensor is not None and not nn.parameter.is_lazy(tensor):
                found.update(int(size) for size in tensor.shape)
        for value in part.__dict__.values():
            found.update(item for item in (value if isinstance(value, tuple | list) else (value,)) if type(item) is int)
    return frozenset(found)


def _changeable(trials: Trials, guess: Guess, names: list[str], deadline: float) -> dict[str, int]:
    """The free sizes among `names`, each with the other value that it may have together with all the others."""
    sizes = guess.size_of()
    taken = numbers_of(trials.subject) | set(sizes.values())
    apart: dict[str, int] = {}
    for name in names:
        apart[name] = next(_others(name, sizes[name], {*taken, *apart.values()}))
    for changed in (apart, {name: sizes[name] * 2 for name in names}):
        if trials.run(guess.with_sizes(**changed)).error is None:
            return changed
    free: dict[str, int] = {}
    for name in names:
        other = _one_of(trials, guess, [name], [apart[name], *_spread(sizes[name])], deadline)
        # What there was no time to try counts as free: nobody asked for it.
        if other is not None or time.process_time() > deadline:
            free[name] = other or sizes[name]
    for value in {sizes[name] for name in names}:
        tied = [name for name in names if sizes[name] == value]
        if len(tied) > 1 and free.keys().isdisjoint(tied):
            other = _one_of(trials, guess, tied, [next(_others(tied[0], value, taken)), value * 2], deadline)
            free.update(dict.fromkeys(tied, other) if other is not None else {})
    if len(free) > 1 and trials.run(guess.with_sizes(**free)).error is not None:
        free = {name: size for name, size in free.items() if name == "B"}
    return free


def _one_of(trials: Trials, guess: Guess, names: list[str], others: list[int], deadline: float) -> int | None:
    """The first of `others` that all of `names` may be."""
    for other in others:
        if time.process_time() > deadline:
            return None
        if trials.run(guess.with_sizes(**dict.fromkeys(names, other))).error is None:
            return other
    return None


def _spread(size: int) -> list[int]:
    return [other for other in (*(size * factor for factor in _SPREAD), size // 2) if other > 1]


def _others(name: str, size: int, taken: Collection[int]) -> Iterator[int]:
    """Other values for a size, with most of its divisors, that are not `taken`; at last one that is."""
    quarters = _QUARTERS_OF_SMALL if size < _SMALL else _QUARTERS_OF_EXTENTS if name in _EXTENTS else _QUARTERS
    for number in quarters:
        if size * number % 4 == 0 and size * number // 4 not in taken:
            yield size * number // 4
    yield size * 3
