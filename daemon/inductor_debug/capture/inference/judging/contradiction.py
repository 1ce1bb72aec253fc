"""Whether what stops a class does not depend on what it is called with: then the class is at fault, not the guess.

The call that came furthest is varied in every way that the search knows: each size, rank, dtype and argument. Where
nothing gets past the place that refuses, and what contradicts itself there is fixed by the class, or grows past the
size that is wanted without ever meeting it, no call of this kind can run. What user code refuses by an exception of its
own is never judged: it may be right.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import linecache
import time
from collections.abc import Iterator
from dataclasses import dataclass

from inductor_debug.capture.failures.conflicts import ConflictKind
from inductor_debug.capture.inference.judging import variations
from inductor_debug.capture.inference.judging.axes import Axis, axes
from inductor_debug.capture.inference.judging.refusing_call import Pair, RefusedCall, refused_call
from inductor_debug.capture.inference.judging.volumes import STEPS, are_out_of_step, fitting
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.specs import (
    ConstantSpec,
    Guess,
    ObjectSpec,
    SequenceSpec,
    SpecArgument,
    TensorSpec,
)
from inductor_debug.capture.tensors.fake_mode import is_too_large

_SECONDS = 4.0
_MOST_RUNS = 240
_LEAST_RUNS = 120
"""Other calls that are tried however long each takes, so that a busy or slow machine finds what a quick one does."""
_RESTARTS = 4
_ALIKE = 4
"""Calls of other sizes that must meet the same number of parts."""
_FAR_MORE = 4096
"""How many times as large a size is that is certainly enough."""
_LENGTH = 6
"""How many tensors a list is given, so that those which the code asks for are there."""

Ranks = tuple[int, ...]
"""How many dimensions each tensor of a call has."""


@dataclass
class Judgement:
    """What came of varying a call: `runs` is one that runs after all, `blamed` the failure that none avoids.

    `because` is a sentence on why a failure is blamed that some calls may avoid; `has_facts` says that sizes, ranks,
    dtypes or devices contradict each other there, `is_about_dtypes` that dtypes do.
    """

    runs: Guess | None = None
    blamed: TrialOutcome | None = None
    furthest: TrialOutcome | None = None
    because: str = ""
    has_facts: bool = True
    is_about_dtypes: bool = False


def judged(trials: Trials, plan: CallPlan, best: TrialOutcome, *, precision_known: bool = True) -> Judgement:
    """Decides whose fault it is that no call runs.

    Args:
        trials: runs calls.
        plan: the candidates of every argument.
        best: the failure of the call that came furthest.
        precision_known: whether the model has the precision that its code gives it; else no dtype is blamed.
    """
    if best.raised.about_few_examples:
        return Judgement()
    deadline = time.process_time() + _SECONDS
    for _ in range(_RESTARTS):
        case = _Case(trials, plan, best, deadline)
        try:
            judgement = case.judge()
        except _UnknownError:
            return Judgement()
        judgement.is_about_dtypes = case.is_about_dtypes
        if judgement.blamed is not None and not precision_known and case.is_about_dtypes:
            return Judgement()
        further = judgement.furthest
        if further is None or judgement.runs is not None or judgement.blamed is not None:
            return judgement
        best = further
    return Judgement(furthest=best)


class _UnknownError(Exception):
    """A call was not run for reasons of our own."""


class _Case:
    """One place that refuses, and what other calls meet there."""

    def __init__(self, trials: Trials, plan: CallPlan, best: TrialOutcome, deadline: float) -> None:
        self._trials, self._plan, self._best, self._deadline = trials, plan, best, deadline
        self._left, self._least = trials.runs + _MOST_RUNS, trials.runs + _LEAST_RUNS
        self._here: list[RefusedCall] = []
        """What is refused with other sizes."""
        self._otherwise: list[tuple[Guess, RefusedCall]] = []
        """What is refused with other ranks, dtypes or arguments, with other sizes than these are."""
        self._open: set[Ranks] = set()
        """The ranks of calls that are refused for their sizes elsewhere, which may be mended."""
        self._elsewhere: list[Guess] = []
        """Calls of other sizes that are refused elsewhere."""
        self._arrived: set[Ranks] = set()
        """The ranks of calls that are refused here, too: they are no way out."""

    def judge(self) -> Judgement:
        best = self._best
        if not best.place or raises_itself(*best.place[-1][:2]):
            return Judgement()
        first = self._refused(best.guess)
        if first is None:
            return self._by_count() if best.raised.unpacked_into and not self._hangs_on_a_count() else Judgement()
        self._here.append(first)
        tried = {best.guess}
        meeting = set(variations.meeting(best.guess, first.pair or ()))
        sizes = dict.fromkeys(filter(self._plan.allows, variations.of_sizes(best.guess, first.pair or ())), True)
        kinds = dict.fromkeys(filter(self._plan.allows, variations.of_kinds(best.guess, self._plan)), False)
        for guess, is_size in (*sizes.items(), *kinds.items()):
            if guess in tried:
                continue
            tried.add(guess)
            if self._spent():
                return Judgement()
            outcome = self._run(guess)
            if outcome.error is None:
                return Judgement(runs=guess)
            if is_further(outcome, best):
                return Judgement(furthest=outcome)
            refused = self._noted(guess, outcome, first, is_size=is_size)
            if refused is not None and self._is_past(refused, first, is_met=guess in meeting, is_size=is_size):
                return Judgement(furthest=outcome)
        if not self._is_exhausted(first):
            return Judgement()
        if all(call.conflict is None for call in self._here):
            if (judgement := self._by_far_more()) is not None:
                return judgement
            certain = all(call.is_like(first) and not call.is_doubtful for call in self._here)
            certain = certain and not self._hangs_on_a_size()
            return Judgement(blamed=best if certain else None, has_facts=False)
        return self._by_sizes()

    @staticmethod
    def _is_past(refused: RefusedCall, first: RefusedCall, *, is_met: bool, is_size: bool) -> bool:
        """Whether what refused the first call does not refuse another one, which only has wrong sizes by now."""
        return (is_met and refused.is_past(first)) or (
            not is_size and first.is_about_rank and refused.function == first.function and refused.is_about_sizes
        )

    def _by_count(self) -> Judgement:
        """Something is unpacked into more or fewer names than it has parts, with every call that comes there."""
        best, same = self._best, set[Guess]()
        others = (variations.of_sizes(best.guess, ()), variations.of_kinds(best.guess, self._plan))
        for guess in filter(self._plan.allows, itertools.chain(*others)):
            if self._spent():
                return Judgement()
            outcome = self._run(guess)
            if outcome.error is None:
                return Judgement(runs=guess)
            if is_further(outcome, best):
                return Judgement(furthest=outcome)
            if self._is_here(outcome):
                if str(outcome.error) != str(best.error):
                    return Judgement()
                same.add(guess)
        certain = len(same) >= _ALIKE and variations.are_exhaustive(best.guess) and not self._plan.open_ended
        return Judgement(blamed=best if certain else None, has_facts=False)

    def _hangs_on_a_count(self) -> bool:
        """Whether an input with as many of something as are unpacked, `boxes.unbind(-1)` of four, never comes there."""
        best, names = self._best, self._best.raised.unpacked_into or 0
        sized = (best.guess.with_sizes(**{size: names}) for size in best.guess.used_sizes() if size != "B")
        return any(str(self._run(guess).error) != str(best.error) for guess in sized)

    def _noted(self, guess: Guess, outcome: TrialOutcome, first: RefusedCall, *, is_size: bool) -> RefusedCall | None:
        """What refuses another call at the same place; taken down, if that is the same as what refused the first."""
        if not self._is_here(outcome):
            if is_size:
                self._elsewhere.append(guess)
            elif first.is_about_rank and self._is_about_size(guess):
                self._open.add(_ranks(guess))
            return None
        self._arrived.add(_ranks(guess))
        refused = self._refused(guess)
        if refused is None:
            return None
        if is_size and (refused.is_like(first) or not first.is_about_kind):
            self._here.append(refused)
        elif not is_size and refused.is_like(first) and refused.pair != first.pair:
            # What is refused for its rank, dtype or kind is no better; what is for other sizes may be.
            self._otherwise.append((guess, refused))
        return refused

    def _is_exhausted(self, first: RefusedCall) -> bool:
        """Whether no other call is left that might come further: of `*features` there may be more than were given."""
        guess = self._best.guess
        if (
            self._plan.open_ended
            or (len(self._here) < 2 and guess.used_sizes())
            or not variations.are_exhaustive(guess)
        ):
            return False
        return not any(self._may_be_a_list(argument, first) for argument in guess.arguments)

    def _by_far_more(self) -> Judgement | None:
        """What comes of a call with far more of one size, a sound of a second; None where none comes further."""
        for size in variations.single_sizes(self._best.guess):
            guess = size.at(size.usual * _FAR_MORE)
            with contextlib.suppress(_UnknownError):
                outcome = self._run(guess)
                if outcome.error is None:
                    return Judgement(runs=guess)
                if is_further(outcome, self._best):
                    return Judgement(furthest=outcome)
        return None

    def _hangs_on_a_size(self) -> bool:
        """Whether a size has a value with which nobody else comes as far, as inputs then contradict each other.

        What is refused may then be that value alone, and another guess for the other inputs may avoid it.
        """
        for size in variations.single_sizes(self._best.guess):
            if size.name and not any(self._is_here(self._run(size.at(size.usual * times))) for times in (2, 3)):
                refused = self._refused(size.at(size.usual * 2))
                if refused is not None and refused.is_about_sizes and all(refused.sources_of_sides):
                    return True
        return False

    def _run(self, guess: Guess) -> TrialOutcome:
        """Runs another call.

        Raises:
            _UnknownError: it would take too much memory, so that it may be the one which would have come further.
        """
        outcome = self._trials.run(guess)
        if outcome.error is not None and is_too_large(outcome.error):
            raise _UnknownError
        return outcome

    def _is_here(self, outcome: TrialOutcome) -> bool:
        return outcome.place == self._best.place and outcome.part == self._best.part

    @property
    def is_about_dtypes(self) -> bool:
        """Whether dtypes contradict each other there."""
        return any(call.conflict is not None and call.conflict.kind is ConflictKind.DTYPE for call in self._here)

    def _spent(self) -> bool:
        runs = self._trials.runs
        return runs >= self._left or (runs >= self._least and time.process_time() > self._deadline)

    def _refused(self, guess: Guess) -> RefusedCall | None:
        return refused_call(self._trials, guess)

    def _may_be_a_list(self, argument: SpecArgument, first: RefusedCall) -> bool:
        """Whether a list of tensors comes as far as an argument does that is used on the way: nothing else would."""
        if not isinstance(argument.spec, TensorSpec | ObjectSpec):
            return False
        guess = self._best.guess
        several = SequenceSpec((argument.spec,) * _LENGTH, is_list=True)
        nothing = ConstantSpec("None", None)
        return self._comes_as_far(guess.with_spec(argument.name, several), first) and not self._comes_as_far(
            guess.with_spec(argument.name, nothing), first
        )

    def _comes_as_far(self, guess: Guess, first: RefusedCall) -> bool:
        """Whether another call meets the same."""
        refused = self._refused(guess) if self._run(guess).place == self._best.place else None
        return refused is not None and refused.is_like(first)

    def _is_about_size(self, guess: Guess) -> bool:
        refused = self._refused(guess)
        return refused is not None and refused.conflict is not None and not refused.is_about_kind

    def _by_sizes(self) -> Judgement:
        """Whether the two sides of a contradiction can ever be equal."""
        pairs = [call.pair for call in self._here if call.pair is not None]
        if len(pairs) != len(self._here) or len({call.function for call in self._here}) != 1:
            return Judgement()
        first = self._here[0]
        kind = first.conflict.kind if first.conflict is not None else None
        if kind is ConflictKind.WINDOW:
            # A size that grows slowly with an input looks like one that does not; one beside which a window grows never
            # becomes large enough.
            return Judgement(blamed=self._best if _grow_together(pairs) else None)
        if len(set(pairs)) == 1:
            runs = self._in_two_steps(first)
            return Judgement(runs=runs, blamed=self._best if runs is None and self._is_settled(first) else None)
        if not first.is_about_sizes or not all(_are_sizes(pair) for pair in pairs):
            return Judgement()
        if kind is ConflictKind.VOLUME and self._rows_never_fit():
            return Judgement(blamed=self._best)
        pairs += [call.pair for _, call in self._otherwise if call.pair is not None and _are_sizes(call.pair)]
        lefts, rights = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        if len(lefts) > 1 and len(rights) > 1:
            if _are_proportional(pairs):
                return Judgement(blamed=self._best)
            return self._never_in_step() if kind is ConflictKind.VOLUME else Judgement()
        return self._never_meets(0 if len(lefts) > 1 else 1)

    def _in_two_steps(self, first: RefusedCall) -> Guess | None:
        """A call that runs with a size as it is wanted here, and another as that needs then: both are joined before."""
        shared = set(variations.shared_otherwise(self._best.guess, _numbers(first)))
        for guess in [guess for guess in self._elsewhere if guess in shared][: variations.MOST_SHARED]:
            refused = None if self._spent() else self._refused(guess)
            following = variations.by_difference(guess, _numbers(refused)) if refused is not None else ()
            for other in filter(self._plan.allows, following):
                if not self._spent() and self._run(other).error is None:
                    return other
        return None

    def _is_settled(self, first: RefusedCall) -> bool:
        """Whether calls of other ranks, dtypes and arguments are refused for sizes that nothing changes, too."""
        unsettled = not self._open <= self._arrived
        if unsettled or first.is_about_kind:
            return not unsettled
        self._allow_more()
        each = {refused.pair: (guess, refused) for guess, refused in self._otherwise}
        return all(self._stays(guess, refused) for guess, refused in each.values())

    def _allow_more(self) -> None:
        """What is nearly settled is worth as much again as finding it took."""
        runs = self._trials.runs
        self._left, self._least = runs + _MOST_RUNS, runs + _LEAST_RUNS
        self._deadline = time.process_time() + _SECONDS

    def _stays(self, guess: Guess, refused: RefusedCall) -> bool:
        """Whether a call of another kind is refused for the same sizes, whatever sizes it has.

        A batch that meets the size of a layer is no way out: it is the caller's.
        """
        batches = {spec.dims[0] for _, spec in guess.tensors() if spec.dims}
        for size in self._single_sizes(guess):
            for times in (2, 3) if size.name not in batches else ():
                outcome = self._run(size.at(size.usual * times))
                if self._spent() or outcome.error is None or is_further(outcome, self._best):
                    return False
                again = self._refused(outcome.guess) if self._is_here(outcome) else None
                if again is not None and again.is_like(refused) and again.pair != refused.pair:
                    return False
        return True

    def _rows_never_fit(self) -> bool:
        """Whether rows of a size that the class fixes are to be laid out as rows of another one that it fixes, too.

        Enough of them could be, and would be mixed up: that is not what anybody means.
        """
        widths = {call.left_shape[-1] for call in self._here if call.left_shape}
        asked = {call.pair[1] for call in self._here if call.pair is not None}
        if len(widths) != 1 or len(asked) != 1:
            return False
        (width,), (wanted,) = widths, asked
        return width > 1 and isinstance(wanted, int) and wanted > 1 and bool(width % wanted and wanted % width)

    def _never_in_step(self) -> Judgement:
        """Whether a size is laid out together with something that grows otherwise, which no other size makes good."""
        found = False
        self._allow_more()
        for size in self._single_sizes(self._best.guess):
            pairs = [self._volumes_at(size.at(size.usual * times)) for times in range(1, STEPS + 1)]
            known = [pair for pair in pairs if pair is not None]
            if len(known) < STEPS or len(set(known)) == 1:
                # What is refused elsewhere with other sizes is fixed by the class.
                continue
            elements, asked = [pair[0] for pair in known], [pair[1] for pair in known]
            if len(set(elements)) == 1 or len(set(asked)) == 1:
                if decided := self._met(self._made_good(size, elements, asked)):
                    return decided
                continue
            out_of_step = are_out_of_step(elements, asked)
            if out_of_step is None:
                return Judgement()
            found |= out_of_step
        return Judgement(blamed=self._best if found and not self._spent() else None)

    def _single_sizes(self, guess: Guess) -> Iterator[variations.SizedGuess]:
        """The sizes of a call that may be others."""
        every = variations.single_sizes(guess)
        return (size for size in every if self._plan.allows(size.at(size.usual + 1)))

    def _volumes_at(self, guess: Guess) -> tuple[int, int] | None:
        """How many elements there are, and how many are asked for; None where another place refuses."""
        refused = self._refused(guess) if not self._spent() and self._is_here(self._run(guess)) else None
        if refused is None or refused.pair is None or not refused.is_like(self._here[0]):
            return None
        elements, asked = refused.pair
        return (elements, asked) if isinstance(elements, int) and isinstance(asked, int) else None

    def _made_good(self, size: variations.SizedGuess, elements: list[int], asked: list[int]) -> Guess | bool | None:
        """The call with the size at which the elements are as many as asked for; None where there is none."""
        other = fitting(size.usual, elements, asked)
        if not isinstance(other, int) or isinstance(other, bool):
            return other
        outcome = self._run(size.at(other))
        return None if outcome.error is not None and not is_further(outcome, self._best) else outcome.guess

    def _never_meets(self, side: int) -> Judgement:
        """Whether the side that follows the sizes of the call passes over the size that is wanted."""
        guess, blamed = self._best.guess, None
        followed: list[str] = []
        self._allow_more()
        for names in axes(guess):
            axis = self._reading(guess, names, side)
            met = axis.meets()
            if decided := self._met(met):
                return decided
            if met is not None:
                followed.append(names[0])
                blamed = blamed or self._run(axis.nearest or guess)
        # Of two sizes that may be chosen freely a product can be anything; likely both are one.
        for names in itertools.combinations(followed, 2):
            if decided := self._met(self._reading(guess, names, side).meets()):
                return decided
        return Judgement(blamed=blamed if len(followed) == 1 else None)

    def _met(self, met: Guess | bool | None) -> Judgement | None:
        """What follows from a call that meets the wanted size, from none that could be found, or found in time."""
        if isinstance(met, Guess) and not self._plan.allows(met):
            return None
        if isinstance(met, Guess):
            outcome = self._run(met)
            return Judgement(runs=met) if outcome.error is None else Judgement(furthest=outcome)
        return Judgement() if met is False or self._spent() else None

    def _reading(self, guess: Guess, names: tuple[str, ...], side: int) -> Axis:
        first = self._here[0].pair
        assert first is not None
        wanted = first[1 - side]
        assert isinstance(wanted, int)

        def size_at(value: int) -> tuple[int | None, Guess]:
            other = guess.with_sizes(**dict.fromkeys(names, value))
            if self._spent():
                return None, other
            outcome = self._run(other)
            if outcome.error is None or is_further(outcome, self._best):
                return wanted, other
            if not self._is_here(outcome):
                return None, other
            refused = self._refused(other)
            pair = refused.pair if refused is not None else None
            size = pair[side] if pair is not None and pair[1 - side] == wanted else None
            return size if isinstance(size, int) else None, other

        return Axis(size_at, guess.size_of()[names[0]], wanted)


def _are_proportional(pairs: list[Pair]) -> bool:
    """Whether both sides grow with the call, and one is always the same multiple of the other."""
    (left, right), *others = ((int(left), int(right)) for left, right in pairs)
    return all(int(other[0]) * right == int(other[1]) * left for other in others)


def _grow_together(pairs: list[Pair]) -> bool:
    """Whether a window is always larger than a size by the same number, whatever that is."""
    return len(set(pairs)) >= _ALIKE and len({int(needed) - int(size) for size, needed in pairs}) == 1


def _ranks(guess: Guess) -> Ranks:
    return tuple(len(spec.dims) for _, spec in guess.tensors())


def _are_sizes(pair: Pair) -> bool:
    return all(isinstance(side, int) for side in pair)


def is_further(outcome: TrialOutcome, best: TrialOutcome) -> bool:
    """Whether a call got past the place that refused another, be it on the same line, or in one list of modules."""
    if outcome.place == best.place:
        return outcome.part != best.part and outcome.progress > best.progress
    if [step[:2] for step in outcome.place] == [step[:2] for step in best.place]:
        return outcome.place > best.place
    return outcome.progress > best.progress


def _numbers(refused: RefusedCall) -> list[int]:
    """The sizes that contradict each other."""
    return [size for size in refused.pair or () if isinstance(size, int)]


def raises_itself(path: str, number: int) -> bool:
    """Whether the user's own line raises or asserts."""
    line = linecache.getline(path, number).strip()
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        return line.startswith(("raise", "assert"))
    return isinstance(statement, ast.Raise | ast.Assert)
