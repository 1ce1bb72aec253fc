"""Whether what stops a class does not depend on what it is called with: then the class is at fault, not the guess.

The call that came furthest is varied in every way that the search knows: each size, rank, dtype and argument. Where
nothing gets past the place that refuses, and what contradicts itself there is fixed by the class, or grows past the
size that is wanted without ever meeting it, no call of this kind can run. What user code refuses by an exception of its
own is never judged: it may be right.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from inductor_debug.capture.conflicts import ConflictKind
from inductor_debug.capture.inference.changes import (
    of_rank,
    replaced,
    resized_alone,
    resized_together,
    shifted,
    with_all_sizes,
)
from inductor_debug.capture.inference.judging.doubts import is_plain
from inductor_debug.capture.inference.judging.refusing_call import Pair, RefusedCall, refused_call
from inductor_debug.capture.inference.plan import Plan
from inductor_debug.capture.inference.specs import Argument, ConstantSpec, Guess, SequenceSpec, TensorSpec
from inductor_debug.capture.inference.trial import Outcome, Trials

_SECONDS = 2.5
_MOST_RUNS = 240
_FACTORS = (2, 3, 5)
_LARGEST = 1 << 14
"""How large a size is tried where a larger one is wanted."""
_RESTARTS = 4
_MOST_SHIFTED = 4
_LENGTH = 6
"""How many tensors a list is given, so that those which the code asks for are there."""
_IMAGE = ("H", "W")


@dataclass
class Judgement:
    """What came of varying a call: `runs` is one that runs after all, `blamed` the failure that none avoids.

    `because` is a sentence on why a failure is blamed that some calls may avoid.
    """

    runs: Guess | None = None
    blamed: Outcome | None = None
    furthest: Outcome | None = None
    because: str = ""


def judged(trials: Trials, plan: Plan, best: Outcome, *, precision_known: bool = True) -> Judgement:
    """Decides whose fault it is that no call runs.

    Args:
        trials: runs calls.
        plan: the candidates of every argument.
        best: the failure of the call that came furthest.
        precision_known: whether the model has the precision that its code gives it; else no dtype is blamed.
    """
    deadline = time.process_time() + _SECONDS
    for _ in range(_RESTARTS):
        case = _Case(trials, plan, best, deadline)
        judgement = case.judge()
        if judgement.blamed is not None and not precision_known and case.is_about_dtypes:
            return Judgement()
        further = judgement.furthest
        if further is None or judgement.runs is not None or judgement.blamed is not None:
            return judgement
        best = further
    return Judgement(furthest=best)


class _Case:
    """One place that refuses, and what other calls meet there."""

    def __init__(self, trials: Trials, plan: Plan, best: Outcome, deadline: float) -> None:
        self._trials, self._plan, self._best, self._deadline = trials, plan, best, deadline
        self._left = trials.runs + _MOST_RUNS
        self._here: list[RefusedCall] = []
        self._unsettled = False
        """Whether a call of other ranks is refused for its sizes, which may be mended."""

    def judge(self) -> Judgement:
        best = self._best
        if not best.place or raises_itself(*best.place[-1][:2]):
            return Judgement()
        first = self._refused(best.guess)
        if first is None:
            return Judgement()
        self._here.append(first)
        tried = {best.guess}
        shared = _shared_otherwise(best.guess, first.pair or ())
        sizes = dict.fromkeys(itertools.chain(shared, _other_sizes(best.guess)), True)
        kinds = dict.fromkeys(_other_kinds(best.guess, self._plan), False)
        for guess, is_size in (*sizes.items(), *kinds.items()):
            if guess in tried:
                continue
            tried.add(guess)
            if self._spent():
                return Judgement()
            outcome = self._trials.run(guess)
            if outcome.error is None:
                return Judgement(runs=guess)
            if is_further(outcome, best):
                return Judgement(furthest=outcome)
            if outcome.place != best.place or outcome.module is not best.module:
                self._unsettled |= not is_size and first.is_about_rank and self._is_about_size(guess)
                continue
            refused = self._refused(guess)
            # What is refused for its rank, dtype or kind is no better; what is for other sizes may be, of such a kind.
            if refused is not None and (refused.is_like(first) or (is_size and not first.is_about_kind)):
                self._here.append(refused)
        if (len(self._here) < 2 and best.guess.used_sizes()) or not is_plain(best.guess):
            # The items of a list are not varied one by one, and what numbers were meant nobody knows.
            return Judgement()
        if any(self._may_be_a_list(argument, first) for argument in best.guess.arguments):
            return Judgement()
        if all(call.conflict is None for call in self._here):
            certain = all(call.is_like(first) and not call.is_doubtful for call in self._here)
            return Judgement(blamed=best if certain else None)
        return self._by_sizes()

    @property
    def is_about_dtypes(self) -> bool:
        """Whether dtypes contradict each other there."""
        return any(call.conflict is not None and call.conflict.kind is ConflictKind.DTYPE for call in self._here)

    def _spent(self) -> bool:
        return self._trials.runs >= self._left or time.process_time() > self._deadline

    def _refused(self, guess: Guess) -> RefusedCall | None:
        return refused_call(self._trials, guess)

    def _may_be_a_list(self, argument: Argument, first: RefusedCall) -> bool:
        """Whether a list of tensors comes as far as an argument does that is used on the way: nothing else would."""
        guess = self._best.guess
        several = SequenceSpec((argument.spec,) * _LENGTH, is_list=True)
        nothing = ConstantSpec("None", None)
        return self._comes_as_far(guess.with_spec(argument.name, several), first) and not self._comes_as_far(
            guess.with_spec(argument.name, nothing), first
        )

    def _comes_as_far(self, guess: Guess, first: RefusedCall) -> bool:
        """Whether another call meets the same."""
        refused = self._refused(guess) if self._trials.run(guess).place == self._best.place else None
        return refused is not None and refused.is_like(first)

    def _is_about_size(self, guess: Guess) -> bool:
        refused = self._refused(guess)
        return refused is not None and refused.conflict is not None and not refused.is_about_rank

    def _by_sizes(self) -> Judgement:
        """Whether the two sides of a contradiction can ever be equal."""
        pairs = [call.pair for call in self._here if call.pair is not None]
        if len(pairs) != len(self._here) or len({call.function for call in self._here}) != 1:
            return Judgement()
        kind = self._here[0].conflict.kind if self._here[0].conflict is not None else None
        if kind is ConflictKind.WINDOW:
            # A size that grows slowly with an input looks like one that does not.
            return Judgement()
        lefts, rights = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        if len(lefts) == 1 and len(rights) == 1:
            return Judgement(blamed=None if self._unsettled else self._best)
        if kind not in (ConflictKind.SIZE, ConflictKind.VOLUME) or not all(_are_sizes(pair) for pair in pairs):
            return Judgement()
        if len(lefts) > 1 and len(rights) > 1:
            return Judgement(blamed=self._best if _are_proportional(pairs) else None)
        return self._never_meets(0 if len(lefts) > 1 else 1)

    def _never_meets(self, side: int) -> Judgement:
        """Whether the side that follows the sizes of the call passes over the size that is wanted."""
        guess, blamed = self._best.guess, None
        followed: list[str] = []
        # What is nearly settled is worth as much again as finding it took.
        self._left, self._deadline = self._trials.runs + _MOST_RUNS, time.process_time() + _SECONDS
        for names in _axes(guess):
            axis = self._reading(guess, names, side)
            met = axis.meets()
            if decided := self._met(met):
                return decided
            if met is not None:
                followed.append(names[0])
                blamed = blamed or self._trials.run(axis.nearest or guess)
        # Of two sizes that may be chosen freely a product can be anything; likely both are one.
        for names in itertools.combinations(followed, 2):
            if decided := self._met(self._reading(guess, names, side).meets()):
                return decided
        return Judgement(blamed=blamed if len(followed) == 1 else None)

    def _met(self, met: Guess | bool | None) -> Judgement | None:
        """What follows from a call that meets the wanted size, from none that could be found, or found in time."""
        if isinstance(met, Guess):
            outcome = self._trials.run(met)
            return Judgement(runs=met) if outcome.error is None else Judgement(furthest=outcome)
        return Judgement() if met is False or self._spent() else None

    def _reading(self, guess: Guess, names: tuple[str, ...], side: int) -> _Axis:
        first = self._here[0].pair
        assert first is not None
        wanted = first[1 - side]
        assert isinstance(wanted, int)

        def size_at(value: int) -> tuple[int | None, Guess]:
            other = guess.with_sizes(**dict.fromkeys(names, value))
            if self._spent():
                return None, other
            outcome = self._trials.run(other)
            if outcome.error is None or is_further(outcome, self._best):
                return wanted, other
            if outcome.place != self._best.place or outcome.module is not self._best.module:
                return None, other
            refused = self._refused(other)
            pair = refused.pair if refused is not None else None
            size = pair[side] if pair is not None and pair[1 - side] == wanted else None
            return size if isinstance(size, int) else None, other

        return _Axis(size_at, guess.size_of()[names[0]], wanted)


@dataclass
class _Axis:
    """One size of the call (or two that go together), and what the refused size is for each of its values."""

    size_at: Callable[[int], tuple[int | None, Guess]]
    usual: int
    wanted: int
    nearest: Guess | None = None
    """The call whose refused size comes nearest to the wanted one: what was meant, most likely."""

    def meets(self) -> Guess | bool | None:
        """The call whose refused size is the wanted one; True where none is, None where it does not follow this size.

        False where that could not be found out: the refused size does not grow with this one.
        """
        usual, _ = self.size_at(self.usual)
        double, _ = self.size_at(self.usual * 2)
        if usual is None or double is None:
            return None if usual is None else self._between(1, self.usual)
        if usual == double:
            return None
        if double < usual:
            return False
        low, high = 1, self.usual
        while True:
            size, call = self.size_at(high)
            if size is None or high > _LARGEST:
                return False
            if size == self.wanted:
                return call
            if size > self.wanted:
                break
            low, high = high, high * 2
        return self._between(low, high)

    def _between(self, low: int, high: int) -> Guess | bool:
        """The same between a value (or 1) whose size is too small and one whose size is too large."""
        distance = 0
        while high - low > 1:
            middle = (low + high) // 2
            size, call = self.size_at(middle)
            if size == self.wanted:
                return call
            if size is not None and (self.nearest is None or abs(size - self.wanted) < distance):
                self.nearest, distance = call, abs(size - self.wanted)
            # What refuses earlier is too small for the layers before.
            if size is None or size < self.wanted:
                low = middle
            else:
                high = middle
        return True


def _axes(guess: Guess) -> Iterator[tuple[str, ...]]:
    """Sizes that are varied together: height and width as one, for images are rarely meant to have a certain shape."""
    used = guess.used_sizes()
    if all(name in used for name in _IMAGE):
        yield _IMAGE
    for name in used:
        if name not in _IMAGE or not all(other in used for other in _IMAGE):
            yield (name,)


def _are_proportional(pairs: list[Pair]) -> bool:
    """Whether both sides grow with the call, and one is always the same multiple of the other."""
    (left, right), *others = ((int(left), int(right)) for left, right in pairs)
    return all(int(other[0]) * right == int(other[1]) * left for other in others)


def _are_sizes(pair: Pair) -> bool:
    return all(isinstance(side, int) for side in pair)


def _other_sizes(guess: Guess) -> Iterator[Guess]:
    """The call with one size, or one fixed dimension, changed."""
    sizes = guess.size_of()
    for name in guess.used_sizes():
        for factor in _FACTORS:
            yield guess.with_sizes(**{name: sizes[name] * factor})
        yield guess.with_sizes(**{name: sizes[name] + 1})
    for name, spec in dict.fromkeys(guess.tensors()):
        for position, dim in enumerate(spec.dims):
            size = dim if isinstance(dim, int) else sizes[dim]
            for other in (size * 2, size + 1):
                yield resized_alone(guess, name, spec, position, other)
    for size in {dim for _, spec in guess.tensors() for dim in spec.dims if isinstance(dim, int) and dim > 1}:
        for other in (size * 2, size + 1):
            yield resized_together(guess, size, other)


def _shared_otherwise(guess: Guess, wanted: Iterable[int | str]) -> Iterator[Guess]:
    """The call with a sum of two sizes shared out otherwise, one of them as wanted: joined tensors were split by us."""
    sizes = guess.size_of()
    places = [
        (name, spec, position, dim if isinstance(dim, int) else sizes[dim])
        for name, spec in dict.fromkeys(guess.tensors())
        for position, dim in enumerate(spec.dims)
        if position
    ]
    for (name, spec, position, size), (other, beside, where, rest) in itertools.permutations(places, 2):
        for new in wanted:
            if name != other and isinstance(new, int) and new != size and rest + size > new > 0:
                changed = resized_alone(guess, name, spec, position, new)
                yield resized_alone(changed, other, beside, where, rest + size - new)


def _other_kinds(guess: Guess, plan: Plan) -> Iterator[Guess]:
    """The call with another argument, or a tensor of another rank or dtype."""
    yield from _other_arguments(guess, plan)
    yield from _other_ranks(guess)
    for name, spec in dict.fromkeys(guess.tensors()):
        for rank in range(1, 6):
            if rank != len(spec.dims):
                yield replaced(guess, name, spec, of_rank(spec, rank))
        for dtype in ("float32", "int64", "bool"):
            if dtype != spec.dtype:
                yield replaced(guess, name, spec, TensorSpec(spec.dims, dtype))


def _other_ranks(guess: Guess) -> Iterator[Guess]:
    """The call with a dimension more, or fewer, of several tensors at once: where one is batched, so are others."""
    tensors = list(dict.fromkeys(guess.tensors()))
    for difference in (1, 2, -1):
        changed = [guess]
        for name, spec in tensors if len(tensors) > 1 else ():
            changed = [other for one in changed for other in shifted(one, name, spec, difference)][:_MOST_SHIFTED]
        yield from changed if len(tensors) > 1 else ()


def _other_arguments(guess: Guess, plan: Plan) -> Iterator[Guess]:
    given = {item.name for item in guess.arguments}
    for argument in guess.arguments:
        for spec in plan.candidates_of(argument.name):
            if spec != argument.spec:
                yield with_all_sizes(guess.with_spec(argument.name, spec))
    for name in plan.optional:
        if name not in given:
            for spec in plan.candidates_of(name)[:2]:
                yield plan.with_optional(guess, name, spec)


def is_further(outcome: Outcome, best: Outcome) -> bool:
    """Whether a call got past the place that refused another, be it on the same line, or in one list of modules."""
    if outcome.place == best.place:
        return outcome.module is not best.module and outcome.progress > best.progress
    if [step[:2] for step in outcome.place] == [step[:2] for step in best.place]:
        return outcome.place > best.place
    return outcome.progress > best.progress


def raises_itself(path: str, number: int) -> bool:
    """Whether the user's own line raises or asserts."""
    line = linecache.getline(path, number).strip()
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        return line.startswith(("raise", "assert"))
    return isinstance(statement, ast.Raise | ast.Assert)
