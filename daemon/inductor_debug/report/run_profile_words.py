"""What is said of a profile of real steps as a whole, the same in the terminal and on pages."""

from __future__ import annotations

from collections.abc import Callable

from inductor_debug_schema import ProfileTie, RunProfileDocument, StepTime

from inductor_debug.rules.amounts import counted, in_seconds


def heading_of(document: RunProfileDocument, shown: Callable[[str], str]) -> str:
    """What was measured, and on what; `shown` says what a file is called."""
    subject = f"{shown(document.path)}::{document.target}" if document.target else ""
    recorded = f"{shown(document.trace)} (recorded)" if document.trace else ""
    what = ", ".join(filter(None, (subject, recorded, document.side)))
    device = document.device_title or {"cpu": "the CPU"}.get(document.device, document.device)
    threads = f" ({counted(document.threads, 'thread')})" if document.threads and document.device == "cpu" else ""
    return f"{what}, on {device}{threads}" if device else what


def step_sentence(document: RunProfileDocument, step: StepTime) -> str:
    """How long a step took."""
    what = "forward and backward" if document.training else "forward" if document.target else "as recorded"
    half = f", half of them from {in_seconds(step.low)} to {in_seconds(step.high)}" if document.steps > 1 else ""
    return f"{in_seconds(step.seconds)} ({what}; the median of {counted(document.steps, 'step')}{half})"


def bound_sentence(document: RunProfileDocument, bound: float) -> str:
    """What a step takes at least."""
    step = document.step.seconds if document.step is not None else 0.0
    over = f"; the step took {step / bound:,.1f} × that" if bound and document.comparable else ""
    way = ", each operation by itself" if document.side == "eager" else ""
    return f"{in_seconds(bound)} on {document.title or document.accelerator} at least{way}{over}"


def idle_sentence(idle: StepTime) -> str:
    """How much of a step nothing computed in."""
    return f"{in_seconds(idle.seconds)} of it ({idle.share:.0%}) nothing computed: Python, launches and waiting"


def tie_sentence(document: RunProfileDocument) -> str:
    """How much of the time is tied to the source, and by what."""
    if document.tied is ProfileTie.NOTHING:
        return "nothing is tied to the source"
    by = {
        ProfileTie.EXPRESSIONS: "expressions",
        ProfileTie.FUNCTIONS: "functions, by the stacks in the trace",
        ProfileTie.MODULES: "modules, by their names in the trace",
    }[document.tied]
    return f"{document.tied_share:.0%} of the computing time to {by}"
