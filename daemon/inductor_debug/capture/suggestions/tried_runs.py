"""TriedRuns of a target: what it needs at least where it is run in some ways, each run once on a target of its own.

Ways of which it is known beforehand that they are wanted run beside one another, in forked children; a child that ends
before it answers changes nothing but the time: what it was at runs here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import torch
from inductor_debug_schema import (
    Finding,
    Location,
    Misalignment,
    Position,
    PricedRun,
    Range,
    RunFigures,
    RunWay,
    Severity,
    Stage,
    StageState,
)

from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.expressions.host_tensors import made_on_host
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.gpu_kernels.absent_gpu import attention_on
from inductor_debug.capture.inference.finding_filter import has_free_sizes, with_fixed_sizes
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.sizes.larger_sizes import with_larger_sizes
from inductor_debug.capture.sizes.sizing import Sizing, sizing_of
from inductor_debug.capture.stages.aot import run_aot
from inductor_debug.capture.stages.aot_lowering import import_ahead
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.capture.suggestions.changed_runs import AS_IT_IS, RunSettings
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile
from inductor_debug.capture.tensors.rounded_products import products_rounded_in
from inductor_debug.rules.costing.bounds import bounds_of
from inductor_debug.rules.judge import judge
from inductor_debug.rules.recording.graph_parts import joined
from inductor_debug.rules.recording.liveness import on_device, peak_of
from inductor_debug.rules.recording.ops import Product, Recording
from inductor_debug.rules.registry import constraints
from inductor_debug.system.forked_work import Died, processors, worked_on

_COPYING = ("channels-last", "matrix-padding")
"""Rules whose findings say what torch.compile copies in every run."""


@dataclass(frozen=True, slots=True)
class RunTrial:
    """Ways that are tried together: how the target is run, and what is otherwise of its bound.

    `joined` are the places of graph breaks without which it is counted.
    """

    ways: tuple[RunWay, ...]
    settings: RunSettings = AS_IT_IS
    rounded: bool = False
    graphs: bool = False
    joined: frozenset[Location] = frozenset()

    def __add__(self, other: RunTrial) -> RunTrial:
        ours, theirs = self.settings, other.settings
        settings = RunSettings(
            autocast=ours.autocast or theirs.autocast,
            dtype=ours.dtype or theirs.dtype,
            channels_last=ours.channels_last or theirs.channels_last,
            recompute=ours.recompute or theirs.recompute,
            padded=ours.padded or theirs.padded,
        )
        return RunTrial(
            tuple(dict.fromkeys((*self.ways, *other.ways))),
            settings,
            self.rounded or other.rounded,
            self.graphs or other.graphs,
            self.joined | other.joined,
        )


@dataclass(frozen=True, slots=True)
class TrialRun:
    """What ran, and what is told of the graph breaks that it has."""

    recording: Recording
    breaks: list[Finding]


@dataclass
class TriedRuns:
    """The trials of one target. Each way to run it is run once, on a target of its own."""

    opened: OpenFile
    candidate: Candidate
    findings: list[Finding] = field(default_factory=list)
    _runs: dict[RunSettings, TrialRun | str] = field(default_factory=dict)
    _sizing: Sizing | None = None
    _larger: dict[str, int] = field(default_factory=dict)
    _given: dict[str, int] = field(default_factory=dict)

    def target(self) -> BuiltTarget:
        """The target, built anew, with numbers for all sizes.

        Raises:
            BuildError: user code raised.
        """
        built = self.opened.fake(self.candidate)
        if self._sizing is None:
            made = self._first(built)
            self._larger, self._given = made.larger, made.given
            return made
        return self._sized(with_fixed_sizes(built) if has_free_sizes(built) else built)

    def _sized(self, target: BuiltTarget) -> BuiltTarget:
        """The target, built anew, with the sizes of the first one."""
        assert self._sizing is not None
        return self._sizing.sized(target, self._larger, self._given)

    def _first(self, built: BuiltTarget) -> BuiltTarget:
        """The first one: learns which sizes it is run with, those that were asked for, else larger ones than usual."""
        asked = {size.name: size.value for size in self.opened.request.sizes if size.target in ("", built.name)}
        if not asked:
            made, self._sizing = with_larger_sizes(built, self.opened.sources, self._around)
            return made
        target = with_fixed_sizes(built) if has_free_sizes(built) else built
        self._sizing = sizing_of(target, self.opened.sources, lambda: self._around(target))
        made = self._sizing.resized(target, asked)
        self.opened.emit(self._sizing.seen(target.name, made.given))
        return made

    def run_beside(self, wanted: Iterable[RunSettings]) -> None:
        """Runs what will be asked for, as many ways at a time as there are processors."""
        missing = [settings for settings in dict.fromkeys(wanted) if settings not in self._runs]
        if min(len(missing), processors()) < 2:
            return
        import_ahead()  # once, and not in each child
        for settings, made in worked_on(missing, self._run):
            if not isinstance(made, Died):
                self._runs[settings] = made

    def made(self, settings: RunSettings) -> TrialRun | str:
        """What runs under some settings, or why that does not run."""
        if settings not in self._runs:
            self._runs[settings] = self._run(settings)
        return self._runs[settings]

    def odd_sizes(self, trial: RunTrial) -> tuple[tuple[int, int], ...]:
        """The sizes of parameters that matrix units do not take in whole pieces in such a run, with those that fit."""
        recording = self._recorded(trial)
        if isinstance(recording, str):
            return ()
        facts = [finding.facts for finding in self._copies(recording)]
        odd = [size for each in facts if isinstance(each, Misalignment) for size in each.odd_sizes]
        known = ((each.odd_size, each.next_size) for each in odd)
        return tuple((size, fitting) for size, fitting in known if isinstance(size, int) and fitting is not None)

    def _recorded(self, trial: RunTrial) -> Recording | str:
        made = self.made(trial.settings)
        if isinstance(made, str):
            return made
        recording = joined(made.recording, trial.joined) if trial.joined else made.recording
        return replace(recording, tf32=frozenset(Product)) if trial.rounded else recording

    def figures(self, trial: RunTrial) -> RunFigures | str:
        """What a run needs so, or why there is none."""
        recording = self._recorded(trial)
        if isinstance(recording, str):
            return recording
        profile = _without_launches(self.opened.profile) if trial.graphs else self.opened.profile
        measure = on_device(profile, None)
        run = bounds_of(recording, profile, measure)
        return RunFigures(
            seconds=max(run.seconds or 0.0, _one_launch(self.opened.profile) if trial.graphs else 0.0),
            copied_seconds=sum(map(_copied, self._copies(recording))),
            crossing_bytes=run.moved_bytes,
            peak_bytes=peak_of(recording, measure).bytes,
        )

    def _run(self, settings: RunSettings) -> TrialRun | str:
        try:
            outcome = self._outcome(self.target(), settings)
        except Exception as error:
            return describe(error)
        if outcome.report.state is not StageState.DONE:
            return self._why_not(settings) or next(iter(outcome.report.notes), "it did not come to its end")
        outcome.recording.tf32 |= products_rounded_in(self.opened.request.text)
        outcome.recording.on_host = made_on_host(outcome.recording, self.opened.sources)
        return TrialRun(outcome.recording, [found for found in outcome.findings if found.rule == "graph-break"])

    def _outcome(self, target: BuiltTarget, settings: RunSettings) -> StageOutcome:
        """What comes of a run under some settings: with values, where the code looks at them."""
        applied = settings.applied(target)
        with self._around(applied), settings.around():
            outcome = run_aot(applied, self.opened.sources, partial(attention_on, self.opened.profile))
        if not outcome.retry_real or target.fake_mode is None:
            return outcome
        valued = self.opened.builder.with_values(self.candidate, self.opened.loaded, target)
        if isinstance(valued, str):
            outcome.report.notes.insert(0, valued)
            return outcome
        return self._outcome(self._sized(valued), settings)

    def _why_not(self, settings: RunSettings) -> str | None:
        """What an eager run says of a target that cannot be captured, which knows operands and sizes."""
        with self.opened.builder.eagerly(), settings.around():
            outcome = run_preview(settings.applied(self.target()), self.opened.sources)
        errors = (finding.message for finding in outcome.findings if finding.severity is Severity.ERROR)
        return next(errors, None)

    @contextlib.contextmanager
    def _around(self, target: BuiltTarget) -> Iterator[None]:
        with self.opened.builder.traced(), torch.set_grad_enabled(target.gradients):
            yield

    def _copies(self, recording: Recording) -> list[Finding]:
        """What torch.compile copies in every run, as the rules for that say it."""
        rules = [rule for rule in constraints() if rule.id in _COPYING and rule.applies(self.opened.profile)]
        place = Location(self.opened.request.path, Range(Position(0, 0), Position(0, 0)))
        return judge(
            recording, self.opened.profile, stage=Stage.AOT, target=self.candidate.name, fallback=place, rules=rules
        )


def _without_launches(profile: Profile) -> Profile:
    """The accelerator where all kernels of a run are launched at once."""
    return profile if profile.gpu is None else replace(profile, gpu=replace(profile.gpu, launch_seconds=None))


def _one_launch(profile: Profile) -> float:
    return profile.gpu.launch_seconds or 0.0 if profile.gpu is not None else 0.0


def _copied(finding: Finding) -> float:
    """The seconds of the copies that a finding tells of."""
    if isinstance(finding.facts, PricedRun):
        return finding.facts.saved_seconds
    return finding.facts.copied_seconds if isinstance(finding.facts, Misalignment) else 0.0
