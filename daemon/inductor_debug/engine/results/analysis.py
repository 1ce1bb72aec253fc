"""What the engine tells its listener: the state of one document's analysis, with all findings so far.

An update is complete in itself (it never has to be added to an earlier one), so a face only has to show the newest.
This module holds data only; it never decides which update is stale (`engine.engine` does, at its one gate).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from inductor_debug_schema import FileReport, Stage

TOP_LEVEL_CHANGED = "waiting for a save: the edit is not only inside functions"
"""The cause of an update that waits because unsaved top-level code never runs."""


class AnalysisState(str, Enum):
    """How far the analysis of one generation of a document has come."""

    QUEUED = "queued"
    """Asked for; waiting for the typing to pause or for a free worker. Findings are those of before."""
    RUNNING = "running"
    """A worker is at it. Findings of stages that have not run again yet are those of before."""
    DONE = "done"
    """The findings are complete for this text. A file whose own fault it is that it cannot run is done, too."""
    FAILED = "failed"
    """The run itself failed: crash, timeout, memory, worker or configuration; a finding says which."""
    CANCELLED = "cancelled"
    """The user stopped it. Findings are what was known by then."""
    STALE = "stale"
    """The text changed in a way that waits for a save or a command. Findings are those of before."""
    GONE = "gone"
    """Nothing is known of the file any more; it was deleted, for example. There are no findings."""

    @property
    def settled(self) -> bool:
        """Whether nothing more comes for this generation unless something happens."""
        return self not in (AnalysisState.QUEUED, AnalysisState.RUNNING)


@dataclass(frozen=True, slots=True)
class AnalysisUpdate:
    """One accepted state change of one document.

    `report` holds every finding to show now, with policy applied, in positions of the text of `version`; `path` and
    the paths in it are absolute. `stage` is the one that is running or has just ended. `seconds` counts from the event
    that caused the analysis. `cause` says in a few words what that was, or what the analysis waits for.
    `version` is None for a batch check, which has no document; its `generation` is 0.
    """

    uri: str
    path: str
    version: int | None
    generation: int
    state: AnalysisState
    stage: Stage | None
    report: FileReport
    seconds: float
    cause: str

    @property
    def conclusive(self) -> bool:
        """Whether no more will be told of this text: it is analysed to its end, or may not run before it is saved."""
        waits = self.state is AnalysisState.STALE and self.cause == TOP_LEVEL_CHANGED
        return waits or self.state is AnalysisState.DONE
