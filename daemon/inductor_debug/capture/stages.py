"""What a stage hands back, shared by `preview` and `mock`."""

from __future__ import annotations

from dataclasses import dataclass

from inductor_debug_schema import Finding, StageReport

from inductor_debug.rules.ops import Recording


@dataclass
class StageOutcome:
    """One stage of one target.

    `findings` are about the run itself (an exception, a graph break); rules are judged later, on `recording`.
    `retry_real` says that fake tensors could not go on: the code asks for a value, or for an operator that they cannot
    imitate.
    """

    recording: Recording
    report: StageReport
    findings: list[Finding]
    retry_real: bool
