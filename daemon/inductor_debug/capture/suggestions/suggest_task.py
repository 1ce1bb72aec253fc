"""The task `suggest`: runs a target as it is and in other ways, without the accelerator, and tells what each needs.

A way is offered only where its figures are better than before; what does not run in it is told with the reason. Every
way is tried by itself, and then those that gain together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

import torch
from inductor_debug_schema import (
    Answered,
    Event,
    Finding,
    JobRequest,
    OddSize,
    Progressed,
    RunFigures,
    RunWay,
    Stage,
    SuggestionsDocument,
    SuggestTask,
    TriedWay,
)

from inductor_debug.accelerators.gpu import GpuPlatform
from inductor_debug.accelerators.profile import Profile, chosen_name
from inductor_debug.capture.inference.finding_filter import inputs_told
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.suggestions.changed_runs import AS_IT_IS, RunSettings, repeated_blocks
from inductor_debug.capture.suggestions.removed_breaks import groups_of, removed_breaks
from inductor_debug.capture.suggestions.tried_runs import RunTrial, TrialRun, TriedRuns
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets
from inductor_debug.rules.costing.bounds import knows_speed
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, Product, Recording

SCHEMA = 1
_TIGHT = 0.7
"""The part of the accelerator's memory from which on a run is worth making slower to need less of it."""
_HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
"""What products are computed in instead of float32, the safer first."""
_NO_SPEED = "It is not known how fast this accelerator is: choose one that has a speed, a GPU for example."
_MOST_BREAKS = 12
"""So many graph breaks are tried one by one; the others only together."""
_PRECISION = frozenset({RunWay.AUTOCAST, RunWay.CONVERTED, RunWay.TF32})
"""Of these at most one is chosen."""


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Answers with a `SuggestionsDocument` for each target."""
    task = request.task
    assert isinstance(task, SuggestTask)
    on_targets(request, emit, lambda opened, candidate: _suggest(opened, candidate, task.least_gain))


def _suggest(opened: OpenFile, candidate: Candidate, least_gain: float) -> list[Finding]:
    trials = TriedRuns(opened, candidate)
    target = trials.target()
    opened.emit(Progressed(f"running {candidate.name} as it is"))
    trials.run_beside([AS_IT_IS, *_likely(opened.profile)])
    made, figures = trials.made(AS_IT_IS), trials.figures(RunTrial(()))
    before, problem, tried = None, "", []
    if isinstance(made, str) or isinstance(figures, str):
        made, problem = TrialRun(Recording(), []), str(made)
    elif not knows_speed(opened.profile):
        problem = _NO_SPEED
    else:
        before, found = figures, _Tried(trials, figures, least_gain, made.breaks)
        single = list(_single_trials(opened, target, made.recording, figures))
        trials.run_beside(trial.settings for trial in single)
        for trial in single:
            found.take(trial)
        found.without_breaks(made)
        found.together()
        tried = found.rows()
    profile = opened.profile
    document = SuggestionsDocument(
        schema=SCHEMA,
        target=candidate.name,
        stage=Stage.AOT,
        path=opened.request.path,
        accelerator=chosen_name(opened.request.profile) or "",
        title=profile.title,
        device_type=profile.gpu.platform.device_type if profile.gpu is not None else "",
        device_bytes=profile.memory_bytes,
        training=_has_backward(made.recording),
        inputs=inputs_told(target),
        before=before,
        tried=tried,
        problem=problem,
    )
    opened.emit(Answered(candidate.name, document))
    return []


def _likely(profile: Profile) -> list[RunSettings]:
    """What nearly every model is tried in: it runs while it is not yet known how the model runs as it is."""
    half = _half_of(profile)
    return [RunSettings(autocast=_HALVES[half])] if half is not None else []


def _single_trials(
    opened: OpenFile, target: BuiltTarget, recording: Recording, before: RunFigures
) -> Iterator[RunTrial]:
    """The ways that have to do with what ran, each by itself."""
    profile = opened.profile
    single = any(_multiplies_singles(op) for op in recording.ops)
    half = _half_of(profile) if single else None
    if half is not None:
        yield RunTrial((RunWay.AUTOCAST,), RunSettings(autocast=_HALVES[half]))
        if not _has_backward(recording):
            yield RunTrial((RunWay.CONVERTED,), RunSettings(dtype=_HALVES[half]))
    if single and _rounds(profile) and Product.MATMUL not in recording.tf32:
        yield RunTrial((RunWay.TF32,), rounded=True)
    if profile.gpu is not None and profile.gpu.platform is GpuPlatform.CUDA:
        if any(operators.convolves(op.packet) for op in recording.ops):
            yield RunTrial((RunWay.CHANNELS_LAST,), RunSettings(channels_last=True))
        if profile.gpu.launch_seconds and not recording.on_host and target.dynamic is not True:
            yield RunTrial((RunWay.CUDA_GRAPHS,), graphs=True)
    if _has_backward(recording) and target.module is not None and _is_tight(before, profile.memory_bytes):
        blocks = repeated_blocks(target.module)
        if blocks:
            yield RunTrial((RunWay.RECOMPUTE,), RunSettings(recompute=blocks))


class _Tried:
    """What has been tried of a target, and what that gained."""

    def __init__(self, trials: TriedRuns, before: RunFigures, least_gain: float, breaks: list[Finding]) -> None:
        self._trials, self._before, self._breaks = trials, before, breaks
        self._device_bytes = trials.opened.profile.memory_bytes
        self._kept = 1 - least_gain
        self._found: list[tuple[RunTrial, RunFigures | str]] = []

    def take(self, trial: RunTrial) -> RunFigures | str:
        """Tries some ways together."""
        self._trials.opened.emit(Progressed(f"trying {' and '.join(way.value for way in trial.ways)}"))
        figures = self._trials.figures(trial)
        self._found.append((trial, figures))
        return figures

    def without_breaks(self, made: TrialRun) -> None:
        """Tries the run without any of its graph breaks and, where that gains, without each of them."""
        groups = groups_of(made.breaks, made.recording)
        if not groups:
            return
        figures = self.take(RunTrial((RunWay.JOINED,), joined=frozenset(chain.from_iterable(groups))))
        if len(groups) > 1 and self._gains(figures, self._before):
            for places in groups[:_MOST_BREAKS]:
                self.take(RunTrial((RunWay.JOINED,), joined=frozenset(places)))

    def together(self) -> None:
        """Adds to the way that gains most the others that gain more on top of it, one after the other."""
        gaining = [
            (trial, figures)
            for trial, figures in self._found
            if isinstance(figures, RunFigures) and self._gains(figures, self._before)
        ]
        first, reached = min(gaining, key=lambda item: _seconds(item[1]), default=(RunTrial(()), self._before))
        best = first
        for trial, _ in list(self._found):
            if trial is first or (_PRECISION & {*best.ways} and _PRECISION & {*trial.ways}):
                continue
            figures = self._trials.figures(best + trial)
            if isinstance(figures, RunFigures) and self._gains(figures, reached):
                best, reached = best + trial, figures
        # Which sizes are odd depends on what products are computed in.
        if odd := self._trials.odd_sizes(best):
            padded = best + RunTrial((RunWay.PADDED,), RunSettings(padded=odd))
            figures = self._trials.figures(padded)
            if isinstance(figures, str) or not self._gains(figures, reached):
                self._found.append((padded, figures))
            else:
                best, reached = padded, figures
        if best is not first:
            self._found.append((best, reached))

    def rows(self) -> list[TriedWay]:
        """All that was tried: what gains first, the fastest before others."""
        rows = [self._row(trial, figures) for trial, figures in self._found]
        return sorted(rows, key=lambda row: (not row.offered, _seconds(row.figures)))

    def _row(self, trial: RunTrial, figures: RunFigures | str) -> TriedWay:
        dtype = trial.settings.autocast or trial.settings.dtype
        return TriedWay(
            ways=list(trial.ways),
            offered=self._gains(figures, self._before),
            figures=None if isinstance(figures, str) else figures,
            problem=figures if isinstance(figures, str) else "",
            dtype=str(dtype).rpartition(".")[2] if dtype is not None else "",
            modules=list(trial.settings.recompute),
            padded=[OddSize(size, wanted) for size, wanted in trial.settings.padded],
            breaks=removed_breaks(self._breaks, trial.joined, self._trials.opened.sources),
        )

    def _gains(self, figures: RunFigures | str, before: RunFigures) -> bool:
        """Whether a run is faster so, or needs less memory where that is scarce."""
        if isinstance(figures, str):
            return False
        if _seconds(figures) < _seconds(before) * self._kept:
            return True
        less = figures.peak_bytes < before.peak_bytes * self._kept
        slower = _seconds(figures) * self._kept > _seconds(before)
        return less and (not slower or _is_tight(before, self._device_bytes))


def _seconds(figures: RunFigures | str | None) -> float:
    return figures.seconds + figures.copied_seconds if isinstance(figures, RunFigures) else float("inf")


def _is_tight(figures: RunFigures, device_bytes: int | None) -> bool:
    return device_bytes is not None and figures.peak_bytes > _TIGHT * device_bytes


def _has_backward(recording: Recording) -> bool:
    return any(op.autograd_node for op in recording.ops)


def _multiplies_singles(op: Op) -> bool:
    return operators.computes_product(op.packet) and any(meta.dtype == "float32" for meta in op.inputs)


def _half_of(profile: Profile) -> str | None:
    """The dtype of two bytes in which products are fastest, and which the accelerator has by itself."""
    speed = profile.speed
    if speed is None:
        return None
    usable = [name for name in _HALVES if profile.supports(name) and name not in profile.emulated]
    rates = {name: speed.product_rate(name) or 0.0 for name in usable}
    best = max(rates, key=lambda name: rates[name], default=None)
    return best if best is not None and rates[best] > (speed.product_rate("float32") or 0.0) else None


def _rounds(profile: Profile) -> bool:
    speed = profile.speed
    rounded = speed.tf32_operations_per_second if speed is not None else None
    return speed is not None and rounded is not None and rounded > speed.operations_per_second.get("float32", 0.0)
