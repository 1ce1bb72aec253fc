"""What a profile says of an accelerator, as plain frozen data that rules ask.

Nothing here reads files; `accelerators.profile` makes these from a validated document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any

from inductor_debug_schema import DeviceLayout, Severity

from inductor_debug.accelerators.execution import Execution, RunsOn
from inductor_debug.accelerators.gpu import Gpu
from inductor_debug.accelerators.number_formats import NumberFormat, format_of, number_format

ELEMENT_BYTES: dict[str, int] = {
    "bool": 1,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex32": 4,
    "complex64": 8,
    "complex128": 16,
}
"""Every dtype a profile may name, without the `torch.` prefix, and the bytes of one element."""


class Dimensions(str, Enum):
    """Which dimensions of a tensor must be aligned."""

    ALL = "all"
    """Every dimension."""
    LAST = "last"
    """The dimension whose elements lie next to each other in memory: the last one of a row-major tensor."""


@dataclass(frozen=True, slots=True)
class StoredAs:
    """A dtype that the accelerator accepts but keeps as another one."""

    dtype: str
    severity: Severity = Severity.WARNING
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Sizes must be multiples of `amount`, counted in elements or, if `in_bytes`, in bytes."""

    amount: int
    in_bytes: bool = False
    dimensions: Dimensions = Dimensions.ALL

    def elements(self, element_bytes: int) -> int:
        """How many elements of `element_bytes` bytes each sizes must be a multiple of; at least 1."""
        return max(self.amount // max(element_bytes, 1), 1) if self.in_bytes else self.amount


class MatmulOperands(str, Enum):
    """Which non-contiguous operands a matrix multiplication of the accelerator takes without a copy."""

    STRIDED = "strided"
    """Rows or columns must be contiguous, with any distance between them (the leading dimension of BLAS)."""
    TRANSPOSED = "transposed"
    """A permutation of a contiguous tensor, with no gaps."""
    CONTIGUOUS = "contiguous"
    """None: operands must be contiguous like those of any other op."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Compute ops take contiguous tensors only, but for what `matmul_operands` admits."""

    matmul_operands: MatmulOperands = MatmulOperands.STRIDED


@dataclass(frozen=True, slots=True)
class ArithmeticFormats:
    """The numbers that the accelerator computes with, by the names of `number_formats`.

    Inputs and results of every operation on tensors of `dtypes` are of the format `compute`, and so are those of all
    others where no dtypes are named; else those are as the program has them. Sums of products are added up in
    `accumulate`. With `flush_denormals` subnormal results become zero. `infinite_constants` is False where infinities
    that stand in the program become something else on the device.
    """

    compute: str
    accumulate: str = "float32"
    flush_denormals: bool = False
    dtypes: frozenset[str] = frozenset()
    infinite_constants: bool = True

    @property
    def compute_format(self) -> NumberFormat:
        """The format of inputs and results."""
        return self._as_flushed(number_format(self.compute))

    @property
    def accumulate_format(self) -> NumberFormat:
        """The format in which sums are added up."""
        return self._as_flushed(number_format(self.accumulate))

    def covers(self, dtype: str) -> bool:
        """Whether floating-point tensors of `dtype` are of the compute format on the device."""
        return not self.dtypes or dtype in self.dtypes

    def _as_flushed(self, known: NumberFormat) -> NumberFormat:
        return known.flushing() if self.flush_denormals else known


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast the accelerator is at best, all per second; None and empty mappings where nobody says.

    Attributes:
        bytes_per_second: the memory's bandwidth.
        operations_per_second: floating-point operations of its ordinary units, by dtype.
        matrix_operations_per_second: those of its matrix units (tensor cores) on dense operands, by the operands'
            dtype, with sums in float32 (float64 for float64, int32 for integers).
        tf32_operations_per_second: those of its matrix units on float32 operands that are rounded to TF32.
        sparse_operations_per_second: those of its matrix units where two of four weights are zero, by dtype.
    """

    bytes_per_second: float | None = None
    operations_per_second: dict[str, float] = field(default_factory=dict)
    matrix_operations_per_second: dict[str, float] = field(default_factory=dict)
    tf32_operations_per_second: float | None = None
    sparse_operations_per_second: dict[str, float] = field(default_factory=dict)

    def product_rate(self, dtype: str, *, tf32: bool = False) -> float | None:
        """The highest rate of a dense product or convolution of `dtype`; None where nobody says.

        Args:
            dtype: of the operands.
            tf32: whether float32 operands may be rounded to TF32.
        """
        rates = [self.operations_per_second.get(dtype), self.matrix_operations_per_second.get(dtype)]
        if tf32 and dtype == "float32":
            rates.append(self.tf32_operations_per_second)
        return max((rate for rate in rates if rate is not None), default=None)


@dataclass(frozen=True, slots=True)
class CompilerStack:
    """The parts that a backend of `torch.compile` is made of behind Dynamo, in the order in which a graph meets them.

    `front_end` captures and rewrites graphs, `back_end` generates and runs code. Backends that name the same part have
    it in common: where one of them is right, the part is. A part that is called as a Python package is of its version.
    """

    front_end: tuple[str, ...] = ()
    back_end: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorLimit:
    """Operators that do not run on the device, always or under conditions; every condition that is given must hold.

    `match` holds patterns: a packet (`aten.prelu`) means all its overloads, a full name (`aten.all.out`) just that
    one, and `*`, `?` and `[...]` work as in file names. With `inplace` the in-place twin (`aten.prelu_`) is meant too.
    `dtypes` are dtypes of tensor inputs, `input_ranks` ranks of the first tensor input, `output_ranks` of the first
    output, `arguments` values of arguments by the schema's names, `autograd` patterns of the nodes of a backward pass
    that run the op (`ConvolutionBackwardBackward*`). With `mutates_inputs` only ops are meant that write in place into
    memory from outside (an input, a parameter, a buffer): what they write elsewhere, functionalisation takes away.
    `except_arguments` are values of arguments for which the limit does not hold. Of accelerators with sticks: with
    `partial_stick` an input's last stick must be partly filled, `stick_arguments` are arguments whose dimensions must
    include that of the sticks, `varies_along_stick` are tensor arguments that must not repeat along the last dimension.
    `runs` is what becomes of the operator then: it is refused, or runs on the host or on the device.
    """

    match: tuple[str, ...]
    inplace: bool = False
    dtypes: frozenset[str] = frozenset()
    input_ranks: frozenset[int] = frozenset()
    output_ranks: frozenset[int] = frozenset()
    arguments: dict[str, Any] = field(default_factory=dict)
    autograd: tuple[str, ...] = ()
    mutates_inputs: bool = False
    except_arguments: dict[str, Any] = field(default_factory=dict)
    partial_stick: bool = False
    stick_arguments: tuple[str, ...] = ()
    varies_along_stick: tuple[str, ...] = ()
    runs: RunsOn = RunsOn.REFUSED
    reason: str = ""
    instead: str = ""
    severity: Severity = Severity.WARNING

    def names(self, overload: str) -> bool:
        """Whether the patterns mean the operator `overload` (`aten._to_copy.default`)."""
        packet = overload.rsplit(".", 1)[0]
        if any(_matches(pattern, overload, packet) for pattern in self.match):
            return True
        if not self.inplace or not packet.endswith("_") or packet.endswith("__"):
            return False
        twin = packet[:-1]
        return any(_matches(pattern, twin + overload[len(packet) :], twin) for pattern in self.match)


def _matches(pattern: str, overload: str, packet: str) -> bool:
    return fnmatchcase(packet, pattern) or fnmatchcase(overload, pattern)


@dataclass(frozen=True)
class Profile:
    """What an accelerator can do. `None` and empty collections mean that there is no limit of that kind.

    `dtypes` are those it computes with; `stored_as` those it accepts but keeps as another one. `element_bytes` is what
    an element takes there, where that is not what it takes on the host. `tensor_bytes` bounds
    the storage of one tensor, `memory_bytes` is the memory for all of them together, `max_rank` bounds the dimensions
    of a tensor. `stick_bytes` is the tile of devices that lay the innermost dimension out in sticks. `cores` share the
    work, of which each reaches `span_bytes` of a tensor. `speed` is None where nobody says how fast it is. `execution`
    lists what is known to run, None where only `operators` is known, which says what does not; `allowed` are patterns
    of operators that are exempt from `operators`. `backends` are those of `torch.compile` that compile for the
    accelerator, by name, with what each is made of. `emulated` are dtypes that run by way of another one, slower than
    it. `gpu` is None of what is no GPU. `chosen` is False where nobody named it and the machine has it: then only what
    does not run or is wrong is told, and no advice. `read_in` says what the profile was learned from, `sources` which
    document has which figures (dotted keys of the profile's file, a table standing for all that is in it),
    `differences` in what the accelerator's own software, which was asked, says something else.
    """

    name: str
    title: str = ""
    dtypes: frozenset[str] = frozenset()
    stored_as: dict[str, StoredAs] = field(default_factory=dict)
    element_bytes: dict[str, int] = field(default_factory=dict)
    alignment: Alignment | None = None
    layout: Layout | None = None
    tensor_bytes: int | None = None
    memory_bytes: int | None = None
    max_rank: int | None = None
    stick_bytes: int | None = None
    emulated: frozenset[str] = frozenset()
    speed: Speed | None = None
    gpu: Gpu | None = None
    arithmetic: ArithmeticFormats | None = None
    cores: int | None = None
    span_bytes: int | None = None
    execution: Execution | None = None
    backends: dict[str, CompilerStack] = field(default_factory=dict)
    read_in: dict[str, str] = field(default_factory=dict)
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    chosen: bool = True
    differences: tuple[str, ...] = ()
    operators: tuple[OperatorLimit, ...] = ()
    allowed: tuple[str, ...] = ()

    def supports(self, dtype: str) -> bool:
        """Whether tensors of `dtype` exist on the accelerator, possibly stored as another dtype."""
        return not self.dtypes or dtype in self.dtypes or dtype in self.stored_as

    def device_bytes(self, dtype: str, element_bytes: int) -> int:
        """The bytes of one element of `dtype` there: of the dtype that it is stored as, else `element_bytes`."""
        own = self.element_bytes.get(dtype)
        if own is not None:
            return own
        stored = self.stored_as.get(dtype)
        return element_bytes if stored is None else ELEMENT_BYTES.get(stored.dtype, element_bytes)

    def device_format(self, dtype: str) -> str:
        """The number format in which elements of `dtype` are kept there: `sen169_fp16` for float16, or the dtype's."""
        if self.arithmetic is not None and dtype in self.arithmetic.dtypes:
            return self.arithmetic.compute
        stored = self.stored_as.get(dtype)
        return dtype if stored is None else stored.dtype

    def elements_per_stick(self, dtype: str, element_bytes: int) -> int:
        """How many elements of `dtype`, which take `element_bytes` on the host, one stick holds; 1 without sticks."""
        return max((self.stick_bytes or 1) // self.device_bytes(dtype, element_bytes), 1)

    def format_held(self, dtype: str) -> NumberFormat | None:
        """The format that the numbers of floating-point tensors of `dtype` have on the device; None of integers."""
        stored = self.stored_as.get(dtype)
        own = format_of(dtype if stored is None else stored.dtype)
        if own is None or self.arithmetic is None or not self.arithmetic.covers(dtype):
            return own
        return self.arithmetic.compute_format

    @property
    def has_layouts(self) -> bool:
        """Whether tensors lie there otherwise than on the host."""
        return self.stick_bytes is not None

    def own_layout(
        self, shape: Sequence[int], stride: Sequence[int], dtype: str, element_bytes: int
    ) -> DeviceLayout | None:
        """The layout that the accelerator's own code gives a tensor; None where the profile's sticks decide.

        Args:
            shape: the sizes of the tensor's dimensions.
            stride: its strides on the host, in elements.
            dtype: its dtype on the host.
            element_bytes: what an element takes on the host.
        """
        return None

    def limits_on(self, overload: str) -> tuple[OperatorLimit, ...]:
        """The operator limits that name `overload`, conditions not yet looked at."""
        packet = overload.rsplit(".", 1)[0]
        if any(_matches(pattern, overload, packet) for pattern in self.allowed):
            return ()
        return tuple(limit for limit in self.operators if limit.names(overload))
