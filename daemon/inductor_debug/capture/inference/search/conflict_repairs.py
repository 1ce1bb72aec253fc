"""Guesses that mend what contradicts itself where torch refused a call: only the inputs are changed that it came of.

That two sizes should be equal, or that one should be a number which the code gives, is an equation between dimensions
of inputs. Each is solved for the dimensions that have such a size; sizes are distinct, so these are hardly ever others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from inductor_debug.capture.failures.conflicts import Conflict, ConflictKind, Side
from inductor_debug.capture.inference.search.operand_watch import RefusedOperands
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.spec_changes import (
    replaced,
    replaced_item,
    shifted,
    with_all_sizes,
)
from inductor_debug.capture.inference.specs.specs import DTYPE_LETTERS, Dimension, Guess, TensorSpec, tensors_in

_RANKS = (ConflictKind.RANK, ConflictKind.INDEX)
_LARGEST = 100_000
_MOST_MENDED = 24
"""Contradictions that are mended in a row."""
_MOST_MENDS = 6
"""Ways to mend one that are tried."""
_Contradiction = tuple[tuple[int, ...], ConflictKind, int, "int | None", "int | None", "int | None"]


@dataclass(frozen=True, slots=True)
class _Place:
    """One tensor of a call: which one of its argument."""

    name: str
    number: int
    spec: TensorSpec


def mended(trials: Trials, outcome: TrialOutcome, allows: Callable[[Guess], bool]) -> TrialOutcome:
    """How far a call comes that failed, if its contradictions are mended one after the other.

    A mend is kept that brings the call on, or to another contradiction in the same place: equations are solved one by
    one where each can be. Which is true of `outcome`, if none can.

    Args:
        trials: runs calls.
        outcome: how the call ended.
        allows: whether a call may be tried.
    """
    met = {_contradiction(outcome)}
    for _ in range(_MOST_MENDED):
        others = filter(allows, itertools.islice(by_conflict(outcome), _MOST_MENDS))
        better = next((other for other in map(trials.run, others) if _is_better(other, outcome, met)), None)
        if better is None:
            break
        outcome = better
        if outcome.error is None:
            break
        met.add(_contradiction(outcome))
    return outcome


def _is_better(outcome: TrialOutcome, before: TrialOutcome, met: Collection[_Contradiction | None]) -> bool:
    if outcome.error is None or outcome.progress > before.progress:
        return True
    return outcome.progress == before.progress and _contradiction(outcome) not in {None, *met}


def _contradiction(outcome: TrialOutcome) -> _Contradiction | None:
    """What tells a contradiction from others in the same place; sizes do not."""
    refused = outcome.refused()
    if refused is None:
        return None
    left, right = refused.conflict.left, refused.conflict.right
    other = (right.operand, right.dim) if right is not None else (None, None)
    return outcome.progress, refused.conflict.kind, left.operand, left.dim, *other


def by_conflict(outcome: TrialOutcome) -> Iterator[Guess]:
    """Guesses under which the two sides of a contradiction may agree."""
    refused = outcome.refused()
    if refused is None:
        return
    guess, conflict = outcome.guess, refused.conflict
    if conflict.kind is ConflictKind.INDEX and conflict.left.dim is not None and isinstance(conflict.wanted, int):
        yield from itertools.chain(*_sized(guess, refused, conflict.left, max(conflict.wanted + 1, -conflict.wanted)))
    elif conflict.kind in _RANKS and isinstance(conflict.wanted, int):
        yield from _of_rank(guess, refused, conflict.wanted)
    elif conflict.kind is ConflictKind.DTYPE:
        for place in _inputs(guess, refused, conflict.left):
            if isinstance(conflict.wanted, str) and conflict.wanted in DTYPE_LETTERS:
                yield from _with(guess, place, replace(place.spec, dtype=conflict.wanted, filled=""))
    elif conflict.kind is ConflictKind.WINDOW and isinstance(conflict.wanted, int) and conflict.left.size > 0:
        times = -(-conflict.wanted // conflict.left.size)
        yield from _together(guess, refused, conflict.left, times * conflict.left.size)
    elif conflict.kind in (ConflictKind.SIZE, ConflictKind.VOLUME, ConflictKind.DIVISIBILITY):

        def unlikeliness(equation: tuple[Side, int]) -> tuple[bool, int]:
            # What is broadcast from one agrees with everything, and shows nothing; what came of one input alone has
            # hardly been computed for anything else.
            return equation[1] == 1, len(_inputs(guess, refused, equation[0]))

        sides = sorted(_equations(conflict), key=unlikeliness)
        ways = [_sized(guess, refused, side, size) for side, size in sides]
        yield from itertools.chain.from_iterable(itertools.chain.from_iterable(zip(*ways, strict=True)))
        if conflict.right is None and isinstance(conflict.wanted, int) and conflict.left.dim is not None:
            yield from _given_otherwise(guess, conflict.wanted, conflict.left.size)


def _of_rank(guess: Guess, refused: RefusedOperands, wanted: int) -> Iterator[Guess]:
    """What the operand came of with as many dimensions more, or fewer, as it has too few or too many.

    Where it has too many, it is rather another tensor that has too few: what the operand was to be like.
    """
    conflict = refused.conflict
    if conflict.kind is ConflictKind.INDEX:
        wanted = -wanted if wanted < 0 else wanted + 1
    lacking = conflict.left.size - wanted
    partners = [number for number, rank in enumerate(refused.ranks) if rank == wanted and lacking > 0]
    for number in partners:
        for place in _inputs(guess, refused, Side(number, None, wanted)):
            yield from _shifted(guess, place, lacking)
    own = _inputs(guess, refused, conflict.left)
    for place in own:
        yield from _shifted(guess, place, -lacking)
    # Numbers that the call was given may have been read from the shape of any input of that rank.
    for place in _places(guess) if lacking > 0 and not partners else ():
        if place not in own and len(place.spec.dims) == wanted:
            yield from _shifted(guess, place, lacking)


def _shifted(guess: Guess, place: _Place, difference: int) -> Iterator[Guess]:
    """What is in one place with as many dimensions more, or fewer."""
    for changed in shifted(guess, place.name, place.spec, difference):
        yield from _with(guess, place, _places(changed)[_places(guess).index(place)].spec)


def _equations(conflict: Conflict) -> Iterator[tuple[Side, int]]:
    """Each side that inputs may be changed for, and the size that it should have."""
    left, right, wanted = conflict.left, conflict.right, conflict.wanted
    if conflict.kind is ConflictKind.DIVISIBILITY:
        if isinstance(wanted, int) and wanted > 0:
            yield left, max(left.size - left.size % wanted, wanted)
        return
    if right is not None:
        yield right, left.size
    other = wanted if isinstance(wanted, int) else right.size if right is not None else 0
    if other > 0:
        yield left, other


def _inputs(guess: Guess, refused: RefusedOperands, side: Side) -> list[_Place]:
    """The tensors of the call that a side came of."""
    places = _places(guess)
    numbers = refused.sources[side.operand] if side.operand < len(refused.sources) else ()
    return [places[number] for number in sorted(numbers) if number < len(places)]


def _places(guess: Guess) -> list[_Place]:
    """All tensors of a call."""
    return [
        _Place(argument.name, number, spec)
        for argument in guess.arguments
        for number, spec in enumerate(tensors_in(argument.spec))
    ]


def _with(guess: Guess, place: _Place, spec: TensorSpec) -> list[Guess]:
    """Another tensor in one place: in place of all of its argument that are like it, and of this one alone."""
    together = replaced(guess, place.name, place.spec, spec)
    alone = with_all_sizes(replaced_item(guess, place.name, place.number, spec))
    return [together] if together == alone else [together, alone]


def _sized(guess: Guess, refused: RefusedOperands, side: Side, wanted: int) -> tuple[list[Guess], ...]:
    """What a side came of with the size that it should have, likeliest first.

    Where the input has it itself, then in proportion, or where something is taken off or joined, `x[:, 32:]`: in the
    same dimension, then in others. A batch is hardly ever of a size that somebody else wants.
    """
    sizes, found = guess.size_of(), tuple(list[Guess]() for _ in range(4))
    exact, near, apart, cut = found
    for place in _inputs(guess, refused, side):
        for position, dim in sorted(enumerate(place.spec.dims), key=lambda item: item[0] == 0):
            size, is_near = dim if isinstance(dim, int) else sizes[dim], position == side.dim
            if side.dim is not None and size == side.size:
                exact += [*_alone(guess, place, position, wanted), *_everywhere(guess, dim, wanted)]
                continue
            if (other := _in_proportion(size, side.size, wanted, halved=is_near)) is not None:
                changed = [*_everywhere(guess, dim, other), *_alone(guess, place, position, other)]
                (near if is_near and position else apart).extend(changed)
            longer = size + wanted - side.size
            if position and (is_near or size > side.size) and 1 < longer <= _LARGEST:
                (near if is_near else cut).extend(_alone(guess, place, position, longer))
    return found


def _together(guess: Guess, refused: RefusedOperands, side: Side, wanted: int) -> Iterator[Guess]:
    """All that a side came of in proportion, images of several sizes, in the dimension that is as far from the end."""
    sizes, changed = guess.size_of(), guess
    from_end = (side.dim or 0) - refused.ranks[side.operand]
    places = [place for place in _inputs(guess, refused, side) if len(place.spec.dims) >= -from_end]
    called = {place.spec.dims[from_end] for place in places}
    if len(called) == 1 and isinstance(name := called.pop(), str):
        places, changed = [], guess.with_sizes(**{name: sizes[name] * wanted // side.size})
    for place in places:
        dims = list(place.spec.dims)
        size = place.spec.shape(sizes)[from_end]
        dims[from_end] = size * wanted // side.size
        changed = replaced_item(changed, place.name, place.number, replace(place.spec, dims=tuple(dims)))
    if changed != guess:
        yield changed


def _given_otherwise(guess: Guess, number: int, wanted: int) -> Iterator[Guess]:
    """Inputs with another size where they have a number of the call's: code took it from there, `b, t, n = x.shape`."""
    sizes = guess.size_of()
    for place in _places(guess):
        for position, dim in enumerate(place.spec.dims):
            if number > 1 and number == (dim if isinstance(dim, int) else sizes[dim]):
                yield from [*_alone(guess, place, position, wanted), *_everywhere(guess, dim, wanted)]


def _in_proportion(size: int, have: int, wanted: int, *, halved: bool) -> int | None:
    """What a size should be of which a multiple, `have`, was computed, so that it comes out as wanted.

    Where it may have been `halved`, that may be a part of it as well.
    """
    if size < 1 or have < 1 or (have % size and not (halved and size % have == 0)) or wanted * size % have:
        return None
    other = wanted * size // have
    return other if 0 < other <= _LARGEST and other != size else None


def _alone(guess: Guess, place: _Place, position: int, size: int) -> list[Guess]:
    """Another size for one dimension; of a size that has a name it gets the name, and stays free with it."""
    sizes, dims = guess.size_of(), place.spec.dims
    named: Dimension = next((known for known in guess.used_sizes() if sizes[known] == size), size)
    return _with(guess, place, replace(place.spec, dims=(*dims[:position], named, *dims[position + 1 :])))


def _everywhere(guess: Guess, dim: Dimension, size: int) -> list[Guess]:
    """Another size for all that share the name of a dimension, where several do."""
    if isinstance(dim, int) or sum(other == dim for _, spec in guess.tensors() for other in spec.dims) < 2:
        return []
    return [guess.with_sizes(**{dim: size})]
