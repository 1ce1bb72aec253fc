"""What is known of an expression of the user's source: the tensors it gave and the ops that made them.

For hovers, inlay hints and views of the source; never for judging. Sizes are numbers, or strings as torch prints them
(`8*s0`) where they are not known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from inductor_debug_schema.cost_bounds import CostBound
from inductor_debug_schema.findings import Stage
from inductor_debug_schema.positions import Range


@dataclass(frozen=True, slots=True)
class DeviceLayout:
    """A tensor as it lies on an accelerator that moves memory in sticks.

    `size` is in elements, outermost dimension first, elements within a stick last; `stride_map` says how many elements
    of the host's memory one step along each of them goes on, -1 where there is nothing to go on to. `bytes` are whole
    sticks, of which `padding_bytes` hold nothing. `stick_dimension` is the host dimension that lies in sticks, None
    where none does: a tensor without dimensions, or a `sparse` one, which has one element a stick.
    """

    size: list[int]
    stride_map: list[int]
    bytes: int
    padding_bytes: int
    stick_dimension: Union[int, None] = None
    sparse: bool = False

    @property
    def waste(self) -> float:
        """The share of the memory that is padding, from 0 to 1."""
        return self.padding_bytes / self.bytes if self.bytes else 0.0


@dataclass(frozen=True, slots=True)
class TensorFact:
    """One tensor: `shape` and `stride` in elements, `dtype` without the `torch.` prefix.

    `bytes` is what its elements take on the host, None where a size is not known. `layout` is None where the
    accelerator has no sticks, or the sizes are not known.
    """

    shape: list[Union[int, str]]
    stride: list[Union[int, str]]
    dtype: str
    bytes: Union[int, None] = None
    layout: Union[DeviceLayout, None] = None


@dataclass(frozen=True, slots=True)
class ExpressionFact:
    """What one expression did in one stage of one target.

    `outputs` are the tensors of its last run. `exact` says that they are what the expression gives; otherwise they are
    those of the last op under it. `ops` maps ATen overloads to how often they ran, the most frequent ones only, and
    `op_count` counts all. `modules` are the dotted paths in which they ran, at most a few of `module_count`.
    `variants` are the different outputs of its `runs`, at most a few; empty where they were always the same. `cost` is
    what all of its runs cost at least, None where nobody knows how fast the accelerator is.
    """

    path: str
    range: Range
    outputs: list[TensorFact]
    exact: bool
    ops: dict[str, int]
    op_count: int
    modules: list[str] = field(default_factory=list)
    module_count: int = 0
    runs: int = 1
    variants: list[list[TensorFact]] = field(default_factory=list)
    cost: Union[CostBound, None] = None


@dataclass(frozen=True, slots=True)
class ExpressionsSeen:
    """What a stage that has just ended saw of the expressions of the project's files."""

    target: str
    stage: Stage
    expressions: list[ExpressionFact]
