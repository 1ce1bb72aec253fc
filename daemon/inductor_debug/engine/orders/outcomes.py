"""Why nothing came of an order, in one sentence, for whoever asked for it."""

from __future__ import annotations

from inductor_debug_schema import Event, FileReport, FileStatus, Loaded

from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.engine.orders.orders import Performed
from inductor_debug.source.notebooks.reading import place_seen_from

NO_TARGET = (
    "nothing in it to compile: no class of modules has a `forward`, and no model is made outside of functions; "
    "add a comment '# inductor-debug: inputs=(...)' above a model, "
    "a function get_inputs() or example_inputs(), or a call of torch.compile that runs when the file is imported "
    '(what stands under `if __name__ == "__main__":` does not)'
)
"""What to say of a file without targets."""
_STOPPING = ("capture-error", "graph-break", "timeout", "crash")
"""Rules of findings that say why nothing came of a capture."""


class OfferedTargets:
    """The targets that a file turns out to offer while it runs: `names`, in the file's order."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def hear(self, event: Event) -> None:
        """Takes in what a worker sent."""
        if isinstance(event, Loaded):
            self.names.extend(target.name for target in event.targets if target.name not in self.names)

    def missing(self, wanted: str, report: FileReport | None = None) -> str:
        """Why the target that was `wanted`, or any, is not there; "" where it is, or the file did not come so far."""
        if report is not None and report.status is FileStatus.NO_TARGET and not self.names:
            return NO_TARGET
        if wanted and self.names and wanted not in self.names:
            return unknown(wanted, self.names, "target")
        return ""


def failure(performed: Performed) -> str | None:
    """Why the order could not be carried out, in one sentence; None where the run ended as it should.

    Findings about the model are no failure; a file that cannot be loaded, a crash and a timeout are.
    """
    if not performed.broken and performed.report.status not in (
        FileStatus.FAILED,
        FileStatus.CRASHED,
        FileStatus.TIMEOUT,
    ):
        return None
    return reason(performed.report)


def reason(report: FileReport) -> str:
    """Why nothing came of a run, in one sentence."""
    worst = min(report.findings, key=lambda finding: finding.severity.rank, default=None)
    if worst is not None:
        return f"{place_seen_from(report.path, worst.path, worst.range.start.line)}: {worst.message}"
    return NO_TARGET if report.status is FileStatus.NO_TARGET else f"the run ended as {report.status.value}"


def shortfall(report: FileReport) -> str:
    """What stopped a run that ended as it should and has made nothing, else what its stages note; "" without either."""
    stopped = [finding for finding in report.findings if finding.rule in _STOPPING]
    if stopped:
        return min(stopped, key=lambda finding: finding.severity.rank).message
    notes = (note for target in report.targets for stage in target.stages for note in stage.notes if note)
    return next(notes, "")
