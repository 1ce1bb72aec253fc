"""What every task but an analysis begins and ends with: load the file, hand its targets over, say how it ended.

A task is an `act` that is called for each target that is meant. What user code does wrong on the way becomes a finding;
the tasks themselves never meet it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from inductor_debug_schema import (
    Event,
    FileStatus,
    Finding,
    Finished,
    JobRequest,
    Location,
    Position,
    Range,
)

from inductor_debug.accelerators.guarded_adapter import profile_of
from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.targets.building import BuildError
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_faults import adapter_findings, raised_finding, syntax_fault
from inductor_debug.capture.targets.target_builder import Load, TargetBuilder

Emit = Callable[[Event], None]

REAL_SHARE = 3
"""Real tensors of a target may take this part of the job's memory: a task needs room for a copy and for results."""


@dataclass(frozen=True)
class OpenFile:
    """A file that has been loaded, with what makes its targets."""

    request: JobRequest
    sources: SourceMap
    profile: Profile
    builder: TargetBuilder
    loaded: Load
    emit: Emit

    def fake(self, candidate: Candidate) -> BuiltTarget:
        """The target without values.

        Raises:
            BuildError: user code raised.
        """
        return self.builder.build(candidate, self.loaded)

    def real(self, candidate: Candidate) -> BuiltTarget | str:
        """The target with values, or the reason why there is none.

        Raises:
            BuildError: user code raised.
        """
        target = self.fake(candidate)
        if target.fake_mode is None:
            return target
        real = self.builder.rebuild_real(candidate, self.loaded, target)
        if not isinstance(real, str):
            real.notes[:] = target.notes
        return real


Act = Callable[[OpenFile, Candidate], list[Finding]]
"""Does the task for one target; returns findings, and sends answers and artifacts itself."""


def on_targets(request: JobRequest, emit: Emit, act: Act) -> None:
    """Calls `act` for every target that `request.only` names, or for all; emits `Loaded` first and `Finished` last."""
    fault = syntax_fault(request.path, request.text)
    if fault is not None:
        emit(Finished(FileStatus.FAILED, [fault]))
        return
    sources = SourceMap(request.project_root, {request.path: request.text})
    builder = TargetBuilder(request, sources, request.memory_limit // REAL_SHARE)
    with builder.open():
        started = time.perf_counter()
        load = builder.load()
        emit(builder.loaded(load, time.perf_counter() - started))
        opened = OpenFile(request, sources, profile_of(request.profile), builder, load, emit)
        status, findings = _act_on(opened, act)
        findings += adapter_findings(opened.profile, request)
        emit(Finished(status, findings, builder.dependencies()))


def _act_on(opened: OpenFile, act: Act) -> tuple[FileStatus, list[Finding]]:
    findings: list[Finding] = []
    candidates = opened.loaded.discovered.candidates
    if opened.loaded.error is not None:
        start = Location(opened.request.path, Range(Position(0, 0), Position(0, 0)))
        findings.append(raised_finding(opened.loaded.error, "while the file was loaded", opened.sources, start))
    wanted = _named(opened) if opened.request.only else candidates
    built = [_built(opened, candidate, act, findings) for candidate in wanted]
    if not candidates:
        return (FileStatus.FAILED if opened.loaded.error is not None else FileStatus.NO_TARGET), findings
    if wanted and not any(built):
        return FileStatus.FAILED, findings
    return (FileStatus.FINDINGS if findings else FileStatus.CLEAN), findings


def _named(opened: OpenFile) -> list[Candidate]:
    """The offers that are asked for by name, among them parts of classes for which nothing could be inferred."""
    discovered, names = opened.loaded.discovered, opened.request.only
    own = [candidate for candidate in discovered.candidates if candidate.name in names]
    parts = (part for candidates in discovered.reserve.values() for part in candidates)
    known = {candidate.name for candidate in own}
    return [*own, *{part.name: part for part in parts if part.name in names and part.name not in known}.values()]


def _built(opened: OpenFile, candidate: Candidate, act: Act, findings: list[Finding]) -> bool:
    """Does the task for one target; False where the target could not be built."""
    try:
        findings += act(opened, candidate)
    except BuildError as error:
        findings.append(raised_finding(error.cause, f"in {error.what}", opened.sources, error.location, candidate.name))
        return False
    return True
