"""The `statistics` document: what a stage of a target amounts to, kept as an artifact beside its graphs.

Bytes are those of storages, so tied weights and views count once. Places are those of the user's own expressions, None
where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from inductor_debug_schema.cost_bounds import Roof
from inductor_debug_schema.findings import Stage
from inductor_debug_schema.positions import Range


@dataclass(frozen=True, slots=True)
class TensorTotal:
    """Tensors of one kind."""

    tensors: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakTensor:
    """A tensor that is alive at the peak of memory; sizes that are not known are as torch prints them.

    `kind` is "parameter", "buffer", "input", "constant" or "activation". `op` made it, None of what came from outside.
    """

    kind: str
    name: str
    op: Union[str, None]
    bytes: int
    shape: list[Union[int, str]]
    dtype: str
    path: Union[str, None]
    range: Union[Range, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakStatistics:
    """The most memory that is needed at once: at which operation, and by what; `largest` comes first.

    Not `exact`, a size was a symbol, and there are more bytes.
    """

    bytes: int
    exact: bool
    op: Union[str, None]
    module: Union[str, None]
    backward: bool
    path: Union[str, None]
    range: Union[Range, None]
    by_kind: dict[str, int]
    largest: list[PeakTensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTraffic:
    """A kernel: how often it is called, and the bytes that all calls read and write, None where nobody knows.

    `operations` are the floating-point ones of its products, in all calls. `seconds` is what all calls take at least on
    the accelerator, each from memory to memory, and `limited_by` the roof; None where nobody knows how fast it is.
    """

    name: str
    graph: str
    language: str
    calls: int
    bytes_read: Union[int, None]
    bytes_written: Union[int, None]
    path: Union[str, None]
    range: Union[Range, None]
    operations: Union[int, None] = None
    seconds: Union[float, None] = None
    limited_by: Union[Roof, None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelStatistics:
    """What the ops became; in `each` the kernel that moves most comes first.

    The totals leave out the `unknown` kernels, of which nobody knows what they move.
    """

    count: int
    calls: int
    by_language: dict[str, int]
    bytes_read: int
    bytes_written: int
    unknown: int
    each: list[KernelTraffic]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsDocument:
    """The statistics of one stage of one target; `path` is the user's file.

    `ops` ran, `backward_ops` of them in the backward pass. `by_op` and `dtypes` say how often each operator ran and
    each dtype was made, most often first; `memory` is by the kind of tensor. `flops`, `backward_flops` and
    `flops_by_op` leave out the `uncounted` ops whose sizes are symbols. `kernels` is None in stages without any.
    `title` is what the accelerator is called, "" where none was chosen; `inputs` are words for inputs or sizes that
    nobody wrote into the file.
    """

    schema: int
    target: str
    stage: Stage
    path: str
    ops: int
    backward_ops: int
    by_op: dict[str, int]
    dtypes: dict[str, int]
    memory: dict[str, TensorTotal]
    flops: int
    backward_flops: int
    flops_by_op: dict[str, int]
    uncounted: int
    peak: PeakStatistics
    kernels: Union[KernelStatistics, None]
    title: str = ""
    inputs: str = ""
