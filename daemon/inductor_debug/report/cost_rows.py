"""The rows of a cost document, in the order that somebody asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

from inductor_debug_schema import CostBound
from inductor_debug_schema.answers.cost_document import CostDocument


class _CostRow(Protocol):
    @property
    def cost(self) -> CostBound: ...


Row = TypeVar("Row", bound=_CostRow)

SORTS: dict[str, Callable[[CostBound], float]] = {
    "bound": lambda cost: cost.seconds or 0.0,
    "unfused": lambda cost: cost.unfused_seconds or 0.0,
    "flops": lambda cost: cost.operations,
    "bytes": lambda cost: cost.bytes_read + cost.bytes_written,
    "crossing": lambda cost: cost.crossing_bytes,
    "intensity": lambda cost: cost.intensity,
    "ops": lambda cost: cost.ops,
}
"""What rows can be sorted by, the largest first."""


def in_order(document: CostDocument, by: str) -> CostDocument:
    """The document with all its rows sorted by one of `SORTS`; equal ones keep their order."""
    key = SORTS[by]

    def arranged(rows: list[Row]) -> list[Row]:
        return sorted(rows, key=lambda row: -key(row.cost))

    return replace(
        document,
        expressions=arranged(document.expressions),
        lines=arranged(document.lines),
        modules=arranged(document.modules),
        operators=arranged(document.operators),
    )
