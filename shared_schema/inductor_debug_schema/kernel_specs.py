"""What kernels ask of an accelerator, operation by operation: loops, and tensors as they lie in its memory.

The rows are the same whether they were worked out here or read from what the accelerator's own compiler wrote;
`SpecOrigin` says which. What is not known is None or empty in each row; `DeviceSpecs.left_out` names what no row has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.expressions import DeviceLayout
from inductor_debug_schema.positions import Location


class SpecOrigin(str, Enum):
    """Who says so."""

    DERIVED = "derived"
    """Worked out from what Inductor made and from the accelerator's profile; its compiler was not asked."""
    COMPILER = "compiler"
    """Read from files that the accelerator's compiler wrote."""


class InsertedKind(str, Enum):
    """What a compiler puts before an operation, so that an argument fits it."""

    RESTICKIFY = "restickify"
    """A copy whose sticks run along another dimension."""
    PADDING = "padding"
    """A copy with zeros behind the end of a dimension, up to a whole stick."""


@dataclass(frozen=True, slots=True)
class KernelLoop:
    """One loop of an iteration space: `extent` is how often it runs over the host's tensors, `padded` on the device.

    Both are strings where they are symbolic; `padded` is None where nobody knows. `reduced` says that the results do
    not have this dimension. `cores` is over how many cores the work is divided here, None where nobody knows.
    """

    name: str
    extent: Union[int, str]
    padded: Union[int, str, None] = None
    reduced: bool = False
    cores: Union[int, None] = None


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One tensor of an operation. `name` is that of the node whose value it is, or what the compiler calls it.

    `shape` and `dtype` are the host's, `device_dtype` is the number format there. `layout` is None where sizes are not
    known or the accelerator does not say. `stick_loop` is the loop that runs along the sticks, "" where none does.
    `coordinates` are, for each device dimension, expressions in the names of loops; `allocation` says where in memory
    the tensor lies. Both are empty where only the compiler would know.
    """

    name: str
    output: bool
    shape: Union[list[Union[int, str]], None]
    dtype: str
    device_dtype: str
    layout: Union[DeviceLayout, None] = None
    stick_loop: str = ""
    coordinates: list[str] = field(default_factory=list)
    allocation: str = ""


@dataclass(frozen=True, slots=True)
class KernelInsertion:
    """A copy of the argument at index `argument` that has to be made before the operation.

    `dimension` is the host dimension along which its sticks have to run or which is padded, `layout` how the copy lies;
    each None where that is not known.
    """

    kind: InsertedKind
    argument: int
    dimension: Union[int, None] = None
    layout: Union[DeviceLayout, None] = None


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """One operation of a kernel, in the order in which they run.

    `kernel` is the name of a `Kernel`, "" for an operation that no kernel of Inductor's computes; `graph` is the graph
    of `nodes`, which are what the operation computes. `step` is the scheduler node that has it, "" where none does.
    `op` is an ATen overload where it was derived, else the compiler's own name. `loops` are empty where the iteration
    space is not known; `remarks` say in sentences why something of this row is not. `file` is the one it was read from.
    """

    kernel: str
    op: str
    graph: str
    nodes: list[str]
    reduction: bool = False
    loops: list[KernelLoop] = field(default_factory=list)
    arguments: list[KernelArgument] = field(default_factory=list)
    inserted: list[KernelInsertion] = field(default_factory=list)
    place: Union[Location, None] = None
    step: str = ""
    remarks: list[str] = field(default_factory=list)
    file: str = ""


@dataclass(frozen=True, slots=True)
class DeviceSpecs:
    """The specs of all kernels of a document. `left_out` names what they do not say, and `notes` what went wrong."""

    accelerator: str
    origin: SpecOrigin
    specs: list[KernelSpec]
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
