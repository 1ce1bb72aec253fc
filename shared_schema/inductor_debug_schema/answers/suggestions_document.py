"""The `suggestions` document: ways to run a target otherwise, each tried without the accelerator, and what they gain.

Figures are lower bounds (`cost_bounds`) and the memory that is needed at least, never predictions. What a way changes
beside its cost (numbers, checkpoints, what must stay the same from call to call) is for whoever shows it to say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.facts import OddSize
from inductor_debug_schema.findings import Stage
from inductor_debug_schema.positions import Range


class RunWay(str, Enum):
    """A way to run a model otherwise than it is written."""

    AUTOCAST = "autocast"
    """`torch.autocast` around the forward pass, to `dtype`."""
    CONVERTED = "converted"
    """The whole model and its inputs in `dtype`."""
    TF32 = "tf32"
    """Products of float32 rounded to TF32."""
    CHANNELS_LAST = "channels-last"
    """Model and images in the memory format `torch.channels_last`."""
    CUDA_GRAPHS = "cuda-graphs"
    """All kernels launched at once: `mode="reduce-overhead"`."""
    RECOMPUTE = "recompute"
    """What repeated blocks save for the backward pass is computed again there: `torch.utils.checkpoint`."""
    PADDED = "padded"
    """Layers and tables with a size that matrix units take in whole pieces: a vocabulary of 50304 instead of 50257."""
    JOINED = "joined"
    """What graph breaks keep apart in one graph, as when the expressions that break it are taken out."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What a run needs at least.

    `seconds` is the bound; `copied_seconds` come on top of it: copies that torch.compile makes because operands do not
    lie, or are not as long, as the kernels want. Bytes cross the border of the memory, or are alive at once.
    """

    seconds: float
    copied_seconds: float
    crossing_bytes: int
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class RemovedBreak:
    """An expression that breaks a graph, its text, and what is said of it."""

    path: str
    range: Range
    text: str
    message: str


@dataclass(frozen=True, slots=True)
class TriedWay:
    """Ways that were tried together; `figures` are None where that did not run, and `problem` says why.

    `offered` says that they gain something. `dtype` is what they convert to, "" where they do not. `modules` are the
    dotted paths of what is computed again, `padded` the sizes that were padded, with the next that fits, and `breaks`
    what breaks graphs no more.
    """

    ways: list[RunWay]
    offered: bool
    figures: Union[RunFigures, None] = None
    problem: str = ""
    dtype: str = ""
    modules: list[str] = field(default_factory=list)
    padded: list[OddSize] = field(default_factory=list)
    breaks: list[RemovedBreak] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionsDocument:
    """What was tried with one target on one accelerator; those with a gain come first, the largest before others.

    `title` is what the accelerator is called, `device_type` what torch calls its devices, `device_bytes` its memory.
    `training` says that a backward pass belongs to the run; `inputs` are those that were inferred, "" where they were
    given. Where the target does not run as it is, or nobody knows how fast the accelerator is, `problem` says so, and
    nothing was tried.
    """

    schema: int
    target: str
    stage: Stage
    path: str
    accelerator: str
    title: str
    device_type: str
    device_bytes: Union[int, None]
    training: bool
    inputs: str
    before: Union[RunFigures, None]
    tried: list[TriedWay]
    problem: str = ""
