"""Looks at a target for what went wrong in it: each with the findings that it told, and what it leaves for a script.

Looks are made one after another, the cheapest first, for as long as somebody asks for the next. Nothing is chosen here.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import Finding, Location, Stage

from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import Fault, capture_error, classify, frames_of_error
from inductor_debug.capture.guards.guard_stage import with_guards
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.aot import run_aot
from inductor_debug.capture.stages.mock import run_mock
from inductor_debug.repro.kinds.case import Case
from inductor_debug.repro.kinds.observing import Observed, observe
from inductor_debug.repro.kinds.seen_values import Seen, frames_at
from inductor_debug.repro.program.constraint_cuts import findings_of
from inductor_debug.rules.recording.ops import Recording


@dataclass(frozen=True)
class RecordingLook:
    """The operations that ran. `fallback` is where a finding is shown that has no place of its own."""

    findings: list[Finding]
    recording: Recording
    profile: Profile
    fallback: Location


@dataclass(frozen=True)
class CodeLook:
    """Python code, which can be run again. `seen` is the run that an exception ended, where that is the finding."""

    findings: list[Finding]
    target: BuiltTarget
    sources: SourceMap
    eagerly: Callable[[], AbstractContextManager[Any]]
    seen: Observed | None = None

    def frames(self, path: str, line: int, function: ast.FunctionDef | None, *, runs: int = 1) -> list[Seen]:
        """What a line sees (`seen_values.frames_at`)."""
        with self.eagerly():
            return frames_at(self.target, path, line, function, runs=runs)


Look = RecordingLook | CodeLook
_OF_CODE = ("graph-break", "recompile", "eager-fallback")
"""Rules about what Python does between operations."""


def recordings(case: Case) -> Iterator[RecordingLook]:
    """What an accelerator refuses, with one set of inputs at a time: as it runs, as it is captured, and backwards."""
    for alone in case.target.alone():
        yield from _recordings(case, alone)


def exceptions(case: Case) -> Iterator[CodeLook]:
    """What the target raises when it runs, with one set of inputs at a time."""
    for alone in case.target.alone():
        yield from _exceptions(case, alone)


def captures(case: Case) -> Iterator[CodeLook]:
    """What Dynamo cannot capture."""
    yield from _captures(case)


def captures_with_guards(case: Case) -> Iterator[CodeLook]:
    """What is known only to those who look at guards: what Dynamo compiles again, and what it gives up."""
    yield from _captures(case, guards=True)


def anything(case: Case) -> Iterator[Look]:
    """Whatever goes wrong, where no rule was named."""
    for alone in case.target.alone():
        yield from _recordings(case, alone)
        yield from _exceptions(case, alone)
    yield from captures(case)
    # An exception that depends on values (an index that is out of range) is no finding, so nothing can be said of it.
    if not case.wanted.given and case.target.fake_mode is not None:
        real = case.real()
        if not isinstance(real, str):
            for alone in real.alone():
                yield from _exceptions(case, alone)


def _recordings(case: Case, target: BuiltTarget) -> Iterator[RecordingLook]:
    with case.builder.eagerly():
        seen = observe(target, case.sources)
    yield _judged(case, seen.recording, Stage.PREVIEW, target)
    with case.builder.traced():
        outcome = run_mock(target, case.sources)
    yield _judged(case, outcome.recording, Stage.MOCK, target)
    if seen.error is None:
        # Backward passes are seen by this stage alone.
        with case.builder.traced():
            backward = run_aot(target, case.sources)
        yield _judged(case, backward.recording, Stage.AOT, target)
    if target.fake_mode is not None and (outcome.retry_real or seen.error is not None):
        real = case.real(target)
        if not isinstance(real, str):
            with case.builder.eagerly():
                again = observe(real, case.sources)
            yield _judged(case, again.recording, Stage.PREVIEW, real)


def _judged(case: Case, recording: Recording, stage: Stage, target: BuiltTarget) -> RecordingLook:
    found = findings_of(recording, case.profile, stage=stage, target=target.name, fallback=target.location)
    return RecordingLook(found, recording, case.profile, target.location)


def _exceptions(case: Case, target: BuiltTarget) -> Iterator[CodeLook]:
    with case.builder.eagerly():
        seen = observe(target, case.sources)
    if seen.error is None:
        return
    fault, message = classify(seen.error, seen.failed, fake=target.fake_mode is not None)
    if fault is Fault.USER:
        finding = capture_error(message, frames_of_error(seen.error, case.sources), target, Stage.PREVIEW)
        yield CodeLook([finding], target, case.sources, case.builder.eagerly, seen)


def _captures(case: Case, *, guards: bool = False) -> Iterator[CodeLook]:
    target = case.target
    with case.builder.traced():
        outcome = run_mock(target, case.sources)
    if outcome.retry_real and target.fake_mode is not None:
        real = case.real()
        if not isinstance(real, str):
            target = real
            with case.builder.traced():
                outcome = run_mock(target, case.sources)
    request = dataclasses.replace(case.request, keep_guards=guards or case.request.keep_guards)
    outcome = with_guards(outcome, target, case.sources, request, case.builder.traced)
    found = [finding for finding in outcome.findings if finding.rule in _OF_CODE]
    yield CodeLook(found, target, case.sources, case.builder.eagerly)
