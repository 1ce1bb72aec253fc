"""The `roofline` document: what a target costs at least, below the roofs of the accelerator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from inductor_debug_schema.answers.cost_document import CostDocument


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A highest rate of floating-point operations, and the formats of numbers that have it."""

    operations_per_second: float
    formats: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineDocument:
    """The costs, the bandwidth of the accelerator's memory (None where nobody says), and its ceilings."""

    schema: int
    cost: CostDocument
    bytes_per_second: Union[float, None]
    ceilings: list[Ceiling]
