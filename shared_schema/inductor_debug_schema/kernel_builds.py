"""What a compiler made of a kernel for a GPU that need not be there: machine code, and what that takes of the GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union


class OccupancyLimit(str, Enum):
    """What keeps more blocks from a multiprocessor; people read these names."""

    REGISTERS = "registers"
    """Registers of all its threads."""
    SHARED_MEMORY = "shared memory"
    """Shared memory of all its blocks."""
    WARPS = "warps"
    """The warps that it holds at once."""
    BLOCKS = "blocks"
    """The blocks that it holds at once."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How many warps of a kernel one multiprocessor holds at once, of `most_warps` that it could hold.

    `blocks` is None where only warps are known. `limits` are all that keep it from one block more, empty where nobody
    says. It is what the resources allow: how many are there at a time while it runs, only a run can tell.
    """

    warps: int
    most_warps: int
    blocks: Union[int, None] = None
    limits: list[OccupancyLimit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """Instructions that load or store: `space` is "global" or "shared", `bits` what one thread moves at once."""

    store: bool
    space: str
    bits: int
    instructions: int


@dataclass(frozen=True, slots=True)
class CompiledText:
    """A text of the compiler's: `title` is "PTX", "SASS" or "AMDGCN"."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class KernelBuild:
    """A kernel compiled for `architecture` (`sm_90`, `gfx942`), in one configuration.

    `kernel` and `graph` are the names of the `Kernel`. `configuration` says with which block sizes; Inductor would
    choose among `configurations` of them by measuring on the GPU, and this is the first. `registers` are those of a
    thread; `spilled_bytes` are what a thread keeps in memory because they do not suffice; `shared_bytes` are those of a
    block. `matrix_instructions` are the kinds (`wgmma`) that use matrix units. What is not known is None.
    `problem` says in a sentence why there is nothing, or less; "" where all went well.
    """

    architecture: str
    kernel: str
    graph: str
    problem: str = ""
    configuration: str = ""
    configurations: int = 0
    warps: Union[int, None] = None
    registers: Union[int, None] = None
    spilled_bytes: Union[int, None] = None
    shared_bytes: Union[int, None] = None
    occupancy: Union[Occupancy, None] = None
    accesses: list[MemoryAccess] = field(default_factory=list)
    matrix_instructions: list[str] = field(default_factory=list)
    texts: list[CompiledText] = field(default_factory=list)
