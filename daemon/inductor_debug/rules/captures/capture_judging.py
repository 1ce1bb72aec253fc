"""Judges what a stage saw of a target: in the worker that captured it, and again by whoever keeps the capture.

The one way from runs to the findings of a stage, so that a capture which is judged a second time, for another
accelerator, gives what a check for that accelerator would have given. It runs nothing and needs no torch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from inductor_debug_schema import Basis, Direction, Finding, Location, Range, RunCaptured, Stage, StageCaptured

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.captures.breaks_within import folded
from inductor_debug.rules.captures.codec import packed, unpacked
from inductor_debug.rules.captures.inferred_findings import honest
from inductor_debug.rules.judge import judge
from inductor_debug.rules.recording.ops import Recording

Told = Collection[tuple[str, str, Range]]
"""Rule, file and place of what earlier stages of a target told of the forward pass."""


@dataclass(frozen=True)
class CapturedRun:
    """One run of a target in a stage; the fields are those of `RunCaptured`, the recording unpacked."""

    recording: Recording
    found: list[Finding] = field(default_factory=list)
    retold: list[Finding] = field(default_factory=list)
    beside: list[Finding] = field(default_factory=list)
    basis: Basis | None = None
    aside: str = ""

    @staticmethod
    def of(captured: RunCaptured) -> CapturedRun:
        """The run that a worker sent.

        Raises:
            CaptureError: the recording cannot be read.
        """
        recording = unpacked(captured.recording)
        return CapturedRun(recording, captured.found, captured.retold, captured.beside, captured.basis, captured.aside)

    def on_wire(self) -> RunCaptured:
        """The run as it is sent."""
        return RunCaptured(packed(self.recording), self.found, self.retold, self.beside, self.basis, self.aside)


@dataclass(frozen=True)
class Capture:
    """A stage of a target, ready to be judged."""

    target: str
    stage: Stage
    place: Location
    runs: list[CapturedRun]
    others: list[CapturedRun] = field(default_factory=list)

    @staticmethod
    def of(captured: StageCaptured) -> Capture:
        """The capture that a worker sent.

        Raises:
            CaptureError: a recording cannot be read.
        """
        runs, others = ([*map(CapturedRun.of, found)] for found in (captured.runs, captured.others))
        return Capture(captured.target, captured.stage, captured.place, runs, others)

    def on_wire(self) -> StageCaptured:
        """The capture as it is sent."""
        runs, others = ([run.on_wire() for run in found] for found in (self.runs, self.others))
        return StageCaptured(self.target, self.stage, self.place, runs, others)

    @property
    def recording(self) -> Recording:
        """That of the run that saw most; empty where nothing ran."""
        return self.runs[-1].recording if self.runs else Recording()


def judged(capture: Capture, profile: Profile, told: Told) -> list[Finding]:
    """The findings of a stage of a target on an accelerator, those of its last run first.

    Args:
        capture: what the stage saw.
        profile: the accelerator.
        told: what earlier stages of the target told, for this accelerator (`told_by`).
    """
    findings: list[Finding] = []
    for number, run in enumerate(capture.runs):
        found = _judged_run(run, capture, profile, told)
        findings = merged(found, findings) if number else found
    return findings


def judged_others(capture: Capture, profile: Profile) -> list[Finding]:
    """What is to be said of runs with other inputs, of no stage of the target."""
    return [finding for run in capture.others for finding in _judged_run(run, capture, profile, ())]


def _judged_run(run: CapturedRun, capture: Capture, profile: Profile, told: Told) -> list[Finding]:
    of_rules = judge(run.recording, profile, stage=capture.stage, target=capture.target, fallback=capture.place)
    return findings_of(run, of_rules, told)


def findings_of(run: CapturedRun, of_rules: Sequence[Finding], told: Told) -> list[Finding]:
    """What is told of one run, given what the rules find in its recording."""
    retold = {_key(finding): finding for finding in run.retold}
    spoken = (retold.get(_key(finding), finding) for finding in of_rules)
    findings = [*run.found, *(finding for finding in spoken if not _repeats_forward(finding, told))]
    findings = folded([*(findings if run.basis is None else honest(findings, run.basis)), *run.beside])
    return (
        [replace(finding, message=_with(run.aside, finding.message)) for finding in findings] if run.aside else findings
    )


def _with(aside: str, sentence: str) -> str:
    """The sentence with something said in brackets at its end."""
    return f"{sentence[:-1]} ({aside})." if sentence.endswith(".") else f"{sentence} ({aside})"


def told_by(findings: Sequence[Finding]) -> set[tuple[str, str, Range]]:
    """What findings of a stage tell of the forward pass, for the stages that follow."""
    return {_key(finding) for finding in findings if finding.direction is not Direction.BACKWARD}


def _key(finding: Finding) -> tuple[str, str, Range]:
    return finding.rule, finding.path, finding.range


def _repeats_forward(finding: Finding, told: Told) -> bool:
    """Whether the backward only repeats what an earlier stage said of the forward at the same expression."""
    return finding.direction is Direction.BACKWARD and _key(finding) in told


def merged(first: list[Finding], second: list[Finding]) -> list[Finding]:
    """Both lists, one finding for each rule and place; of two, the one that covers more ops."""
    found: dict[object, Finding] = {}
    for finding in (*first, *second):
        key = _key(finding)
        if key not in found or finding.count > found[key].count:
            found[key] = finding
    return folded(list(found.values()))
