"""What the daemon tells an editor beside the Language Server Protocol.

Small by construction: findings travel as diagnostics, only their number is here, and big things are artifacts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from inductor_debug_schema.findings import FileStatus, Stage, TargetReport


@dataclass(frozen=True, slots=True)
class CellLines:
    """A cell of an open notebook: its URI, and the lines of the text that is analysed which are the cell's."""

    uri: str
    start: int
    lines: int


@dataclass(frozen=True, slots=True)
class AnalysisNotification:
    """`inductorDebug/analysis`: how far the analysis of one document has come.

    `state` is one of "queued", "running", "done", "failed", "cancelled", "stale" and "gone"
    (`engine.results.analysis.AnalysisState`). `version` is None for a file that is not open.
    `seconds` counts from the event that caused the analysis, `cause` says in a few words what that was or what the
    analysis waits for. `targets` is what is known of the file's targets now; it is empty where it would make the
    message too big (`targets_left_out`). `accelerator` is None where none was chosen, ""
    where the settings cannot be used. `cells` are those of a notebook that are part of what is analysed: places in the
    notebook's file count the lines of that text.
    """

    uri: str
    version: Union[int, None]
    generation: int
    state: str
    stage: Union[Stage, None]
    findings: int
    seconds: float
    cause: str = ""
    status: Union[FileStatus, None] = None
    accelerator: Union[str, None] = None
    targets: list[TargetReport] = field(default_factory=list)
    targets_left_out: int = 0
    cells: list[CellLines] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FindingData:
    """What a finding carries beside its diagnostic, as the diagnostic's `data`.

    `fingerprint` stays the same under edits elsewhere; `count` is how many ops the finding covers; `reproducible` says
    that there is something to run for it, of which a reproducer can be made.
    """

    fingerprint: str
    target: str
    stage: Stage
    op: Union[str, None]
    module: Union[str, None]
    count: int
    reproducible: bool
