"""Arguments that need not be given and have a part in what is refused: `if edges is not None: x = cat([x, edges])`.

A constructor that is given `edges_in_d=2` makes layers for such an argument, and nobody is blamed for a call without.
"""

from __future__ import annotations

from inductor_debug.capture.inference.judging import contradiction
from inductor_debug.capture.inference.judging.contradiction import Judgement
from inductor_debug.capture.inference.judging.doubts import has_empty_weights
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.call_plan import CallPlan

__all__ = ["Judgement", "judged"]

_MOST_OPTIONS, _CANDIDATES = 6, 3
"""How many arguments are given that were left out, and in how many ways each."""


def judged(trials: Trials, plan: CallPlan, best: TrialOutcome, *, precision_known: bool = True) -> Judgement:
    """As `contradiction.judged`, where no argument that was left out changes or joins what is refused.

    Nor is a model at fault whose weights have no elements: its defaults leave out what it is for (`n_experts = 0`).
    """
    if has_empty_weights(trials.subject):
        return Judgement()
    judgement = contradiction.judged(trials, plan, best, precision_known=precision_known)
    blamed = judgement.blamed
    if blamed is None:
        return judgement
    left_out = [name for name in plan.optional if blamed.guess.spec_of(name) is None]
    for name in left_out[:_MOST_OPTIONS]:
        for spec in plan.candidates_of(name)[:_CANDIDATES]:
            outcome = trials.run(plan.with_optional(blamed.guess, name, spec))
            if outcome.error is None:
                return Judgement(runs=outcome.guess)
            changed = outcome.place == blamed.place and str(outcome.error) != str(blamed.error)
            if changed or outcome.raised.joined_sizes:
                return Judgement()
    return judgement
