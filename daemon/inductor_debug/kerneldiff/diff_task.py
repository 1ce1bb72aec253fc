"""The task `diff`: compares a backend with a reference on the targets of a file.

Weights are those that the file makes or loads; where it makes random ones, they come from the stated seed. Each target
is answered with a `diff` document, failures included; what is wrong with the numbers becomes a `numerics` finding.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    Event,
    Finding,
    JobRequest,
    Location,
    PartlyAnswered,
    Progressed,
    Severity,
    Stage,
    to_wire,
)

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.targets.building import BuildError, bytes_of
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import REAL_SHARE, OpenFile, on_targets
from inductor_debug.kerneldiff.comparison import Comparison
from inductor_debug.kerneldiff.emulation.backends import UnknownBackendError, not_compared, resolve
from inductor_debug.kerneldiff.execution.precise import precise_dtype
from inductor_debug.kerneldiff.execution.run_state import seed_everything
from inductor_debug.kerneldiff.judging.comparison_settings import ComparisonSettings
from inductor_debug.kerneldiff.judging.diff_report import Blame, DiffReport, Verdict
from inductor_debug.kerneldiff.judging.streaming import Stream
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig
from inductor_debug.kerneldiff.plots.error_maps import MEDIA_TYPE, SUFFIX, error_maps

_MOST_FINDINGS = 5


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Compares every target that is meant.

    Options of the request, all of which may be left out: `reference` and `backend` (names), `profile` (the document of
    the accelerator that `backend` names), `atol`, `rtol`, `seed`, `runs`, `gradients`, `inject` (a list), `nodes`,
    `plots` (PNGs), `maps` (the errors of outputs as tables), `time_limit` (seconds for finding the operation at fault).
    """
    on_targets(request, emit, _compare)


def _compare(opened: OpenFile, candidate: Candidate) -> list[Finding]:
    options = opened.request.options
    started = time.perf_counter()
    comparison: Comparison | None = None
    try:
        target = _real(opened, candidate)
        if isinstance(target, str):
            report = _failed(candidate, options, target)
        else:
            comparison = _comparison(opened, candidate, target)
            report = comparison.run()
            report.notes = [*target.notes, *report.notes]
            if options.get("plots"):
                _draw(opened, report, comparison)
    except BuildError as error:
        _answer(opened, candidate, _failed(candidate, options, f"{candidate.name} could not be built: {error}."))
        raise
    except (UnknownBackendError, ProfileError, ValueError) as error:
        report = _failed(candidate, options, not_compared(error))
    report.weights = f"as the file makes them; random numbers start from seed {_seed(options)}"
    report.seconds["total"] = time.perf_counter() - started
    _answer(opened, candidate, report)
    if comparison is not None and options.get("maps"):
        _map(opened, report, comparison)
    return _findings(report, candidate.location)


def _real(opened: OpenFile, candidate: Candidate) -> BuiltTarget | str:
    """The target with values, or why it was not compared."""
    opened.emit(Progressed(f"building {candidate.name} with values"))
    fake = opened.fake(candidate)
    needed, bound = bytes_of(fake), opened.request.memory_limit // REAL_SHARE
    if needed > bound:
        return (
            f"{candidate.name} was not compared: its weights and inputs take {needed >> 20} MiB, and a comparison may "
            f"use {bound >> 20} MiB for them (a third of the job's {opened.request.memory_limit >> 20} MiB)."
        )
    seed_everything(_seed(opened.request.options))
    return opened.real(candidate)


def _comparison(opened: OpenFile, candidate: Candidate, target: BuiltTarget) -> Comparison:
    options = opened.request.options
    profile = options.get("profile") or opened.request.profile
    file = opened.loaded.module
    reference, test = (resolve(str(options.get(name) or default), profile, file) for name, default in _SIDES)

    stream = Stream(lambda piece: opened.emit(PartlyAnswered(candidate.name, piece)))

    def progress(message: str) -> None:
        stream.flush()
        opened.emit(Progressed(f"{target.name}: {message}"))

    settings = ComparisonSettings(
        config=ComparisonConfig(atol=options.get("atol"), rtol=options.get("rtol")),
        gradients=bool(options.get("gradients")),
        runs=max(int(options.get("runs") or 1), 1),
        seed=_seed(options),
        nodes=bool(options.get("nodes", True)),
        inject=tuple(options.get("inject") or ()),
        time_limit=float(options.get("time_limit") or 120.0),
        progress=progress,
        stream=stream,
        exact=_fits_precisely(target, opened.request.memory_limit),
        eagerly=opened.builder.eagerly,
        traced=opened.builder.traced,
    )
    comparison = Comparison(target, reference, test, settings, opened.sources)
    if not settings.exact:
        target.notes.append(
            f"{target.name} was not run in float64, for which its {bytes_of(target) >> 20} MiB are too many: errors "
            "are measured from the reference itself."
        )
    return comparison


_SIDES = (("reference", "eager"), ("backend", "inductor"))


def _seed(options: dict[str, Any]) -> int:
    return int(options.get("seed") or 0)


def _fits_precisely(target: BuiltTarget, limit: int) -> bool:
    """Whether a float64 copy of the weights fits beside the model."""
    tensors = [] if target.module is None else [*target.module.parameters(), *target.module.buffers()]
    copy = sum(tensor.numel() * torch.empty(0, dtype=precise_dtype(tensor.dtype)).element_size() for tensor in tensors)
    return copy + 2 * bytes_of(target) <= limit


def _failed(candidate: Candidate, options: dict[str, Any], why: str) -> DiffReport:
    names = [str(options.get(name) or default) for name, default in _SIDES]
    return DiffReport(candidate.name, names[0], names[1], Verdict.FAILED, why, seed=_seed(options))


def _answer(opened: OpenFile, candidate: Candidate, report: DiffReport) -> None:
    document = report.document()
    emit, name = opened.emit, candidate.name
    content = json.dumps(to_wire(document), indent=1).encode()
    emit(
        ArtifactMade(
            ArtifactKind.REPORTS, f"KernelDiff, {report.backend}", ".json", "application/json", content, target=name
        )
    )
    emit(Answered(name, document))


def _draw(opened: OpenFile, report: DiffReport, comparison: Comparison) -> None:
    from inductor_debug.kerneldiff.plots.pictures import pictures_of
    from inductor_debug.kerneldiff.plots.plots import PlotsUnavailableError

    try:
        for title, picture in pictures_of(report, comparison.compared):
            kind = ArtifactKind.VISUALIZATIONS
            opened.emit(ArtifactMade(kind, title, ".png", "image/png", picture, target=report.target))
    except PlotsUnavailableError as error:
        report.notes.append(f"There are no pictures: {error}")


def _map(opened: OpenFile, report: DiffReport, comparison: Comparison) -> None:
    kind, title = ArtifactKind.VISUALIZATIONS, f"Errors, {report.backend}"
    content = error_maps(report, comparison.compared)
    opened.emit(ArtifactMade(kind, title, SUFFIX, MEDIA_TYPE, content, target=report.target))


def _findings(report: DiffReport, fallback: Location) -> list[Finding]:
    """One finding for each blamed expression, or one for the whole target where nobody is blamed."""
    if report.verdict not in (Verdict.WRONG, Verdict.SUSPICIOUS):
        return []
    severity = Severity.ERROR if report.verdict is Verdict.WRONG else Severity.WARNING
    if not report.blame:
        return [_finding(report, severity, f"{report.backend} against {report.reference}: {report.why}", fallback)]
    found: dict[Location, Finding] = {}
    for blame in report.blame:
        place = blame.place or fallback
        if place in found:
            found[place] = replace(found[place], count=found[place].count + 1)
        elif len(found) < _MOST_FINDINGS:
            found[place] = _finding(report, severity, _words(report, blame), place, blame)
    return list(found.values())


def _words(report: DiffReport, blame: Blame) -> str:
    verb = "computes this wrongly" if report.verdict is Verdict.WRONG else "may compute this wrongly"
    return f"{report.backend} {verb}: {blame.why}."


def _finding(
    report: DiffReport, severity: Severity, message: str, place: Location, blame: Blame | None = None
) -> Finding:
    return Finding(
        rule="numerics",
        severity=severity,
        message=message,
        path=place.path,
        range=place.range,
        stage=Stage.MOCK,
        target=report.target,
        op=blame.op if blame is not None else None,
        module=blame.module or None if blame is not None else None,
    )
