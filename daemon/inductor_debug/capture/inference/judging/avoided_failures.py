"""Calls that run only because they avoid what fails where the class is called as its text says.

A search takes what runs. It may have given a tensor of another rank than the docstring states, or an argument that
need not be given and without which a part of the model fails. Whether the class is at fault there is judged as where
nothing runs at all, with no other calls allowed than those which avoid nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch import nn

from inductor_debug.capture.inference.judging.contradiction import judged
from inductor_debug.capture.inference.judging.defaults import goes_along, without
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.search.input_search import NotFound
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.call_plan import CallPlan, Parameter
from inductor_debug.capture.inference.specs.specs import Guess

Search = Callable[[CallPlan], "Found | NotFound"]


@dataclass(frozen=True, slots=True)
class AvoidedFailure:
    """The failure of a call that the text asks for, and a sentence on how that is known."""

    outcome: TrialOutcome
    because: str


def avoided_failure(
    trials: Trials, plan: CallPlan, guess: Guess, search: Search, *, precision_known: bool
) -> AvoidedFailure | Found | None:
    """What a call that runs avoids, if the class is at fault there; or a call that runs and avoids nothing.

    Args:
        trials: runs calls.
        plan: the candidates of every argument.
        guess: the call that runs.
        search: looks for calls of a plan.
        precision_known: whether the model has the precision that its code gives it.

    Returns:
        None where the call avoids nothing that is known.
    """
    denied = plan.denied(guess)
    # What a base class says of a method holds for it, and often for one of several classes that are made of it.
    if denied is not None and denied.written is not None and "forward" in vars(type(trials.subject)):
        literal = replace(plan, literally=True)
        found = search(literal)
        if isinstance(found, Found):
            return found
        if found.best is not None:
            blamed = judged(trials, literal, found.best, precision_known=precision_known).blamed
            if blamed is not None:
                return AvoidedFailure(blamed, _stated(plan, denied))
    return _left_out(trials, plan, guess, precision_known=precision_known)


def _left_out(trials: Trials, plan: CallPlan, guess: Guess, *, precision_known: bool) -> AvoidedFailure | None:
    """The failure of a part that is left out only because an argument is given that need not be."""
    for name in (item.name for item in guess.arguments if item.name in plan.optional):
        other = without(guess, [name])
        outcome = trials.run(other) if other.tensors() else TrialOutcome(other)
        left_out = goes_along(name) or (outcome.module is not None and not _calls(trials, guess, outcome.module))
        if outcome.error is not None and left_out:
            plain = replace(plan, parameters=[item for item in plan.parameters if item.name != name])
            blamed = judged(trials, plain, outcome, precision_known=precision_known).blamed
            if blamed is not None:
                return AvoidedFailure(blamed, f"Only where `{name}` is given this is left out.")
    return None


def _stated(plan: CallPlan, denied: Parameter) -> str:
    """What the text says of an argument, and of those that share a name of a size with it."""
    names = set(denied.written or ())
    known = [(item.name, item.written) for item in plan.parameters if item.written and names.intersection(item.written)]
    said = [f"`{name}` is ({', '.join(written)})" for name, written in known]
    return f"The text says that {' and '.join(said)}."


def _calls(trials: Trials, guess: Guess, module: nn.Module) -> bool:
    """Whether a run calls a certain module."""
    called = []
    hook = module.register_forward_pre_hook(lambda *_: called.append(True))
    try:
        trials.run(guess)
    finally:
        hook.remove()
    return bool(called)
