"""How far the targets of a file have come, and what that makes of the file. Runs nothing and tells nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug_schema import FileStatus, Inferred

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.sizes.sizing import Sizing
from inductor_debug.capture.targets.candidates import Candidate


@dataclass
class TargetProgress:
    """One target on its way through the stages. `valued` replaces `target` once fake tensors have shown too little.

    `refused` says why nothing could be inferred for it, `blamed` that this is the fault of its own code.
    """

    candidate: Candidate
    target: BuiltTarget | None = None
    valued: BuiltTarget | None = None
    sizing: Sizing | None = None
    analysed: bool = False
    findings: int = 0
    refused: Inferred | None = None
    blamed: bool = False

    @property
    def inferred(self) -> Inferred | None:
        """What was inferred for it, where that was tried."""
        if self.refused is not None:
            return self.refused
        if self.target is None:
            return Inferred() if self.candidate.inference is not None else None
        return self.target.inference.result if self.target.inference is not None else None


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
