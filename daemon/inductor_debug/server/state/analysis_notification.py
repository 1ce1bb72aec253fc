"""`inductorDebug/analysis`: how far the analysis of a document has come, cut to what one message may carry.

Findings are counted only, because they travel as diagnostics. A pure function; when it is sent is the server's affair.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from inductor_debug_schema import AnalysisNotification, CellLines, TargetReport, to_wire

from inductor_debug.engine.results.analysis import AnalysisUpdate

METHOD = "inductorDebug/analysis"
BUDGET = 48 << 10
"""Bytes of JSON that the targets may have, which leaves the rest of a message for everything else."""


MOST_CELLS = 60
"""So many cells may be told of: those that ran last."""


def analysis_notification(
    update: AnalysisUpdate, accelerator: str | None, cells: Sequence[CellLines] = ()
) -> dict[str, Any]:
    """The parameters of the notification for an update; `cells` are those of a notebook."""
    targets = _fitting(update.report.targets)
    notification = AnalysisNotification(
        uri=update.uri,
        version=update.version,
        generation=update.generation,
        state=update.state.value,
        stage=update.stage,
        findings=len(update.report.findings),
        seconds=round(update.seconds, 4),
        cause=update.cause[:300],
        status=update.report.status,
        accelerator=accelerator,
        targets=targets,
        targets_left_out=len(update.report.targets) - len(targets),
        cells=list(cells[-MOST_CELLS:]),
    )
    return dict(to_wire(notification))


def _fitting(targets: list[TargetReport]) -> list[TargetReport]:
    """The first targets that fit, in the order of the file."""
    left = BUDGET
    kept: list[TargetReport] = []
    for target in targets:
        left -= len(json.dumps(to_wire(target)))
        if left < 0:
            break
        kept.append(target)
    return kept
