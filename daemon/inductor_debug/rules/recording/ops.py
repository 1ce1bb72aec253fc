"""What a rule sees: a recording of ATen operations, as plain data without torch.

The recorder (`capture.tensors.recorder`) reads every tensor's metadata at the moment an op runs and numbers tensors as
they appear, so that rules can follow a value from the op that made it to the ops that use it, and never meet an alias
that a later in-place op has changed. Nothing here holds a tensor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Union

from inductor_debug_schema import Location


@dataclass(frozen=True, slots=True)
class SymbolicSize:
    """A size that is not known, only bounded: `expression` as torch prints it (`8*s0`).

    `divisor` is the largest known number that always divides it, `minimum` and `maximum` its inclusive bounds
    (`maximum` is None where there is none). `example` is what it is in the call that runs, where that is known.
    """

    expression: str
    divisor: int = 1
    minimum: int = 0
    maximum: int | None = None
    example: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.expression


Size = Union[int, SymbolicSize]


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """A tensor at the moment an op consumed or produced it.

    `value` numbers the tensor (a view and its base differ), `version` counts the in-place writes to it so far;
    `storage` numbers the memory it lives in, so views share it. `shape` and `stride` are in elements; `storage_bytes`
    is the size of the whole storage, `element_bytes` of one element. `dtype` has no `torch.` prefix. `dense` says that
    the tensor is contiguous in some memory format torch knows (row-major, channels_last, channels_last_3d).
    """

    value: int
    version: int
    storage: int
    shape: tuple[Size, ...]
    stride: tuple[Size, ...]
    dtype: str
    device: str
    element_bytes: int
    storage_bytes: Size
    dense: bool
    requires_grad: bool = False


def as_written(meta: TensorMeta) -> list[int | str]:
    """The tensor's shape as it goes over the wire: sizes with symbols are text."""
    return [size if isinstance(size, int) else str(size) for size in meta.shape]


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the Python stack under an op: the exact expression that was running.

    `in_project` says that the file belongs to the user's project; frames of torch itself are left out of stacks.
    """

    location: Location
    function: str
    in_project: bool


@dataclass(frozen=True, slots=True)
class Op:
    """One ATen operation. `overload` is the full name (`aten._to_copy.default`).

    `arguments` maps the schema's argument names to literals (numbers, strings, bools, None, lists of those; dtypes and
    devices as strings); a tensor argument is the index into `inputs`, wrapped in `TensorArgument`. `frames` run from
    the innermost outwards and may be empty. `module` is the dotted path in the target. `region` names the higher-order
    op bodies around it, outermost first (`("checkpoint",)`). `mutates` lists the values it writes in place.
    `is_view` is true for ops that only make a view of an input and compute nothing. `autograd_node` names the node of
    the backward pass that runs the op (`ConvolutionBackward0`), and is empty outside backward passes.
    """

    index: int
    overload: str
    arguments: dict[str, Any]
    inputs: tuple[TensorMeta, ...]
    outputs: tuple[TensorMeta, ...]
    frames: tuple[Frame, ...]
    module: str = ""
    region: tuple[str, ...] = ()
    mutates: tuple[int, ...] = ()
    is_view: bool = False
    seq_nr: int | None = None
    autograd_node: str = ""

    @property
    def packet(self) -> str:
        """The name without its overload: `aten._to_copy`."""
        return self.overload.rsplit(".", 1)[0]


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """Stands in `Op.arguments` for a tensor: its index in `Op.inputs`."""

    index: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value that no op made comes from.

    `kind` is "parameter", "buffer", "input" or "constant"; `name` is the dotted parameter name or the input's name.
    `frames` lead to the expression that declared it (`nn.Linear(64, 63)`; the directive's or `get_inputs`' expression).
    `meta` is the value as it was before any op ran.
    """

    kind: str
    name: str
    frames: tuple[Frame, ...]
    meta: TensorMeta


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """One call of a module: `path` is its dotted path in the target, empty for the target itself.

    `outside` are the frames that it was called from, innermost first; `arguments` the values of its parameters that are
    tensors, by name. Ops number `first` up to but not including `last` ran in it.
    """

    path: str
    outside: tuple[Frame, ...]
    arguments: dict[str, int]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class HostRead:
    """A tensor that the code reads on the CPU (`y.cpu()`, `y.tolist()`), after so many ops.

    Where the model is on a device it is copied; here it is there already, so no op tells.
    """

    after: int
    meta: TensorMeta
    frames: tuple[Frame, ...]
    module: str = ""


class Product(str, Enum):
    """Kinds of products whose float32 operands torch may have rounded to TF32, each by a setting of its own."""

    MATMUL = "matmul"
    CONVOLUTION = "convolution"


@dataclass(slots=True)
class Lifetimes:
    """How many ops had run when a tensor or its memory went away, by number; what is not here outlived the run.

    A tensor goes away with the last Python reference to it, its memory with the last tensor that lies in it or, with
    gradients, with the last thing that autograd keeps of it.
    """

    values: dict[int, int] = field(default_factory=dict)
    storages: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartBorder:
    """What keeps the parts number `first` and `second` of a run from being one graph: graph breaks at all of `causes`.

    Without causes it is nothing that an edit at one place would take away.
    """

    first: int
    second: int
    causes: frozenset[Location] = frozenset()


@dataclass(slots=True)
class Recording:
    """All ops of one stage of one target, in the order in which they ran, and where outside values come from.

    `origins` is keyed by `TensorMeta.value`. `declarations` maps dotted names of modules and of what they hold to the
    frames that declare them, innermost first. `calls` are the calls of modules in the order in which they began, and
    `lifetimes` say when tensors went away, of the code as it is written and not of what is compiled; only a stage that
    runs it so has those. `tf32` are the products that were allowed to round float32 operands to TF32,
    `on_host` the indexes of ops that make a tensor on the CPU whatever device the model is on, `host_reads` what the
    code copies there, None where nobody knows: only a stage that runs the code as it is written does.
    `parts` has for each op the number of what it is compiled in, a graph with its backward pass or the op alone, and
    `borders` say what lies between the parts; both are empty where one graph has everything, or nothing is compiled.
    """

    ops: list[Op] = field(default_factory=list)
    origins: dict[int, Origin] = field(default_factory=dict)
    declarations: dict[str, tuple[Frame, ...]] = field(default_factory=dict)
    calls: list[ModuleCall] = field(default_factory=list, compare=False)
    lifetimes: Lifetimes | None = field(default=None, compare=False)
    tf32: frozenset[Product] = frozenset()
    on_host: frozenset[int] = frozenset()
    host_reads: list[HostRead] | None = None
    parts: tuple[int, ...] = ()
    borders: tuple[PartBorder, ...] = ()
