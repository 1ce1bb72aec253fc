"""Calls in which a class mixes floating dtypes that it was not given: whatever its inputs are, torch refuses them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from inductor_debug.capture.failures.conflicts import ConflictKind
from inductor_debug.capture.inference.guessing.precision import precision_of
from inductor_debug.capture.inference.judging import variations
from inductor_debug.capture.inference.judging.refusing_call import refused_call
from inductor_debug.capture.inference.search.agreeing_dtypes import in_half_precision
from inductor_debug.capture.inference.search.dtype_watch import DtypeWatch
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.specs import Guess

_MOST_OTHERS = 24


def mixing_own_dtypes(trials: Trials, plan: CallPlan, best: Guess) -> TrialOutcome | None:
    """A call that does not run in which floating dtypes meet, though all inputs are of the model's own; None of none.

    If there is one, that is refused for the dtypes: a call may go on over such an operation, and be refused later for
    another reason, which is of the guess. Nothing is said of whole numbers: that an input is of these is a guess.
    Where the call runs in half precision, it is what came of that, without an error.

    Args:
        trials: runs calls.
        plan: the candidates of every argument.
        best: the call that came furthest.
    """
    found = next(_mixing(trials, [plan.first(), best]), None)
    if found is None:
        return None
    for half in in_half_precision(found.guess):
        if (outcome := trials.run(half)).error is None:
            return outcome
    others = itertools.islice(variations.of_kinds(found.guess, plan), _MOST_OTHERS)
    for outcome in _mixing(trials, [found.guess, *others]):
        refused = refused_call(trials, outcome.guess)
        if refused is not None and refused.conflict is not None and refused.conflict.kind is ConflictKind.DTYPE:
            return outcome
    return found


def _mixing(trials: Trials, guesses: list[Guess]) -> Iterator[TrialOutcome]:
    precision = precision_of(trials.subject)
    for guess in guesses:
        floats = {spec.dtype for _, spec in guess.tensors() if "float" in spec.dtype}
        watch = DtypeWatch()
        outcome = trials.run(guess, watch) if floats <= {precision} else TrialOutcome(guess)
        if outcome.error is not None and watch.mixed_floats:
            yield outcome
