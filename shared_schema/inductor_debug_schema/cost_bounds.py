"""What ops cost at least on an accelerator: for hovers, lenses and the document of `analyze --type cost`.

Bytes are as the accelerator stores them. Seconds are lower bounds, never predictions, and None where the profile does
not say how fast the accelerator is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union


class Roof(str, Enum):
    """What keeps kernels from being faster."""

    MEMORY = "memory"
    """The bandwidth of the memory."""
    COMPUTE = "compute"
    """The rate of floating-point operations."""
    LAUNCH = "launch"
    """The time in which the host launches them, one after the other."""


@dataclass(frozen=True, slots=True)
class CostBound:
    """What some ops of a run cost; views are free and do not count as ops.

    `bytes_read` and `bytes_written` are those of each op by itself, each operand once. `crossing_bytes` are those that
    have to cross the border of the memory however well ops are fused. `operations` are floating-point ones. `seconds`
    is the bound with perfect fusion, `limited_by` the roof that takes most of it, None where it is nothing, and `share`
    its part in the bounds of all ops of the run, from 0 to 1. `unfused_seconds` is the bound where each op goes from
    memory to memory. Of `uncounted` ops a size is a symbol: they count with the smallest that they can cost.
    """

    ops: int
    bytes_read: int
    bytes_written: int
    crossing_bytes: int
    operations: int
    seconds: Union[float, None] = None
    unfused_seconds: Union[float, None] = None
    limited_by: Union[Roof, None] = None
    share: Union[float, None] = None
    uncounted: int = 0

    @property
    def intensity(self) -> float:
        """Operations for each byte that the ops read and write by themselves; 0 where they move none."""
        moved = self.bytes_read + self.bytes_written
        return self.operations / moved if moved else 0.0


@dataclass(frozen=True, slots=True)
class ClassCost:
    """All that ran in methods of one class and in what they called: its file and its qualified name there."""

    path: str
    name: str
    cost: CostBound


@dataclass(frozen=True, slots=True)
class RunCost:
    """A whole run on the accelerator `accelerator`: `total`, and which roof takes how many of its seconds.

    The bound of a run may be less than those of its ops together, because bytes may be moved while products compute.
    `peak_bytes` is the most memory that is needed at once, at least. `classes` are those of the project. `backward`
    says whether the backward pass is counted, too; None where nothing of the run wants gradients.
    """

    accelerator: str
    total: CostBound
    by_roof: dict[str, float]
    peak_bytes: int
    classes: list[ClassCost] = field(default_factory=list)
    backward: bool | None = None
