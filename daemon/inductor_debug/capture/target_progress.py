"""How far the targets of a file have come, what is told of their stages, and what that makes of the file.

Data of the session's: runs nothing and tells nobody. Models with values it has built anew, for they are not kept.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from inductor_debug_schema import (
    FileStatus,
    Finding,
    Inferred,
    Range,
    Shortfall,
    Stage,
    StageFinished,
    StageReport,
    StageState,
)

from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.dynamo.compiled_names import forget_compiled
from inductor_debug.capture.inference.finding_filter import NOT_CARRIED, has_free_sizes
from inductor_debug.capture.inference.inference import inference_of
from inductor_debug.capture.running.raising import Raising
from inductor_debug.capture.running.target import BuiltTarget, endings_of, outline_of
from inductor_debug.capture.sizes.sizing import Sizing
from inductor_debug.capture.targets.building import bytes_of
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.target_builder import Load, TargetBuilder
from inductor_debug.rules.captures.capture_judging import Capture, judged

_LARGE = 1 << 25
"""Bytes from which a model with values is built anew for each stage: a file may hold thirty, and they take turns."""

_QUICK = 10.0
"""Seconds of a stage after which one that takes minutes is not so for want of less to do."""


@dataclass
class TargetProgress:
    """What a job knows of one target so far. `valued` replaces `target` once fake tensors have shown too little.

    `refused` says why nothing could be inferred for it, `blamed` that this is the fault of its own code. `told` is how
    its latest stage ended, and `capture`, of blamed ones, what that stage saw. One that is `left_out` is not run.
    """

    candidate: Candidate
    left_out: bool = False
    target: BuiltTarget | None = None
    valued: BuiltTarget | None = None
    sizing: Sizing | None = None
    analysed: bool = False
    findings: int = 0
    refused: Inferred | None = None
    blamed: bool = False
    told: StageFinished | None = None
    capture: Capture | None = None
    _plain: BuiltTarget | None = None
    """The target as it was built, as long as nothing but its values is what building it anew would not give."""
    _outline: BuiltTarget | None = None
    """What is left of a target that was let go of."""
    _valued_let_go: bool = False

    def built(self, target: BuiltTarget) -> BuiltTarget:
        """Takes the target as it was built, and gives it."""
        self.target = self._plain = target
        return target

    def restored(self, builder: TargetBuilder) -> BuiltTarget | None:
        """The target, built anew where it was let go of; None where nothing could be built."""
        if self._outline is not None:
            self.target = self._plain = builder.built_anew(self.candidate, self._outline)
            self._outline = None
        return self.target

    def ready(self, builder: TargetBuilder, load: Load) -> BuiltTarget | None:
        """What a stage runs of it: the same, or what has values in its place once that was wanted."""
        self.restored(builder)
        if self._valued_let_go and self.target is not None:
            self._valued_let_go = False
            valued = builder.with_values(self.candidate, load, self.target)
            if not isinstance(valued, str):
                self.valued = replace(self.as_given(valued), **endings_of(self.target))
        return self.valued or self.target

    @property
    def symbols_may_slow(self) -> bool:
        """Whether a stage that takes long may be quick with numbers for symbols, as the one before was with these."""
        if self.told is None or self.target is None or self.sizing is not None:  # whose sizes somebody set stay symbols
            return False
        return self.told.report.seconds < _QUICK and has_free_sizes(self.target)

    @property
    def is_let_go(self) -> bool:
        """Whether only an outline of the target is there."""
        return self._outline is not None

    def let_go(self, builder: TargetBuilder) -> None:
        """Frees the memory of a large model with values until the next stage."""
        freed = False
        if self.valued is not None and _takes_memory(self.valued):
            self.valued, self._valued_let_go, freed = None, True, True
        if (
            self.target is not None
            and self.target is self._plain
            and self.candidate.inference is not None
            and not self.blamed
            and _takes_memory(self.target)
        ):
            # Only what a class makes: what a file makes itself the file holds, and may compile.
            self.target = self._outline = outline_of(self.target)
            self._plain, freed = None, True
        if freed:
            forget_compiled(builder.modules())
            gc.collect()

    def as_given(self, target: BuiltTarget) -> BuiltTarget:
        """The target, built anew, with the sizes that it is run with."""
        assert self.target is not None
        return target if self.sizing is None else self.sizing.sized(target, self.target.larger, self.target.given)

    @property
    def has_no_run(self) -> bool:
        """Whether there is no run of it that could show its parts."""
        return self.left_out or self.refused is not None

    @property
    def inferred(self) -> Inferred | None:
        """What was inferred for it, where that was tried."""
        if self.refused is not None:
            return self.refused
        if self.target is None:
            return Inferred() if self.candidate.inference is not None else None
        return self.target.inference.result if self.target.inference is not None else None

    def finish(self, report: StageReport, findings: list[Finding]) -> StageFinished:
        """Notes the end of a stage, and gives what is told of it."""
        self.analysed = self.analysed or report.state is StageState.DONE
        self.findings += len(findings)
        ours = self.candidate.inference is not None and not (self.target is not None and self.target.given)
        if ours and not self.blamed and report.state is StageState.FAILED:
            short = report.shortfall or Shortfall.INPUTS
            report = replace(report, state=StageState.SKIPPED, notes=[*report.notes, NOT_CARRIED], shortfall=short)
        self.told = StageFinished(self.candidate.name, report, findings, self.inferred)
        return self.told

    def remarked(self, note: str) -> StageFinished:
        """The end of the latest stage, as it was told, with a note."""
        assert self.told is not None
        self.told = replace(self.told, report=replace(self.told.report, notes=[*self.told.report.notes, note]))
        return self.told

    def without_repeated(self, findings: list[Finding], told: Set[tuple[str, str, Range]]) -> list[Finding]:
        """The findings without breaks where its export stops: who exports has no use for what goes on in pieces."""
        if self.candidate.exported is None:
            return findings
        stops = {(path, span) for rule, path, span in told if rule == "export"}
        return [one for one in findings if one.rule != "graph-break" or (one.path, one.range) not in stops]

    def previewed(self, raising: Raising | None) -> None:
        """Notes where an eager run has ended, of which the end was just told, if it did not come to its own.

        Args:
            raising: what raised, which counts where it is told as the code's own fault.
        """
        assert self.told is not None
        early = self.told.report.shortfall is Shortfall.INPUTS
        if all(finding.rule != "capture-error" for finding in self.told.findings):
            raising = None
        if not early and raising is None:
            return
        if self.target is not None:
            plain = self.target is self._plain
            self.target = replace(self.target, ends_early=early, raising=raising)
            self._plain = self.target if plain else None
        self.valued = None if self.valued is None else replace(self.valued, ends_early=early, raising=raising)

    def reconsidered(self, profile: Profile) -> tuple[StageFinished, Capture]:
        """The end of a blamed target's latest stage, and what that saw, once inference has reconsidered the blame."""
        inference = inference_of(self.target) if self.target is not None else None
        assert inference is not None
        assert self.capture is not None
        assert self.told is not None
        runs = [
            run if run.basis is None else replace(run, basis=replace(run.basis, blame=inference.blame))
            for run in self.capture.runs
        ]
        self.capture = replace(self.capture, runs=runs)
        self.told = replace(self.told, findings=judged(self.capture, profile, ()), inferred=self.inferred)
        return self.told, self.capture


def _takes_memory(target: BuiltTarget) -> bool:
    return target.fake_mode is None and bytes_of(target) >= _LARGE


def stages_of(asked: Sequence[Stage], targets: Sequence[TargetProgress]) -> list[Stage]:
    """The stages that are asked for, with the export of what a file exports itself, which comes before its capture."""
    exports = Stage.EXPORT not in asked and any(item.candidate.exported is not None for item in targets)
    return [*asked[:1], *([Stage.EXPORT] if exports else []), *asked[1:]]


def file_status(targets: Sequence[TargetProgress], *, loaded: bool, has_findings: bool) -> FileStatus:
    """What became of a file.

    Args:
        targets: all of them, after the last stage.
        loaded: the file's code ran to its end.
        has_findings: something was found that is of no target.
    """
    if not targets:
        return FileStatus.NO_TARGET if loaded else FileStatus.FAILED
    told = has_findings or any(item.findings for item in targets)
    if all(item.candidate.inference is not None and not item.analysed for item in targets):
        return FileStatus.FINDINGS if any(item.blamed for item in targets) and told else FileStatus.NO_TARGET
    if not any(item.analysed for item in targets):
        return FileStatus.FAILED
    return FileStatus.FINDINGS if told else FileStatus.CLEAN
