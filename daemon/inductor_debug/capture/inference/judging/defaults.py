"""Arguments that are None by default, where the default does not run: what leaves them out fails for want of a value.

Nothing is said where the user's code refuses the call itself, where one of several arguments may be given instead, or
where nothing else is given. Where no argument is required the signature only spells that some of them are needed: those
that are called masks, positions or caches are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from torch import nn

from inductor_debug.capture.inference.judging.contradiction import is_further, raises_itself
from inductor_debug.capture.inference.judging.doubts import misses_a_value
from inductor_debug.capture.inference.judging.remarks import Remark
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.specs import Guess
from inductor_debug.capture.runtime import foreign

_COMPANION = re.compile(r"mask|position|past|cache")
"""In the names of what goes with another input."""
_CANDIDATES = 2
"""How many values of an argument are tried in place of its default."""


def unusable_defaults(trials: Trials, guess: Guess, plan: Callable[[], CallPlan]) -> list[Remark]:
    """The arguments of a call that runs without which it fails, each alone, though they are None by default."""
    found = []
    for name in given_optionally(guess, trials):
        other = without(guess, [name])
        outcome = _failure(trials, other)
        if outcome is not None and not _is_replaceable(trials, other, plan(), {item.name for item in guess.arguments}):
            found.append(Remark("unusable-default", because(name), other))
    return found


def unusable_default(trials: Trials, guess: Guess, plan: CallPlan) -> tuple[str, TrialOutcome] | None:
    """The same where no call runs: an argument that is None by default, and how the call without it fails.

    With some value for the argument the call comes further, so that it is the default that fails there.
    """
    given = given_optionally(guess, trials)
    other = without(guess, given)
    outcome = _failure(trials, other)
    if outcome is None:
        return None
    none_by_default = _none_by_default(trials)
    for name in (*given, *(name for name in plan.optional if name in none_by_default and name not in given)):
        known = guess.spec_of(name)
        specs = [known] if known is not None else plan.candidates_of(name)[:_CANDIDATES]
        if any(is_further(trials.run(plan.with_optional(other, name, spec)), outcome) for spec in specs):
            return name, outcome
    return None


def because(name: str) -> str:
    """What is said of such an argument."""
    return f"`{name}` is None by default, but a value is needed here."


def _failure(trials: Trials, guess: Guess) -> TrialOutcome | None:
    """How a call fails, if it fails at a value that is None and the user's code does not raise for that itself."""
    if not guess.tensors():
        return None
    outcome = trials.run(guess)
    if outcome.error is None or not outcome.place or _is_refused(outcome):
        return None
    return outcome if misses_a_value(outcome.error) else None


def _is_replaceable(trials: Trials, guess: Guess, plan: CallPlan, given: set[str]) -> bool:
    """Whether another argument may be given in place: a call runs with it, or the code itself refuses that one.

    What the code wants beside it may be an option of the constructor, which nobody tries here.
    """
    others = (name for name in plan.optional if name not in given)
    calls = (
        plan.with_optional(guess, name, spec) for name in others for spec in plan.candidates_of(name)[:_CANDIDATES]
    )
    return any(outcome.error is None or _is_refused(outcome) for outcome in map(trials.run, calls))


def _is_refused(outcome: TrialOutcome) -> bool:
    """Whether the user's code raises for a call itself."""
    return bool(outcome.place) and raises_itself(*outcome.place[-1][:2])


def goes_along(name: str) -> bool:
    """Whether an argument goes with another input, and may always be left out where its default is None."""
    return _COMPANION.search(name) is not None


def given_optionally(guess: Guess, trials: Trials) -> list[str]:
    """The arguments of a call that need not be given, and are None then."""
    none_by_default = _none_by_default(trials)
    return [item.name for item in guess.arguments if item.name in none_by_default]


def _none_by_default(trials: Trials) -> frozenset[str]:
    subject = trials.subject
    parameters = foreign.parameters(subject.forward if isinstance(subject, nn.Module) else subject)
    known = [item for item in parameters or () if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)]
    some_required = any(item.default is item.empty for item in known)
    return frozenset(item.name for item in known if item.default is None and (some_required or goes_along(item.name)))


def without(guess: Guess, names: list[str]) -> Guess:
    """The call with some arguments left out; those behind are passed by name."""
    kept, skipped = [], False
    for item in guess.arguments:
        if item.name in names:
            skipped = True
        else:
            kept.append(replace(item, keyword=item.keyword or skipped))
    return replace(guess, arguments=tuple(kept))
