"""From what a layer takes of sizes that were multiplied on their way to it to the guesses that share it out among them.

`x.permute(0, 4, 3, 1, 2).reshape(n, persons * points * channels, t)` makes one size of three. None of them alone is
what the layer was built for: each is a number of the model's, or what the others leave of it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from inductor_debug.capture.inference.search.trial import TrialOutcome
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.spec_changes import redimensioned
from inductor_debug.capture.inference.specs.specs import Guess, TensorSpec
from inductor_debug.capture.inference.usage.module_inputs import accepted

_MOST_FACTORS = 4
_MOST_NUMBERS = 12
_MOST_GUESSES = 24


def by_product(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """Other sizes whose product is what a layer takes, of tensors that were as large as what it was given."""
    for got, wanted in _refused(outcome):
        for name, spec in outcome.guess.tensors():
            yield from _shared_out(outcome.guess, name, spec, (got, wanted), (*plan.built_of, *plan.widths))
            yield from _rest_of(outcome.guess, name, spec, got, wanted)


def _refused(outcome: TrialOutcome) -> Iterator[tuple[int, int]]:
    """The sizes that a layer was given, each with the one that it takes there."""
    for received in outcome.received if outcome.module is not None else ():
        for spec in accepted(outcome.module, received.position) if outcome.module is not None else ():
            if len(spec.dims) == len(received.shape):
                pairs = zip(received.shape, spec.dims, strict=True)
                yield from ((size, dim) for size, dim in pairs if isinstance(dim, int) and dim != size)


def _shared_out(
    guess: Guess, name: str, spec: TensorSpec, sizes: tuple[int, int], numbers: Sequence[int]
) -> Iterator[Guess]:
    """Numbers of the model's for several sizes of a tensor whose product came out, in place of the one that is wanted.

    Args:
        guess: the call.
        name: the argument.
        spec: the tensor.
        sizes: the product as it came out, and as it is to be.
        numbers: those that the model was built of.
    """
    got, wanted = sizes
    shape = spec.shape(guess.size_of())
    places = [place for place, size in enumerate(shape) if place and size > 1]
    known = [number for number in dict.fromkeys(numbers) if 1 < number < wanted and wanted % number == 0]
    factors = list(dict.fromkeys((*known, *(wanted // number for number in known))))
    for count in range(2, _MOST_FACTORS):
        for several in itertools.combinations(places, count):
            if math.prod(shape[place] for place in several) == got:
                fitting = itertools.product(factors[:_MOST_NUMBERS], repeat=count)
                each = (numbers for numbers in fitting if math.prod(numbers) == wanted)
                for chosen in itertools.islice(each, _MOST_GUESSES):
                    yield _with(guess, name, zip(several, chosen, strict=True))


def _rest_of(guess: Guess, name: str, spec: TensorSpec, got: int, wanted: int) -> Iterator[Guess]:
    """What one size of a product leaves of it for another, which had no part in it so far."""
    shape = spec.shape(guess.size_of())
    if 0 < got < wanted and got in shape[1:] and wanted % got == 0:
        for place, size in enumerate(shape):
            if place and size == 1:
                yield _with(guess, name, [(place, wanted // got)])


def _with(guess: Guess, name: str, sizes: Iterator[tuple[int, int]] | Sequence[tuple[int, int]]) -> Guess:
    """The same call with other sizes for some places of a tensor's."""
    for place, size in sizes:
        spec = guess.spec_of(name)
        if isinstance(spec, TensorSpec):
            guess = redimensioned(guess, name, spec, place, size)
    return guess
