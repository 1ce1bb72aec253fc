"""The task `diff`: compares a backend with a reference on the targets of a file.

Weights are those that the file makes or loads; where it makes random ones, they come from the stated seed. Each target
is answered with a `diff` document, failures included; what is wrong with the numbers becomes a `numerics` finding.
"""

from __future__ import annotations

import json
import mimetypes
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    DiffTask,
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
from inductor_debug.kerneldiff.function_gradients import add_functions
from inductor_debug.kerneldiff.judging.comparison_settings import ComparisonSettings
from inductor_debug.kerneldiff.judging.diff_report import Blame, DiffReport, Verdict
from inductor_debug.kerneldiff.judging.streaming import Stream
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig
from inductor_debug.kerneldiff.plots.error_maps import MEDIA_TYPE, SUFFIX, error_maps

_MOST_FINDINGS = 5


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Compares every target that is meant, as `request.task`, a `DiffTask`, says."""
    task = request.task
    assert isinstance(task, DiffTask)
    on_targets(request, emit, lambda opened, candidate: _compare(opened, candidate, task))


def _compare(opened: OpenFile, candidate: Candidate, task: DiffTask) -> list[Finding]:
    seed = opened.request.seed
    started = time.perf_counter()
    comparison: Comparison | None = None
    found: list[Finding] = []
    try:
        target = _real(opened, candidate)
        if isinstance(target, str):
            report = _failed(candidate, task, seed, target)
        else:
            comparison = _comparison(opened, candidate, target, task)
            report = comparison.run()
            report.notes = [*target.notes, *report.notes]
            found = _findings(report, candidate.location)
            if task.gradients:
                opened.emit(Progressed(f"{target.name}: custom autograd functions beside their derivatives"))
                found += add_functions(report, target, opened.sources)
            if task.plots:
                _draw(opened, report, comparison)
    except BuildError as error:
        _answer(opened, candidate, _failed(candidate, task, seed, f"{candidate.name} could not be built: {error}."))
        raise
    except (UnknownBackendError, ProfileError, ValueError) as error:
        report = _failed(candidate, task, seed, not_compared(error))
    report.weights = f"as the file makes them; random numbers start from seed {seed}"
    report.seconds["total"] = time.perf_counter() - started
    _answer(opened, candidate, report)
    if comparison is not None:
        _keep_artifacts(opened, report, comparison)
    if comparison is not None and task.maps:
        _map(opened, report, comparison)
    return found


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
    seed_everything(opened.request.seed)
    return opened.real(candidate)


def _comparison(opened: OpenFile, candidate: Candidate, target: BuiltTarget, task: DiffTask) -> Comparison:
    profile = task.profile or opened.request.profile
    file = opened.loaded.module
    reference, test = (resolve(name, profile, file) for name in (task.reference, task.backend))
    stream = Stream(lambda piece: opened.emit(PartlyAnswered(candidate.name, piece)))

    def progress(message: str) -> None:
        stream.flush()
        opened.emit(Progressed(f"{target.name}: {message}"))

    settings = ComparisonSettings(
        config=ComparisonConfig(atol=task.atol, rtol=task.rtol),
        gradients=task.gradients,
        runs=max(task.runs, 1),
        seed=opened.request.seed,
        nodes=task.nodes,
        inject=tuple(task.inject),
        time_limit=task.time_limit,
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


def _fits_precisely(target: BuiltTarget, limit: int) -> bool:
    """Whether a float64 copy of the weights fits beside the model."""
    tensors = [] if target.module is None else [*target.module.parameters(), *target.module.buffers()]
    copy = sum(tensor.numel() * torch.empty(0, dtype=precise_dtype(tensor.dtype)).element_size() for tensor in tensors)
    return copy + 2 * bytes_of(target) <= limit


def _failed(candidate: Candidate, task: DiffTask, seed: int, why: str) -> DiffReport:
    return DiffReport(candidate.name, task.reference, task.backend, Verdict.FAILED, why, seed=seed)


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
    from inductor_debug.system.matplotlib_figures import MatplotlibUnavailableError

    try:
        for title, picture in pictures_of(report, comparison.compared):
            kind = ArtifactKind.VISUALIZATIONS
            opened.emit(ArtifactMade(kind, title, ".png", "image/png", picture, target=report.target))
    except MatplotlibUnavailableError as error:
        report.notes.append(f"There are no pictures: {error}")


def _keep_artifacts(opened: OpenFile, report: DiffReport, comparison: Comparison) -> None:
    """Keeps what compilers of adapters left of the graphs."""
    for name, content in comparison.artifacts().items():
        stem, dot, suffix = name.rpartition(".")
        title, ending = (stem, dot + suffix) if stem else (name, ".txt")
        kind, media = ArtifactKind.INDUCTOR_KERNELS, mimetypes.guess_type(f"x{ending}")[0]
        opened.emit(ArtifactMade(kind, title, ending, media or "text/plain", content, target=report.target))


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
        stage=Stage.COMPARISON,
        target=report.target,
        op=blame.op if blame is not None else None,
        module=blame.module or None if blame is not None else None,
    )
