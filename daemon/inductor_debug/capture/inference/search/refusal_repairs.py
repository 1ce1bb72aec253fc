"""From what code or torch asks for where it refuses to the guesses that meet it: ranks, sizes, shapes that are alike.

Where nothing was asked of the inputs (`refusals`) there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inductor_debug.capture.inference.search.refusals import Refusal, refusal_of
from inductor_debug.capture.inference.search.trial import TrialOutcome
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.spec_changes import (
    ranks_together,
    redimensioned,
    replaced,
    resized_alone,
    shifted,
)
from inductor_debug.capture.inference.specs.specs import ConstantSpec, Guess, TensorSpec

_WINDOWS = 4
"""How much longer a sound is than the half of a window that it is padded with."""
_LONGEST_SOUND = 100_000


def by_refusal(outcome: TrialOutcome, plan: CallPlan) -> Iterator[Guess]:
    """What the condition asks for under which code has raised: ranks and sizes, arguments that were left out."""
    asked, guess = refusal_of(outcome.error), outcome.guess
    for name, like in asked.alike:
        own, other = guess.spec_of(name), guess.spec_of(like)
        if isinstance(own, TensorSpec) and isinstance(other, TensorSpec):
            yield guess.with_spec(name, replace(own, dims=other.dims))
    measured = {name for name, _ in (*asked.sizes, *asked.multiples)} | asked.ranks.keys()
    for name, spec in guess.tensors():
        if name in measured and guess.spec_of(name) == spec:
            yield from _in_proportion(guess, name, spec, asked)
            yield from _measured(guess, name, spec, asked)
    if any(guess.spec_of(name) is None for name in asked.ranks):
        # What became of an argument, nobody knows of which.
        yield from ranks_together(guess, tuple(asked.ranks.values()))
    for name, spec in guess.tensors():
        if name in asked.bounded and spec.dtype.startswith(("float", "bfloat")):
            yield replaced(guess, name, spec, replace(spec, filled=1))
    for name in asked.flags if all(isinstance(guess.spec_of(item), TensorSpec) for item in asked.flags) else ():
        for value in (False, True):
            yield guess.with_spec(name, ConstantSpec(repr(value), value))
    missing = [name for name in plan.optional if name in asked.missing and guess.spec_of(name) is None]
    for names in [missing, *([name] for name in missing if len(missing) > 1)]:
        given = guess
        for name in names:
            given = plan.with_optional(given, name, plan.candidates_of(name)[0])
        yield given


def _in_proportion(guess: Guess, name: str, spec: TensorSpec, asked: Refusal) -> Iterator[Guess]:
    """Half of a size that was refused after it had doubled: of every tensor that it came from, as far as is known.

    An image that was put below another of its size is as high as both.
    """
    sizes, rank, changed = guess.size_of(), len(spec.dims), guess
    shape = spec.shape(sizes)
    wanted = {index: size for (of, index), size in asked.sizes.items() if of == name and -rank <= index < rank}
    had = {index: asked.had.get((name, index), 0) for index in wanted}
    if all(had[index] in (0, shape[index]) or shape[index] * wanted[index] % had[index] for index in wanted):
        return
    for index, size in wanted.items():
        for other, alike in guess.tensors() if had[index] else ():
            if guess.spec_of(other) == alike and len(alike.dims) == rank and alike.shape(sizes)[index] == shape[index]:
                now = changed.spec_of(other)
                assert isinstance(now, TensorSpec)
                changed = resized_alone(changed, other, now, index % rank, shape[index] * size // had[index])
    yield changed


def _measured(guess: Guess, name: str, spec: TensorSpec, asked: Refusal) -> Iterator[Guess]:
    """One tensor of the rank and of the sizes that are asked of it."""
    rank = len(spec.dims)
    if name in asked.ranks:  # it may have got more dimensions on the way
        rank += asked.ranks[name] - asked.had_ranks.get(name, rank)
    for (of, index), factor in asked.multiples.items():
        if of == name and -rank <= index < rank == len(spec.dims):
            size = spec.shape(guess.size_of())[index]
            yield redimensioned(guess, name, spec, index % rank, max(size - size % factor, factor))
    for other in shifted(guess, name, spec, rank - len(spec.dims)) if rank != len(spec.dims) else [guess]:
        changed = other.spec_of(name)
        assert isinstance(changed, TensorSpec)
        dims = list(changed.dims)
        for (of, index), size in asked.sizes.items():
            if of == name and -len(dims) <= index < len(dims):
                dims[index] = size
        yield other.with_spec(name, replace(changed, dims=tuple(dims)))


def by_half(outcome: TrialOutcome) -> Iterator[Guess]:
    """Where a mask has chosen nothing (`x[~mask]`), one that chooses every second; tokens that are no padding."""
    for name, spec in outcome.guess.tensors() if outcome.raised.about_nothing else ():
        if spec.dtype == "bool" and not spec.is_halved:
            yield replaced(outcome.guess, name, spec, replace(spec, filled=2))
        if spec.dtype.startswith("int") and spec.filled == "":
            yield replaced(outcome.guess, name, spec, replace(spec, filled=1))


def by_parts(outcome: TrialOutcome) -> Iterator[Guess]:
    """No more columns than there are parts for them: `for i in range(x.shape[1]): self.parts[i](x[:, i])`."""
    parts, sizes = outcome.raised.parts_there_are or 0, outcome.guess.size_of()
    for name, spec in outcome.guess.tensors() if parts else ():
        for position, size in enumerate(spec.shape(sizes)):
            if position and size > parts:
                yield resized_alone(outcome.guess, name, spec, position, parts)


def by_padding(outcome: TrialOutcome) -> Iterator[Guess]:
    """Sounds and images that are long enough to be padded with what they have: a window is half of it wide."""
    padding, got = outcome.raised.padded_size or (0, 0)
    sizes = outcome.guess.size_of()
    for name in outcome.guess.used_sizes():
        if 0 < sizes[name] == got <= padding and _WINDOWS * padding <= _LONGEST_SOUND:
            yield outcome.guess.with_sizes(**{name: _WINDOWS * padding})
