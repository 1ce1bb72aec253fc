"""The search for inputs: the likeliest call first, then what its failures suggest, the furthest runs first.

Bounded by runs and by work, so that every machine finds the same; which sizes of the call that runs are free is found
out by `dynamic_dims`.
"""

from __future__ import annotations

import collections
import itertools
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from inductor_debug.capture.failures.failed_statement import is_users
from inductor_debug.capture.inference.guessing.precision import in_precision, precision_of
from inductor_debug.capture.inference.search.agreeing_dtypes import with_agreeing_dtypes
from inductor_debug.capture.inference.search.conflict_repairs import mended
from inductor_debug.capture.inference.search.dynamic_dims import Found, settled
from inductor_debug.capture.inference.search.input_repairs import next_guesses
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.search.waiting import Rank, Waiting, WaitingCalls
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.specs import Guess, SequenceSpec
from inductor_debug.capture.inference.values.guarded_execution import SideEffectError, TooLongError
from inductor_debug.capture.runtime.absent_libraries import AbsentError
from inductor_debug.capture.tensors.fake_mode import is_limitation

MOST_RUNS = 400
MOST_WORK = 12_000
"""Calls of modules that a search makes, most of them for what a run takes by itself: about a second's."""
MOST_SECONDS = 4.0
"""For what takes long in few calls of modules: nearly no search gets there, as it would end elsewhere every time."""
_SETTLING_SECONDS = 1.0
_LEAST_RUNS = 32
"""Trials that are made of a model however long each takes."""
_BRANCHES = 48
_BATCH = "B"
_STANDSTILL = 6
_DEPARTURE = 24
"""How much later a guess is tried for each argument that is none of those that are certain."""
_ENDS_BEFORE_MENDING = 16
"""How often calls end alike before what contradicts itself there is mended: what is likelier was tried by then."""
_LONG, _SHORTER = 1.0, 3
"""Seconds of the processor after which sizes may be how often something is done, and how much less is worth it."""
_ROUNDS = (6, 16)
_RUNS_WHERE_STUCK = 40
_RUNS_WHERE_EVIDENT = 24


@dataclass(frozen=True, slots=True)
class NotFound:
    """Why there is none: the failure that came furthest, and how much was tried.

    `lasting` says that another search would find no more, `evident` that the failure is the code's own, whatever it is
    called with.
    """

    error: BaseException | None
    runs: int
    seconds: float
    lasting: bool = True
    best: TrialOutcome | None = None
    evident: bool = False

    @property
    def is_limited(self) -> bool:
        """Whether it is for want of values, or of what else a trial has not, that none was found."""
        return self.error is not None and is_limitation(self.error)


def search(
    trials: Trials,
    plan: Callable[[], CallPlan],
    starts: list[Guess],
    stuck: set[str],
    is_evident: Callable[[TrialOutcome], bool],
    *,
    runs: int = MOST_RUNS,
    seconds: float = MOST_SECONDS,
) -> Found | NotFound:
    """Looks for a call that runs. Broken off within a run, it tells how far those before it came.

    Args:
        trials: runs calls.
        plan: gives the candidates of every argument, which take time to find; not asked where a start runs.
        starts: calls to try first, likeliest first.
        stuck: where searches for other classes got no further, which this one adds to. What a part refused so often
            is not tried as often again.
        is_evident: whether a failure is the code's own, whatever it is called with: other calls are then tried for a
            while only, because they may not come that way.
        runs: most trials.
        seconds: most time of the processor, for what takes long in few calls of modules.
    """
    started = time.process_time()
    precision = precision_of(trials.subject)
    waiting = WaitingCalls()
    for start in starts:
        if waiting.takes(first := in_precision(start, precision), ()):
            waiting.put(Waiting(first))
    ends: dict[tuple[tuple[int, ...], str], list[TrialOutcome]] = collections.defaultdict(list)
    best: TrialOutcome | None = None
    evident, lasting = False, True
    allowed = runs = runs + trials.runs
    least = trials.runs + _LEAST_RUNS
    work = trials.work + MOST_WORK

    def spent() -> bool:
        return trials.work >= work or time.process_time() - started >= seconds

    while trials.runs < allowed and (trials.runs < least or not spent()):
        item = waiting.next()
        if item is None:
            break
        guess, before, parent = item.guess, item.rank, item.parent
        begun = time.process_time()
        try:
            outcome = trials.run(guess)
        except TooLongError as late:
            if best is None:
                raise
            lasting = late.worked
            break
        if outcome.error is None:
            guess = _in_fewer_rounds(trials, guess, time.process_time() - begun)
            return agreed(trials, guess, plan)
        unsupported = isinstance(outcome.error, NotImplementedError)
        if isinstance(outcome.error, SideEffectError | AbsentError) or (
            is_limitation(outcome.error) and not unsupported
        ):
            # Other guesses change nothing about it; a lower rung of the ladder may, and begins where this one got to.
            furthest = outcome if best is None or outcome.progress >= best.progress else best
            return NotFound(outcome.error, trials.runs, time.process_time() - started, best=furthest)
        alike = ends[outcome.progress, outcome.raised.kind]
        alike.append(outcome)
        # Whose dimensions are too few is plain: nothing likelier has to be tried before.
        if len(alike) == (1 if outcome.raised.about_indices else _ENDS_BEFORE_MENDING):
            begun = time.process_time()
            further = mended(trials, alike[0], lambda guess: _may_be_meant(guess, plan()))
            if further.error is None:
                guess = _in_fewer_rounds(trials, further.guess, time.process_time() - begun)
                return agreed(trials, guess, plan)
            rank = tuple(-number for number in further.progress)
            if waiting.takes(further.guess, rank):
                waiting.put(Waiting(further.guess, rank))
        behind: TrialOutcome | None = outcome
        if best is None or outcome.progress > best.progress or _says_more(outcome, best):
            behind, best, evident = best, outcome, is_evident(outcome)
            waiting.came_further()
            # What torch does not support for one rank or dtype it may support for another.
            allowed = min(runs, trials.runs + _RUNS_WHERE_EVIDENT) if evident or unsupported else runs
            least = min(least, trials.runs) if evident else least
        if trials.runs >= _RUNS_WHERE_STUCK and stuck and _place(best, trials.subject) in stuck:
            break
        rank = tuple(-number for number in outcome.progress)
        if parent is not None and _only_runs_longer(outcome, parent):
            rank = max(rank, before)
        # A chain of changes that brings nothing comes after what the guess before them suggested.
        cost = 0 if rank < before or not before else item.cost + _STANDSTILL
        for order, following in enumerate(itertools.islice(_new(outcome, plan(), waiting, rank, precision), _BRANCHES)):
            apart = _DEPARTURE * plan().departures(following)
            waiting.put(Waiting(following, rank, cost + order + apart, outcome))
        if behind is not None:
            behind.let_go()
    if best is not None:
        stuck.update([place] if (place := _place(best, trials.subject)) else [])
    error = best.error if best is not None else None
    return NotFound(error, trials.runs, time.process_time() - started, lasting, best, evident)


def agreed(trials: Trials, guess: Guess, plan: Callable[[], CallPlan]) -> Found:
    """What a call that runs, found after the search, comes to: dtypes that torch takes, and the sizes that are free."""
    return settled(trials, with_agreeing_dtypes(trials, guess, plan), settling_ends())


def freed(trials: Trials, found: Found) -> Found:
    """A kept call that runs, with the sizes that are free by now: an edit may have freed some."""
    return found if found.free.issuperset(found.guess.used_sizes()) else settled(trials, found.guess, settling_ends())


def of_a_batch_of_one(trials: Trials, best: TrialOutcome | None) -> Guess | None:
    """The call that came furthest with a batch of one, where it runs so: some code has one image at a time."""
    if best is None or best.guess.size_of().get(_BATCH, 1) == 1 or _BATCH not in best.guess.used_sizes():
        return None
    alone = best.guess.with_sizes(**{_BATCH: 1})
    return alone if trials.run(alone).error is None else None


def _says_more(outcome: TrialOutcome, best: TrialOutcome) -> bool:
    """Whether a call of equal progress met what the code cannot do at all, and the best one met only a size."""
    return outcome.progress == best.progress and outcome.raised.is_removed and not best.raised.is_removed


def settling_ends() -> float:
    """When finding out which sizes of a call are free has to end, in seconds of the processor."""
    return time.process_time() + _SETTLING_SECONDS


def _in_fewer_rounds(trials: Trials, guess: Guess, found_in: float) -> Guess:
    """The call with smaller sizes where code goes around as often as they say: 256 steps show no more than six do.

    `found_in` are the seconds that it took to find, which may have been more than the call itself.
    """
    seconds = _seconds_of(trials, guess) if found_in >= _LONG else 0.0
    if seconds is None or seconds < _LONG:
        return guess
    for name in sorted(guess.used_sizes(), key=lambda name: -guess.size_of()[name]):
        for rounds in _ROUNDS:
            if rounds * _SHORTER > guess.size_of()[name]:
                break
            other = guess.with_sizes(**{name: rounds})
            shorter = _seconds_of(trials, other)
            if shorter is not None and shorter * _SHORTER < seconds:
                guess, seconds = other, shorter
                break
    return guess


def _seconds_of(trials: Trials, guess: Guess) -> float | None:
    """The seconds of the processor that a call takes; None where it raises."""
    begun = time.process_time()
    return None if trials.run(guess).error is not None else time.process_time() - begun


def _only_runs_longer(outcome: TrialOutcome, parent: TrialOutcome) -> bool:
    """Whether a call ends as the one did that it was made of, and only has more items in a list."""
    if outcome.raised.kind != parent.raised.kind or outcome.module is not parent.module:
        return False
    pairs = zip(outcome.guess.arguments, parent.guess.arguments, strict=False)
    lists = [(one.spec, other.spec) for one, other in pairs if one.spec != other.spec]
    return bool(lists) and all(
        isinstance(one, SequenceSpec) and isinstance(other, SequenceSpec) and set(one.items) == set(other.items)
        for one, other in lists
    )


def _place(outcome: TrialOutcome, subject: Any) -> str:
    """The line of another definition of the user's that raised, and what; empty where it is the subject's own code."""
    assert outcome.error is not None
    found = ""
    for frame, line in traceback.walk_tb(outcome.error.__traceback__):
        if is_users(frame):
            own = frame.f_code is getattr(getattr(type(subject), "forward", None), "__code__", None)
            found = "" if own else f"{frame.f_code.co_filename}:{line} {outcome.raised.kind}"
    return found


def _new(outcome: TrialOutcome, plan: CallPlan, waiting: WaitingCalls, rank: Rank, precision: str) -> Iterator[Guess]:
    for found in next_guesses(outcome, plan):
        guess = in_precision(found, precision)
        if _is_small(guess) and plan.allows(guess) and waiting.takes(guess, rank):
            yield guess


def _may_be_meant(guess: Guess, plan: CallPlan) -> bool:
    """Whether nothing is known against a call: neither sizes that nobody gives, nor what the text says."""
    return _is_small(guess) and plan.allows(guess) and plan.denied(guess) is None


def _is_small(guess: Guess) -> bool:
    """Whether the tensors are of a size that somebody may really give to the model: not empty, and not huge."""
    sizes = guess.size_of()
    for _, spec in guess.tensors():
        volume = 1
        for size in spec.shape(sizes):
            volume *= size
        if not 0 < volume <= 1 << 28:
            return False
    return True
