"""What a recording amounts to: counts of ops and dtypes, bytes, floating-point operations, and the peak of memory.

The result is a JSON document (keys in `statistics_of`), kept as an artifact beside the graphs and shown by
`analyze --type summary` and `graph`. Bytes are those of storages, so tied weights and views count once.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from inductor_debug_schema import Location, Stage, to_wire

from inductor_debug.rules.flops import UnknownSizeError, flops_of
from inductor_debug.rules.liveness import Holding, Peak, holdings_of, peak_of
from inductor_debug.rules.ops import Frame, Op, Recording

SCHEMA = 1
_MOST_HOLDINGS = 10
"""Tensors listed as alive at the peak."""


def statistics_of(recording: Recording, *, target: str, stage: Stage, path: str) -> dict[str, Any]:
    """The statistics of one stage of one target.

    Returns:
        `schema`, `target`, `stage`, `path` (of the user's file); `ops` and `backward_ops`, how many ran; `by_op` and
        `dtypes`, how often each operator ran and each dtype was made, most often first; `memory`, for "parameter",
        "buffer", "input", "constant" and "activation" `{tensors, bytes}`; `flops`, `backward_flops` and `flops_by_op`,
        without the `uncounted` ops whose sizes are symbols; `peak`, see `_peak`.
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
    return {"path": place.path if place else None, "range": to_wire(place.range) if place else None}
