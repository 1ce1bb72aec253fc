"""What a recording amounts to: counts of ops and dtypes, bytes, floating-point operations, and the peak of memory.

The result is a JSON document (keys in `statistics_of`), kept as an artifact beside the graphs and shown by
`analyze --type summary` and `graph`. Bytes are those of storages, so tied weights and views count once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import Location, Stage, place_fields

from inductor_debug.rules.recording.flops import UnknownSizeError, flops_of
from inductor_debug.rules.recording.liveness import Holding, Peak, holdings_of, peak_of
from inductor_debug.rules.recording.ops import Frame, Op, Recording

SCHEMA = 1
_MOST_HOLDINGS = 10
"""Tensors listed as alive at the peak."""


@dataclass(slots=True)
class KernelCost:
    """A generated or external kernel: how often it is called, and the bytes that all calls read and write.

    Bytes are None where nobody knows them.
    """

    name: str
    graph: str
    language: str
    calls: int = 0
    bytes_read: int | None = None
    bytes_written: int | None = None
    place: Location | None = None


def statistics_of(
    recording: Recording, *, target: str, stage: Stage, path: str, kernels: Sequence[KernelCost] | None = None
) -> dict[str, Any]:
    """The statistics of one stage of one target.

    Args:
        recording: what ran in it.
        target: its name.
        stage: which stage.
        path: the user's file.
        kernels: what the ops became, in a stage that makes kernels.

    Returns:
        `schema`, `target`, `stage`, `path` (of the user's file); `ops` and `backward_ops`, how many ran; `by_op` and
        `dtypes`, how often each operator ran and each dtype was made, most often first; `memory`, for "parameter",
        "buffer", "input", "constant" and "activation" `{tensors, bytes}`; `flops`, `backward_flops` and `flops_by_op`,
        without the `uncounted` ops whose sizes are symbols; `peak`, see `_peak`; `kernels`, see `_kernels`, None in
        stages without kernels.
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
    return {
        "schema": SCHEMA,
        "target": target,
        "stage": stage.value,
        "path": path,
        "ops": len(recording.ops),
        "backward_ops": sum(1 for op in recording.ops if op.autograd_node),
        "by_op": dict(Counter(op.overload for op in recording.ops).most_common()),
        "dtypes": dict(Counter(meta.dtype for op in recording.ops for meta in op.outputs).most_common()),
        "memory": _memory(holdings_of(recording)),
        "flops": operations.total(),
        "backward_flops": backward,
        "flops_by_op": dict(operations.most_common()),
        "uncounted": uncounted,
        "peak": _peak(peak_of(recording)),
        "kernels": _kernels(kernels) if kernels is not None else None,
    }


def _kernels(costs: Sequence[KernelCost]) -> dict[str, Any]:
    """`{count, calls, by_language, bytes_read, bytes_written, unknown, each}`: the kernel that moves most comes first.

    The totals leave out the `unknown` kernels, of which nobody knows what they move.
    """
    known = [cost for cost in costs if cost.bytes_read is not None and cost.bytes_written is not None]
    return {
        "count": len(costs),
        "calls": sum(cost.calls for cost in costs),
        "by_language": dict(Counter(cost.language for cost in costs).most_common()),
        "bytes_read": sum(cost.bytes_read or 0 for cost in known),
        "bytes_written": sum(cost.bytes_written or 0 for cost in known),
        "unknown": len(costs) - len(known),
        "each": [_kernel(cost) for cost in sorted(costs, key=_moved, reverse=True)],
    }


def _moved(cost: KernelCost) -> int:
    return (cost.bytes_read or 0) + (cost.bytes_written or 0)


def _kernel(cost: KernelCost) -> dict[str, Any]:
    return {
        "name": cost.name,
        "graph": cost.graph,
        "language": cost.language,
        "calls": cost.calls,
        "bytes_read": cost.bytes_read,
        "bytes_written": cost.bytes_written,
        **place_fields(cost.place),
    }


def _memory(holdings: list[Holding]) -> dict[str, dict[str, int]]:
    found = {kind: {"tensors": 0, "bytes": 0} for kind in ("parameter", "buffer", "input", "constant", "activation")}
    for holding in holdings:
        entry = found.setdefault(holding.kind, {"tensors": 0, "bytes": 0})
        entry["tensors"] += 1
        entry["bytes"] += holding.bytes
    return found


def _peak(peak: Peak) -> dict[str, Any]:
    """`{bytes, exact, op, module, backward, path, range, by_kind, largest}`: when it is reached, and by what."""
    op = peak.op
    return {
        "bytes": peak.bytes,
        "exact": peak.exact,
        "op": op.overload if op is not None else None,
        "module": op.module if op is not None else None,
        "backward": bool(op.autograd_node) if op is not None else False,
        **_place(op.frames if op is not None else ()),
        "by_kind": peak.by_kind(),
        "largest": [_holding(holding) for holding in peak.holdings[:_MOST_HOLDINGS]],
    }


def _holding(holding: Holding) -> dict[str, Any]:
    cause: Op | None = holding.maker
    frames = cause.frames if cause is not None else holding.origin.frames if holding.origin is not None else ()
    return {
        "kind": holding.kind,
        "name": holding.origin.name if holding.origin is not None else "",
        "op": cause.overload if cause is not None else None,
        "bytes": holding.bytes,
        "shape": [size if isinstance(size, int) else str(size) for size in holding.meta.shape],
        "dtype": holding.meta.dtype,
        **_place(frames),
    }


def _place(frames: tuple[Frame, ...]) -> dict[str, Any]:
    place: Location | None = next((frame.location for frame in frames if frame.in_project), None)
    return place_fields(place)
