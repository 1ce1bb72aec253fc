"""Facts of findings: what a message says, as data, so that hovers, fixes and scripts need not read the message.

One dataclass a kind of finding; `Finding.facts` names them all. Their required fields differ, which is how a reader
tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.compiling.capture_facts import (
    EagerFunction,
    ExportStop,
    FunctionGradient,
    GraphBreak,
    InstanceVersions,
    OverwrittenTensor,
    Recompilation,
    StatedShape,
)
from inductor_debug_schema.positions import Location


class ConflictKind(str, Enum):
    """What two sides of a call cannot agree on."""

    SIZE = "size"
    """Two sizes that must be equal (or, where the operation broadcasts, one of them 1)."""
    VOLUME = "volume"
    """The number of elements against the product that a reshape asks for."""
    DIVISIBILITY = "divisibility"
    """A size that must be a multiple of a number of the call."""
    RANK = "rank"
    """The number of dimensions."""
    DTYPE = "dtype"
    """The type of the elements."""
    INDEX = "index"
    """An index, or the number of a dimension, that the tensor does not have."""
    DEVICE = "device"
    """Where the tensors lie."""
    WINDOW = "window"
    """A kernel that is larger than the padded input; `wanted` is the least size that the input must have."""
    LAYOUT = "layout"
    """A view that the order of the elements in memory does not allow, though their number is right."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step back along the history of a size.

    `name` is what was done there (`max_pool2d`, `conv2`), `text` the same with the sizes that it joins
    (`flatten 64·12·12`). `sizes` are those that are followed from here on, of the tensor that came out of the step.
    `place` is the expression, None where no line of the user's did it. `first` says that the history begins here, with
    an input or a parameter.
    """

    name: str
    text: str
    sizes: list[int]
    place: Union[Location, None] = None
    first: bool = False


@dataclass(frozen=True, slots=True)
class OperandFact:
    """A tensor of a call that failed.

    `expression` is what the user's source calls it, empty where it has no name there; `owner` the expression of the
    module whose parameter it is (`self.fc1`), empty for any other tensor. `made_by` is the expression or module that
    made it (`x[:, 1:]`, `self.net[1]`), empty for what comes from outside. `made_at` is the expression that made it, or
    declared it, and `trace` the history of the size in question, the latest step first.
    """

    expression: str
    owner: str
    shape: list[int]
    dtype: str
    device: str = "cpu"
    made_by: str = ""
    made_at: Union[Location, None] = None
    place: Union[Location, None] = None
    """Where `expression` stands in the call."""
    trace: list[TraceStep] = field(default_factory=list)
    guessed: bool = False
    """The size in question comes from an input that was inferred for this run, so that another run may have another."""


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One operand's part: its index among `operands`, the dimension (None for all of it), and the size in question."""

    operand: int
    dim: Union[int, None]
    size: int


@dataclass(frozen=True, slots=True)
class ShapeConflict:
    """Sizes, dtypes or devices of one call that contradict each other.

    `operation` is torch's name for it (`matmul`, `conv2d`); `call` the module that was called, as the source says it
    (`self.fc1`), empty where a function was. `right` is None where the other side is a number of the call: `wanted`.
    """

    conflict: ConflictKind
    operation: str
    call: str
    operands: list[OperandFact]
    left: ConflictSide
    right: Union[ConflictSide, None] = None
    wanted: Union[int, str, None] = None


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that is not there. `owner` is the class that lacks the attribute, empty for a plain name.

    `suggestion` is the nearest name that is there, None where none is near; `others` are near, too, the nearest first.
    """

    missing_name: str
    owner: str
    suggestion: Union[str, None] = None
    others: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FractionalSize:
    """A division, which gives a float, where a whole number is wanted. Both texts are of the source.

    `taken_by` is what is called with it, empty for a subscript or a list that is repeated; `refused_at` is where.
    """

    division: str
    taken_by: str
    refused_at: Location


@dataclass(frozen=True, slots=True)
class OddSize:
    """A size that fills no whole tiles. `odd_size` is a number, or text where it has symbols (`63*s0`).

    `next_size` is the smallest valid size above it, None where symbols leave that open.
    """

    odd_size: Union[int, str]
    next_size: Union[int, None]


@dataclass(frozen=True, slots=True)
class Misalignment:
    """Sizes that are not multiples of what the accelerator requires, told at the expression that they come from.

    `multiple` counts elements of `dtype`. `declared` says that parameters or buffers bring the sizes in, so that the
    expression is their declaration. `copied_seconds` are those of the copies that padding at run time takes, where that
    is how the accelerator gets along.
    """

    odd_sizes: list[OddSize]
    multiple: int
    dtype: str
    declared: bool
    copied_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class UnwantedDtype:
    """Dtypes that the accelerator, or the rest of the model, does not have (`float64`, `complex128`)."""

    unwanted_dtypes: list[str]


@dataclass(frozen=True, slots=True)
class OversizedTensor:
    """A tensor whose memory is larger than one tensor may have.

    `storage_bytes` is the least that its memory can be; sizes of `shape` that have symbols are text (`63*s0`).
    """

    shape: list[Union[int, str]]
    dtype: str
    storage_bytes: int


@dataclass(frozen=True, slots=True)
class OversizedTensors:
    """Tensors that are too big for the accelerator, which allows each of them `bytes_allowed`."""

    oversized_tensors: list[OversizedTensor]
    bytes_allowed: int


@dataclass(frozen=True, slots=True)
class LiveMemory:
    """A piece of memory that is in use at the peak, seen as a tensor of this shape.

    `kind` is "parameter", "buffer", "input", "constant", or "activation" for what an operation made. `name` is the ATen
    overload or the dotted path of the parameter, empty for what has none.
    """

    kind: str
    name: str
    shape: list[Union[int, str]]
    storage_bytes: int


@dataclass(frozen=True, slots=True)
class MemoryShare:
    """What all pieces of one kind that are in use at the peak need together."""

    kind: str
    pieces: int
    storage_bytes: int


@dataclass(frozen=True, slots=True)
class MemoryOverrun:
    """More memory in use at once than the accelerator has. `shares` and `largest` begin with the largest.

    With `eager_training` it is what a forward pass keeps alive that runs eagerly and records gradients.
    """

    bytes_needed: int
    bytes_available: int
    shares: list[MemoryShare]
    largest: list[LiveMemory]
    eager_training: bool = False


@dataclass(frozen=True, slots=True)
class PricedRun:
    """What would be saved, of lower bounds: `saved_seconds` of a run that takes at least `bound_seconds`."""

    bound_seconds: float
    saved_seconds: float


@dataclass(frozen=True, slots=True)
class IdleIgnore:
    """An ignore comment that silences nothing, or of whose rules some do not. Empty for one that names no rule."""

    idle_rules: list[str]


@dataclass(frozen=True, slots=True)
class WrongCall:
    """A call whose arguments do not fit what is called.

    `called` is what the source calls (`self.block`), `takes` the names of its parameters. `missing_arguments` have no
    default and are not given, `unknown_arguments` are given by names that it does not have, `surplus` counts arguments
    by position beyond those that it takes.
    """

    called: str
    takes: list[str]
    missing_arguments: list[str]
    unknown_arguments: list[str]
    surplus: int


@dataclass(frozen=True, slots=True)
class CpuFallback:
    """Operators that run on the host one after the other, and what crosses because of them in a run.

    `operators_on_device` counts the operations of the run that stay on the device.
    """

    cpu_operators: list[str]
    transfers: int
    bytes_to_host: int
    bytes_to_device: int
    operators_on_device: int


@dataclass(frozen=True, slots=True)
class Restickified:
    """Copies, in a run, that lay tensors out in sticks along another dimension, and the bytes of those tensors."""

    restickified_tensors: int
    restickified_bytes: int


@dataclass(frozen=True, slots=True)
class CutSticks:
    """Sizes or offsets along the sticks that are no multiple of what a stick holds, and so cut through one."""

    cut_at: list[Union[int, str]]
    elements_per_stick: int


@dataclass(frozen=True, slots=True)
class PaddedSticks:
    """A tensor whose last sticks are partly empty: its shape, and the bytes of its padding and of all of it."""

    padded_shape: list[Union[int, str]]
    padding_bytes: int
    bytes_on_device: int
    elements_per_stick: int
    dtype: str


@dataclass(frozen=True, slots=True)
class CoreSpan:
    """A tensor of which some core has to reach too much: its shape, its sizes on the device, and how many bytes.

    `least_span_bytes` is what it has to reach in the best division among the cores.
    """

    spanned_shape: list[Union[int, str]]
    sizes_on_device: list[int]
    least_span_bytes: int


@dataclass(frozen=True, slots=True)
class Growth:
    """What a run needs at least, and what it needed when the baseline was written: seconds of its bound, peak bytes."""

    known_seconds: float
    known_bytes: int
    seconds: float
    peak_bytes: int


Facts = Union[
    WrongCall,
    ShapeConflict,
    UnknownName,
    FractionalSize,
    GraphBreak,
    Misalignment,
    UnwantedDtype,
    OversizedTensors,
    MemoryOverrun,
    Recompilation,
    InstanceVersions,
    EagerFunction,
    ExportStop,
    FunctionGradient,
    StatedShape,
    IdleIgnore,
    CpuFallback,
    Restickified,
    PaddedSticks,
    CutSticks,
    CoreSpan,
    PricedRun,
    OverwrittenTensor,
    Growth,
]
"""What a finding may know of itself."""
