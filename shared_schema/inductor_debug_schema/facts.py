"""Facts of findings: what a message says, as data, so that hovers, fixes and scripts need not read the message.

One dataclass a kind of finding; `Finding.facts` names them all. Their required fields differ, which is how a reader
tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

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

    `suggestion` is the nearest name that is there, None where none is near.
    """

    missing_name: str
    owner: str
    suggestion: Union[str, None] = None
