"""`compare_tensors`: every metric of how one tensor differs from another, in one walk over both and in constant memory.

It says what differs and by how much, never what that means. Tensors are not changed and, but for the rare ones of
`plain`, not copied: blocks of them are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from inductor_debug.kerneldiff.metrics.blocks import Block, BlockWalk
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig, Tolerances
from inductor_debug.kerneldiff.metrics.metrics import TensorComparison, WorstElement
from inductor_debug.kerneldiff.metrics.metrics_floats import FloatMetrics
from inductor_debug.kerneldiff.metrics.metrics_general import GeneralMetrics
from inductor_debug.kerneldiff.metrics.metrics_integers import INTEGERS, IntegerMetrics
from inductor_debug.kerneldiff.metrics.metrics_sums import Sums
from inductor_debug.kerneldiff.metrics.metrics_ulp import has_distances
from inductor_debug.kerneldiff.metrics.metrics_worst import Worst
from inductor_debug.kerneldiff.metrics.wide_devices import measured_on

_UNSPLIT = 32_000
"""Elements of a block on the CPU where torch has threads and we start none: torch does not split an operation of fewer
than 32,768 among them (`at::internal::GRAIN_SIZE`), and their meetings would cost more than the work."""

_AT_ONCE = 512_000
"""Elements of the blocks that all our threads have in hand together. Fewer would have the threads wait for each other's
interpreter lock more often; more would take the dozen float64 temporaries of `metrics_general` beyond 64 MB."""

_BLOCK = 128_000
"""Elements of a block on the CPU are never more: its buffers would leave the caches."""

_ELSEWHERE = 1 << 21
"""Bytes of one side of a block on an accelerator, where starting an operation costs more than running it. The largest
that keeps the dozen float64 temporaries of `metrics_general` within 64 MB."""


_LARGE = 1 << 21
"""Elements from which on threads are worth starting."""

_THREADS = 8
"""More would wait for the interpreter lock, which every operation takes between two blocks."""


class _Accumulator(Protocol):
    def add(self, block: Block) -> None: ...


def compare_tensors(
    reference: Tensor,
    actual: Tensor,
    config: ComparisonConfig | None = None,
    *,
    atol: float | None = None,
    rtol: float | None = None,
    max_mismatch: float | None = None,
) -> TensorComparison:
    """How `actual` differs from `reference`.

    Works for every dtype and device. A tensor that lies elsewhere is moved to the reference's device, block by block;
    both are moved to the CPU where that device has no float64.
    Needs at most 64 MB beside the tensors. Integers and bools are compared exactly, quantised tensors by their values.

    Args:
        reference: what the values should be; any shape.
        actual: what they are; the same shape.
        config: tolerances and the like.
        atol: the absolute tolerance, in place of the config's.
        rtol: the relative tolerance, in place of the config's.
        max_mismatch: the share of elements, in percent, that may differ by more, in place of the config's.

    Returns:
        Metrics, the worst elements and the tolerances that would pass. Shapes that differ, tensors without values (on
        the meta device) and, if asked for, different dtypes or devices are a `problem` of the result.

    Raises:
        TypeError: an argument is not a tensor.
        ValueError: a tolerance is negative, or the share is none.
    """
    for name, value in (("reference", reference), ("actual", actual)):
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a tensor, not {type(value).__name__}")
    config = config or ComparisonConfig()
    config = replace(
        config,
        atol=config.atol if atol is None else atol,
        rtol=config.rtol if rtol is None else rtol,
        max_mismatch=config.max_mismatch if max_mismatch is None else max_mismatch,
    )
    dtype = str(reference.dtype).removeprefix("torch.")
    tolerances = config.tolerances(reference.dtype, actual.dtype)
    obstacle = _obstacle(reference, actual)
    if obstacle:
        return TensorComparison(tuple(reference.shape), dtype, False, tolerances, problem=obstacle)
    with torch.no_grad():
        left, right = plain(reference), plain(actual)
        shares = _shares(left)
        elements = config.block_elements or _block_elements(left, shares)
        walk = BlockWalk(left, right, elements, measured_on(left.device))
        sums, worst = _walked(walk, shares, left, right, tolerances, config)
    problem, metrics = _mismatch(reference, actual, config), sums.metrics()
    return TensorComparison(
        shape=tuple(reference.shape),
        dtype=dtype,
        passed=metrics.mismatch_percent <= config.max_mismatch and not problem,
        tolerances=tolerances,
        metrics=metrics,
        worst=tuple(
            WorstElement(walk.index(-found.position), found.reference, found.actual) for found in worst.sorted()
        ),
        passes_with=sums.passes_with(),
        problem=problem,
    )


def _shares(reference: Tensor) -> int:
    """Among how many threads of ours the blocks are shared: of large tensors on the CPU, as many as torch may use."""
    large = reference.device.type == "cpu" and reference.numel() >= _LARGE
    return min(torch.get_num_threads(), _THREADS) if large else 1


def _walked(
    walk: BlockWalk, shares: int, reference: Tensor, actual: Tensor, tolerances: Tolerances, config: ComparisonConfig
) -> tuple[Sums, Worst]:
    """Adds up all blocks, in as many threads as there are shares."""

    def walked(share: int, shares: int) -> tuple[Sums, Worst]:
        sums, worst = Sums(tolerances), Worst(config.worst)
        accumulator = _accumulator(reference, actual, sums, worst, config)
        with torch.no_grad():
            for block in walk.blocks(share, shares):
                accumulator.add(block)
        return sums, worst

    if shares == 1:
        return walked(0, 1)
    with _one_thread_each(), ThreadPoolExecutor(shares) as pool:
        (sums, worst), *others = pool.map(walked, range(shares), [shares] * shares)
    for other_sums, other_worst in others:
        sums.merge(other_sums)
        worst.merge(other_worst)
    return sums, worst


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Operations run in the thread that starts them, so that threads of ours do not wait for threads of torch's."""
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(count)


def _obstacle(reference: Tensor, actual: Tensor) -> str:
    """Why the values cannot be compared at all; empty if they can."""
    if reference.shape != actual.shape:
        return f"shapes differ: {list(reference.shape)} in the reference, {list(actual.shape)} in the result"
    for name, value in (("reference", reference), ("result", actual)):
        if value.layout is torch.strided and value.untyped_storage().device.type == "meta":
            return f"the {name} is on the meta device and has no values"
        if not (value.is_quantized or value.is_complex() or value.dtype in INTEGERS or has_distances(value.dtype)):
            return f"the {name} is of {value.dtype}, whose values torch cannot read"
    return ""


def _mismatch(reference: Tensor, actual: Tensor, config: ComparisonConfig) -> str:
    """What does not fit although the values can be compared."""
    if config.check_dtype and reference.dtype != actual.dtype:
        return f"dtypes differ: {reference.dtype} in the reference, {actual.dtype} in the result"
    if config.checks_device(False) and reference.device != actual.device:
        return f"devices differ: {reference.device} for the reference, {actual.device} for the result"
    return ""


def plain(values: Tensor) -> Tensor:
    """A strided tensor without gradient.

    Sparse tensors are made dense, and those quantised by channel, which torch cannot cut, are made numbers: as copies.
    """
    values = values.detach()
    if values.is_quantized and values.qscheme() not in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return values.dequantize()
    return values if values.layout is torch.strided else values.to_dense()


def _block_elements(reference: Tensor, shares: int) -> int:
    if reference.device.type != "cpu":
        return _ELSEWHERE // max(reference.element_size(), 4)
    if shares == 1 < torch.get_num_threads():
        return _UNSPLIT
    return min(_AT_ONCE // shares, _BLOCK)


def _accumulator(reference: Tensor, actual: Tensor, sums: Sums, worst: Worst, config: ComparisonConfig) -> _Accumulator:
    dtype = reference.dtype
    if dtype in INTEGERS and actual.dtype in INTEGERS:
        return IntegerMetrics(sums, worst, dtype, actual.dtype)
    if dtype is actual.dtype and dtype.is_floating_point:
        return FloatMetrics(sums, worst, dtype, equal_nan=config.equal_nan)
    return GeneralMetrics(sums, worst, equal_nan=config.equal_nan)
