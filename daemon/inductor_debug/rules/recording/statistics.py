"""What a recording amounts to: counts of ops and dtypes, bytes, floating-point operations, and the peak of memory.

The result is kept as an artifact beside the graphs and shown by `analyze --type summary` and `graph`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug_schema import Location, Roof, Stage
from inductor_debug_schema.answers.statistics_document import (
    KernelStatistics,
    KernelTraffic,
    PeakStatistics,
    PeakTensor,
    StatisticsDocument,
    TensorTotal,
)

from inductor_debug.rules.recording.flops import UnknownSizeError, flops_of
from inductor_debug.rules.recording.liveness import Holding, Peak, holdings_of, peak_of
from inductor_debug.rules.recording.ops import Frame, Op, Recording

SCHEMA = 1
_MOST_HOLDINGS = 10
"""Tensors listed as alive at the peak."""


@dataclass(slots=True)
class KernelCost:
    """A generated or external kernel: how often it is called, and the bytes that all calls read and write.

    Bytes are None where nobody knows them, and so are operations, and seconds where no speed is known.
    """

    name: str
    graph: str
    language: str
    calls: int = 0
    bytes_read: int | None = None
    bytes_written: int | None = None
    place: Location | None = None
    operations: int | None = None
    seconds: float | None = None
    limited_by: Roof | None = None


def statistics_of(
    recording: Recording, *, target: str, stage: Stage, path: str, kernels: Sequence[KernelCost] | None = None
) -> StatisticsDocument:
    """The statistics of one stage of one target.

    Args:
        recording: what ran in it.
        target: its name.
        stage: which stage.
        path: the user's file.
        kernels: what the ops became, in a stage that makes kernels.
    """
    operations: Counter[str] = Counter()
    backward, uncounted = 0, 0
    for op in recording.ops:
        try:
            count = flops_of(op)
        except (UnknownSizeError, IndexError):
            uncounted += 1
            continue
        if count:
            operations[op.packet] += count
            backward += count if op.autograd_node else 0
    return StatisticsDocument(
        schema=SCHEMA,
        target=target,
        stage=stage,
        path=path,
        ops=len(recording.ops),
        backward_ops=sum(1 for op in recording.ops if op.autograd_node),
        by_op=dict(Counter(op.overload for op in recording.ops).most_common()),
        dtypes=dict(Counter(meta.dtype for op in recording.ops for meta in op.outputs).most_common()),
        memory=_memory(holdings_of(recording)),
        flops=operations.total(),
        backward_flops=backward,
        flops_by_op=dict(operations.most_common()),
        uncounted=uncounted,
        peak=_peak(peak_of(recording)),
        kernels=_kernels(kernels) if kernels is not None else None,
    )


def _kernels(costs: Sequence[KernelCost]) -> KernelStatistics:
    known = [cost for cost in costs if cost.bytes_read is not None and cost.bytes_written is not None]
    return KernelStatistics(
        count=len(costs),
        calls=sum(cost.calls for cost in costs),
        by_language=dict(Counter(cost.language for cost in costs).most_common()),
        bytes_read=sum(cost.bytes_read or 0 for cost in known),
        bytes_written=sum(cost.bytes_written or 0 for cost in known),
        unknown=len(costs) - len(known),
        each=[_kernel(cost) for cost in sorted(costs, key=_moved, reverse=True)],
    )


def _moved(cost: KernelCost) -> int:
    return (cost.bytes_read or 0) + (cost.bytes_written or 0)


def _kernel(cost: KernelCost) -> KernelTraffic:
    return KernelTraffic(
        name=cost.name,
        graph=cost.graph,
        language=cost.language,
        calls=cost.calls,
        bytes_read=cost.bytes_read,
        bytes_written=cost.bytes_written,
        path=cost.place.path if cost.place is not None else None,
        range=cost.place.range if cost.place is not None else None,
        operations=cost.operations,
        seconds=cost.seconds,
        limited_by=cost.limited_by,
    )


def _memory(holdings: list[Holding]) -> dict[str, TensorTotal]:
    tensors: Counter[str] = Counter(holding.kind for holding in holdings)
    amounts = Counter(dict.fromkeys(("parameter", "buffer", "input", "constant", "activation"), 0))
    for holding in holdings:
        amounts[holding.kind] += holding.bytes
    return {kind: TensorTotal(tensors[kind], amount) for kind, amount in amounts.items()}


def _peak(peak: Peak) -> PeakStatistics:
    op = peak.op
    place = _place(op.frames if op is not None else ())
    return PeakStatistics(
        bytes=peak.bytes,
        exact=peak.exact,
        op=op.overload if op is not None else None,
        module=op.module if op is not None else None,
        backward=bool(op.autograd_node) if op is not None else False,
        path=place.path if place is not None else None,
        range=place.range if place is not None else None,
        by_kind=peak.by_kind(),
        largest=[_holding(holding) for holding in peak.holdings[:_MOST_HOLDINGS]],
    )


def _holding(holding: Holding) -> PeakTensor:
    cause: Op | None = holding.maker
    place = _place(cause.frames if cause is not None else holding.origin.frames if holding.origin is not None else ())
    return PeakTensor(
        kind=holding.kind,
        name=holding.origin.name if holding.origin is not None else "",
        op=cause.overload if cause is not None else None,
        bytes=holding.bytes,
        shape=[size if isinstance(size, int) else str(size) for size in holding.meta.shape],
        dtype=holding.meta.dtype,
        path=place.path if place is not None else None,
        range=place.range if place is not None else None,
    )


def _place(frames: tuple[Frame, ...]) -> Location | None:
    return next((frame.location for frame in frames if frame.in_project), None)
