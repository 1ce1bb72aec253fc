"""A graph break as facts: what Dynamo raised, laid beside the source that it was tracing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import torch
from inductor_debug_schema import BreakCause, GraphBreak, Location

from inductor_debug.capture.dynamo.breaks.break_expressions import broken_expression
from inductor_debug.capture.dynamo.breaks.callees import Callee
from inductor_debug.capture.dynamo.breaks.module_hooks import breaks_around_a_call
from inductor_debug.capture.dynamo.breaks.torch_kinds import cause_of, cause_of_module, id_of
from inductor_debug.capture.dynamo.breaks.torch_words import TorchWords
from inductor_debug.capture.dynamo.dynamo_positions import TracedStack
from inductor_debug.capture.expressions.spans import SourceMap

_STANDING_IN = os.path.dirname(torch._dynamo.__file__) + os.sep
"""Where Dynamo keeps Python code that it traces in the place of a library's."""
_OF_HOOKS = frozenset({BreakCause.AUTOGRAD, BreakCause.HOOK})
"""What code around the call of a module breaks for that does more than call it."""


def facts_of(
    words: TorchWords,
    callee: Callee | None,
    stack: TracedStack,
    sources: SourceMap,
    *,
    modules: Sequence[str],
    eager: str,
    scripted: bool,
) -> tuple[GraphBreak, Location | None]:
    """The facts of a break, and where the expression stands that breaks the graph.

    Args:
        words: what torch calls it and says of it.
        callee: what was being called.
        stack: the traced frames, innermost first.
        sources: the texts that ran.
        modules: the names of the modules that the frames belong to.
        eager: the function that runs eagerly because of it, or an empty text.
        scripted: whether some module of the model is compiled by `torch.jit`; only calls of modules ask for it.
    """
    cause = cause_of(words.kind, callee)
    level, entered = _level(stack, modules, sources, cause, scripted=scripted)
    cause = entered or cause
    inside, broken = "", None
    if stack:
        frame = stack[level]
        broken = broken_expression(sources, sources.location(frame.filename, *frame.positions), cause)  # type: ignore[arg-type]
        if not sources.in_project(frame.filename):
            inside = ".".join(filter(None, (*modules[level : level + 1], frame.function)))
    facts = GraphBreak(
        breaks_by=cause,
        expression=broken.text if broken is not None else "",
        subject=broken.subject if broken is not None else "",
        function=callee.qualified if callee is not None and cause is not BreakCause.BRANCH else "",
        inside=inside,
        eager=eager,
        registry_id=id_of(words.kind),
        torch_kind=words.kind,
        explanation=words.explanation,
        hints=list(words.hints),
    )
    return facts, broken.location if broken is not None else None


def as_told_at(
    facts: GraphBreak, cause: BreakCause, place: Location, sources: SourceMap
) -> tuple[GraphBreak, Location]:
    """The facts of a break for another cause, which an expression further out has: it, and where it stands."""
    broken = broken_expression(sources, place, cause)
    facts = replace(facts, breaks_by=cause, expression=broken.text, subject=broken.subject, function="", inside="")
    return facts, broken.location


def _level(
    stack: TracedStack, modules: Sequence[str], sources: SourceMap, cause: BreakCause, *, scripted: bool
) -> tuple[int, BreakCause | None]:
    """Which frame's expression says most: the innermost, or the user's where all calls of a module have one reason."""
    user = next((at for at, frame in enumerate(stack) if sources.in_project(frame.filename)), 0)
    if breaks_around_a_call(stack, modules) and (cause in _OF_HOOKS or scripted):
        return user, BreakCause.HOOK if cause in _OF_HOOKS else BreakCause.TORCHSCRIPT
    if cause is BreakCause.RECURRENT:
        return user, None  # torch looks for the layers among the modules of one that is used
    entered = cause_of_module(modules[user - 1]) if 0 < user <= len(modules) else None
    if entered is not None:
        return user, entered
    return next((at for at, frame in enumerate(stack) if not frame.filename.startswith(_STANDING_IN)), 0), None
