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

from inductor_debug.accelerators.profile import Profile, read_profile
from inductor_debug.capture.building import BuildError
from inductor_debug.capture.faults import raised_finding, syntax_fault
from inductor_debug.capture.offers import Offer
from inductor_debug.capture.spans import SourceMap
from inductor_debug.capture.target import BuiltTarget
from inductor_debug.capture.workshop import Load, Workshop

Emit = Callable[[Event], None]

REAL_SHARE = 3
"""Real tensors of a target may take this part of the job's memory: a task needs room for a copy and for results."""


@dataclass(frozen=True)
class OpenFile:
    """A file that has been loaded, with what makes its targets."""

    request: JobRequest
    sources: SourceMap
    profile: Profile
    workshop: Workshop
    loaded: Load
    emit: Emit

    def fake(self, offer: Offer) -> BuiltTarget:
        """The target without values.

        Raises:
            BuildError: user code raised.
        """
        return self.workshop.build(offer, self.loaded)

    def real(self, offer: Offer) -> BuiltTarget | str:
        """The target with values, or the reason why there is none.

        Raises:
            BuildError: user code raised.
        """
        target = self.fake(offer)
        if target.fake_mode is None:
            return target
        real = self.workshop.rebuild_real(offer, self.loaded, target)
        if not isinstance(real, str):
            real.notes[:] = target.notes
        return real


Act = Callable[[OpenFile, Offer], list[Finding]]
"""Does the task for one target; returns findings, and sends answers and artifacts itself."""


def on_targets(request: JobRequest, emit: Emit, act: Act) -> None:
    """Calls `act` for every target that `request.only` names, or for all; emits `Loaded` first and `Finished` last."""
    fault = syntax_fault(request.path, request.text)
    if fault is not None:
        emit(Finished(FileStatus.FAILED, [fault]))
        return
    sources = SourceMap(request.project_root, {request.path: request.text})
    workshop = Workshop(request, sources, request.memory_limit // REAL_SHARE)
    with workshop.open():
        started = time.perf_counter()
        load = workshop.load()
        emit(workshop.loaded(load, time.perf_counter() - started))
        opened = OpenFile(request, sources, read_profile(request.profile), workshop, load, emit)
        status, findings = _act_on(opened, act)
        emit(Finished(status, findings, workshop.dependencies()))


def _act_on(opened: OpenFile, act: Act) -> tuple[FileStatus, list[Finding]]:
    findings: list[Finding] = []
    offers = opened.loaded.discovered.offers
    if opened.loaded.error is not None:
        start = Location(opened.request.path, Range(Position(0, 0), Position(0, 0)))
        findings.append(raised_finding(opened.loaded.error, "while the file was loaded", opened.sources, start))
    wanted = _named(opened) if opened.request.only else offers
    built = [_built(opened, offer, act, findings) for offer in wanted]
    if not offers:
        return (FileStatus.FAILED if opened.loaded.error is not None else FileStatus.NO_TARGET), findings
    if wanted and not any(built):
        return FileStatus.FAILED, findings
    return (FileStatus.FINDINGS if findings else FileStatus.CLEAN), findings


def _named(opened: OpenFile) -> list[Offer]:
    """The offers that are asked for by name, among them parts of classes for which nothing could be inferred."""
    discovered, names = opened.loaded.discovered, opened.request.only
    own = [offer for offer in discovered.offers if offer.name in names]
    parts = (part for offers in discovered.reserve.values() for part in offers)
    known = {offer.name for offer in own}
    return [*own, *{part.name: part for part in parts if part.name in names and part.name not in known}.values()]


def _built(opened: OpenFile, offer: Offer, act: Act, findings: list[Finding]) -> bool:
    """Does the task for one target; False where the target could not be built."""
    try:
        findings += act(opened, offer)
    except BuildError as error:
        findings.append(raised_finding(error.cause, f"in {error.what}", opened.sources, error.location, offer.name))
        return False
    return True
