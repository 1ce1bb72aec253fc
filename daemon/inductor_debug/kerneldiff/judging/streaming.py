"""Sends what a comparison has found so far while it goes on: results and operations, in batches, a few times a second.

A batch is a `DiffPiece`. Whoever listens puts the pieces together (`inductor_debug_schema.grown`), and has what had
come where the end never does. Nothing here is kept or judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from inductor_debug_schema import DiffPiece

from inductor_debug.kerneldiff.judging.diff_report import DiffReport, NodeResult, SegmentResult, TensorResult

Listener = Callable[[DiffPiece], None]
_INTERVAL = 0.25


class Stream:
    """Tells `listener` what is new, soon, but not more often than every `interval` seconds. None hears nothing."""

    def __init__(self, listener: Listener | None = None, *, interval: float = _INTERVAL) -> None:
        self._listener, self._interval = listener, interval
        self._last = -interval
        self._waiting: dict[str, list[Any]] = {}
        self._worst: dict[tuple[str, str], tuple[int, float]] = {}

    def begin(self, report: DiffReport) -> None:
        """A comparison begins."""
        self._waiting, self._worst = {}, {}
        empty = DiffReport(report.target, report.reference, report.backend, seed=report.seed, runs=report.runs)
        self._send(DiffPiece(begun=replace(empty.document(), verdict=None, partial=True)))

    def result(self, table: str, result: TensorResult) -> None:
        """A row of `outputs` or `gradients`; of several runs only what is worse than before."""
        rank = result.verdict.rank, result.ratio or 0.0
        if rank > self._worst.get((table, result.name), (-1, 0.0)):
            self._worst[table, result.name] = rank
            self._add(table, result)

    def node(self, node: NodeResult) -> None:
        """A row of `nodes`."""
        self._add("nodes", node)

    def segment(self, segment: SegmentResult) -> None:
        """A row of `segments`."""
        self._add("segments", segment)

    def verdict(self, report: DiffReport) -> None:
        """All results are there; what follows looks for the operation at fault."""
        self.flush()
        self._send(
            DiffPiece(
                begun=None,
                verdict=report.verdict,
                why=report.why,
                deterministic=report.deterministic,
                notes=list(report.notes),
            )
        )

    def flush(self) -> None:
        """Sends what waits: something begins that takes its time."""
        waiting, self._waiting = self._waiting, {}
        if waiting:
            rows = {table: [row.on_wire() for row in found] for table, found in waiting.items()}
            self._send(
                DiffPiece(
                    begun=None,
                    outputs=rows.get("outputs", []),
                    gradients=rows.get("gradients", []),
                    nodes=rows.get("nodes", []),
                    segments=rows.get("segments", []),
                )
            )

    def _add(self, table: str, row: Any) -> None:
        if self._listener is None:
            return
        self._waiting.setdefault(table, []).append(row)
        if time.monotonic() - self._last >= self._interval:
            self.flush()

    def _send(self, piece: DiffPiece) -> None:
        if self._listener is not None:
            self._last = time.monotonic()
            self._listener(piece)
