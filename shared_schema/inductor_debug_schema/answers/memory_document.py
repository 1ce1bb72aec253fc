"""The `memory` document: how much memory one run of a target takes while each of its operations runs, and who holds it.

Time is counted in operations. Sizes that are free count as in the call that ran.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from inductor_debug_schema.positions import Location
from inductor_debug_schema.tensors import TensorPlace


@dataclass(frozen=True, slots=True)
class KindMemory:
    """The bytes of one kind while each operation runs.

    `kind` is "parameter", "buffer", "input", "constant", "activation", or "saved" for activations that the run
    has done with: autograd keeps them for the backward pass.
    """

    kind: str
    bytes: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldMemory:
    """One piece of memory: by whom it is held, and from which operation (-1: from before) until how many have run.

    `name` is what the model calls it, "" where nothing does; `place` is the expression that made it, None where no code
    of the user's did. `shape` and `dtype` are those of the tensor that it was made for.
    """

    kind: str
    name: str
    shape: list[Union[int, str]]
    dtype: str
    bytes: int
    first: int
    end: int
    place: Union[Location, None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPiece:
    """One piece of memory of the whole run, from operation `first` (-1: from before) until `end` operations have run.

    `kind` is what it is until `let_go` operations have run: from then on an activation is only "saved". `module` is the
    dotted path of the module that made it, or that it belongs to; `place` the number of the place that made it, -1
    where no code of the user's did. `name`, `shape` and `dtype` are as in `HeldMemory`.
    """

    kind: str
    name: str
    module: str
    shape: list[Union[int, str]]
    dtype: str
    bytes: int
    first: int
    let_go: int
    end: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDocument:
    """The memory of one run. `peak` is the operation at which most is alive, `place` the expression that runs it.

    `held` is what is alive at the peak, the largest first. `pieces` are all pieces of memory, in the order in which
    they came, so that the same can be told of every moment. `places` are the expressions that ran, each with its text
    and the module that ran it; `operation_places` has the number of the place of each operation, -1 where no code of
    the user's ran. `inputs` are inferred inputs with their sizes, or sizes that were set for the run; "" where all of
    it is in the file.
    """

    schema: int
    target: str
    path: str
    operations: int
    peak: int
    peak_bytes: int
    place: Union[Location, None]
    kinds: list[KindMemory]
    held: list[HeldMemory]
    symbols: dict[str, int]
    places: list[TensorPlace]
    operation_places: list[int]
    pieces: list[MemoryPiece]
    inputs: str = ""
