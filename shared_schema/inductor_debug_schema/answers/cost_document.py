"""The `cost` document: what a stage of a target costs at least, by expression, line, module and operator.

Places are those of the user's own expressions. Rows of one kind come in the order of their bounds, the largest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from inductor_debug_schema.cost_bounds import CostBound, RunCost
from inductor_debug_schema.findings import Stage
from inductor_debug_schema.positions import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionCost:
    """The ops that one expression made itself, and not another one within it; those of the backward pass apart.

    `path` and `range` are None for ops that no expression of the user's made. `ops` says how often each operator ran,
    views left out; `modules` are the dotted paths in which they ran, and `text` is the source.
    """

    path: Union[str, None]
    range: Union[Range, None]
    text: str
    backward: bool
    ops: dict[str, int]
    modules: list[str]
    cost: CostBound


@dataclass(frozen=True, slots=True)
class LineCost:
    """The ops of all expressions that begin on one zero-based line."""

    path: str
    line: int
    cost: CostBound


@dataclass(frozen=True, slots=True)
class ModuleCost:
    """The ops that ran in a module and in all that it contains; "" is the target."""

    module: str
    cost: CostBound


@dataclass(frozen=True, slots=True)
class OperatorCost:
    """All ops of one overload."""

    op: str
    cost: CostBound


@dataclass(frozen=True, slots=True, kw_only=True)
class CostDocument:
    """What one stage of one target costs at least; `path` is the user's file.

    `title` is what the accelerator is called, "" where none was chosen. `inputs` are words for what nobody wrote down:
    inferred inputs with their sizes, or sizes that were set for the run; "" where all of it is in the file.
    `device_bytes` are those of the accelerator's memory, where that is known.
    """

    schema: int
    target: str
    stage: Stage
    path: str
    title: str
    run: RunCost
    expressions: list[ExpressionCost]
    lines: list[LineCost]
    modules: list[ModuleCost]
    operators: list[OperatorCost]
    inputs: str = ""
    device_bytes: Union[int, None] = None
