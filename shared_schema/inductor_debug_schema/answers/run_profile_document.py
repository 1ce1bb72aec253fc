"""The `run_profile` document: what a clock said of real steps of a target, by kernel and by expression, beside bounds.

It is made of a trace of `torch.profiler`, one that we recorded or somebody else's. All times are those of one step: the
median of the steps that were recorded, and the quartiles on both sides. Bounds are of the accelerator that was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Union

from inductor_debug_schema.cost_bounds import CostBound
from inductor_debug_schema.positions import Location, Range


class ProfileTie(str, Enum):
    """What ties times to the source."""

    EXPRESSIONS = "expressions"
    """The target itself: the order of its operations and the names of its kernels."""
    FUNCTIONS = "functions"
    """The stacks in the trace, which know functions and no lines in them."""
    MODULES = "modules"
    """The names of modules in the trace."""
    NOTHING = "nothing"
    """The trace says nothing of the source."""


class TimedKind(str, Enum):
    """What has a row of its own."""

    OPERATOR = "operator"
    """An operator, or a kernel of a library behind it."""
    GENERATED = "generated"
    """A kernel that Inductor generated."""
    DEVICE = "device"
    """Another kernel on a device."""
    COPY = "copy"
    """A copy to, from or on a device, or its filling with one value."""


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds of a step: their median, and the quartiles below and above it.

    `calls` are those of a step, and `share` is the part in all steps together, which adds up where medians do not.
    """

    seconds: float
    low: float
    high: float
    calls: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """All calls of one kernel, or of one operator, in one direction.

    `places` are the expressions that it computes, those with the most time first, and `functions` what stacks name in
    their stead; `modules` are paths of modules. `bound_seconds` is what they take at least, None where nobody knows.
    """

    name: str
    kind: TimedKind
    backward: bool
    places: list[Location]
    functions: list[str]
    modules: list[str]
    time: StepTime
    bound_seconds: Union[float, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionTime:
    """What one expression took, in one direction; of a kernel that computes several each has an equal part.

    `path` and `range` are None where no expression of the user's is known; `function` is then what a stack or a module
    says. `kernels` say how often each was called in a step. `cost` is what the expression costs at least on the
    accelerator, and `bound_seconds` its bound in the way that it ran: fused, or each operation by itself.
    """

    path: Union[str, None]
    range: Union[Range, None]
    text: str
    function: str
    backward: bool
    kernels: dict[str, int]
    modules: list[str]
    time: StepTime
    cost: Union[CostBound, None]
    bound_seconds: Union[float, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleGap:
    """Time between two kernels in which none ran; "" before the first and after the last of a step."""

    after: str
    before: str
    after_place: Union[Location, None]
    before_place: Union[Location, None]
    time: StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProfileDocument:
    """One side of one target, or a trace alone.

    `side` is the backend ("eager", "inductor"), "" of a trace that somebody else recorded, whose path is `trace`.
    `device` is the kind of device that computed, `device_title` what it calls itself, `threads` those of the CPU (0
    where nobody says). `accelerator` and `title` name the chosen one, "" without, and `bound_seconds` is its bound of
    the step; `comparable` says that it may be what computed, so that times and bounds go together. `idle` is the time
    of a step in which nothing computed, of which `gaps` are the longest parts. `tied_share` is the part of the
    computing time that is tied to the source. Where there is nothing, `problem` says why.
    """

    schema: int
    target: str
    path: str
    side: str
    trace: str
    training: bool
    device: str
    device_title: str
    threads: int
    accelerator: str
    title: str
    bound_seconds: Union[float, None]
    comparable: bool
    steps: int
    step: Union[StepTime, None]
    idle: Union[StepTime, None]
    tied: ProfileTie
    tied_share: float
    kernels: list[KernelTime]
    expressions: list[ExpressionTime]
    gaps: list[IdleGap]
    notes: list[str]
    problem: str
