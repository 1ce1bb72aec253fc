"""What a recording costs at least on an accelerator: memory at its peak, bytes that must move, operations, time.

Everything here is a lower bound. A compiler may fuse all that lies between, so only what comes from outside and is
read, and what is left at the end, has to cross the memory's border: once each. The time is the roofline: no run is
faster than its bytes at the memory's full bandwidth, nor than its operations at the full rate of their dtype. It is
left open where the profile names neither. Sizes that are symbols count with the smallest value they can have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from inductor_debug_schema import Location, Position, Range

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules import registry
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.finding_places import FindingPlaces
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Roots
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.flops import UnknownSizeError, flops_of
from inductor_debug.rules.recording.liveness import holdings_of, peak_of
from inductor_debug.rules.recording.ops import Op, Recording, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least

_PICKS = frozenset({"gather", "slice", "select", "as_strided"})
"""Operators that read a part of their first operand only, beside those that look up."""
_NOWHERE = Location("", Range(Position(0, 0), Position(0, 0)))


@dataclass(frozen=True, slots=True)
class Costs:
    """Lower bounds of one run on one accelerator.

    `ops` ran, of which the accelerator has no kernel for `unsupported_ops`. `operations` are floating-point operations
    (`rules.recording.flops`), `moved_bytes` what is read from outside and written as a result, `peak_bytes` the most
    memory needed at once, all as the accelerator stores it. `exact` says that no size was a symbol. `seconds` is None
    where the profile does not say how fast it is, `limited_by` then ""; else "memory" or "compute".
    """

    ops: int
    unsupported_ops: int
    operations: int
    moved_bytes: int
    peak_bytes: int
    exact: bool
    seconds: float | None = None
    limited_by: str = ""


def costs_of(recording: Recording, profile: Profile) -> Costs:
    """What the run of `recording` costs at least on the accelerator `profile`."""
    run = JudgedRun(recording, profile)
    peak = peak_of(recording, run.measure)
    rates, uncounted = _operations(recording, profile)
    moved = _moved_bytes(run)
    seconds, limited_by = _roofline(moved, rates, profile)
    return Costs(
        ops=len(recording.ops),
        unsupported_ops=len(_unsupported(run)),
        operations=sum(rates.values()),
        moved_bytes=moved,
        peak_bytes=peak.bytes,
        exact=peak.exact and not uncounted,
        seconds=seconds,
        limited_by=limited_by,
    )


def _roofline(moved: int, rates: Counter[str], profile: Profile) -> tuple[float | None, str]:
    """The longer of the two bounds that the profile allows to be set, and which it is."""
    speed = profile.speed
    times: dict[str, float] = {}
    if speed is not None and speed.bytes_per_second is not None:
        times["memory"] = moved / speed.bytes_per_second
    if speed is not None and speed.operations_per_second:
        # Operations in a dtype whose rate nobody names take no time here: the bound stays one.
        known = speed.operations_per_second
        times["compute"] = sum(count / known[dtype] for dtype, count in rates.items() if dtype in known)
    if not times:
        return None, ""
    limit = max(times, key=lambda name: times[name])
    return times[limit], limit


def _operations(recording: Recording, profile: Profile) -> tuple[Counter[str], int]:
    """Operations by the dtype that the accelerator computes them in, and of how many ops there may be more."""
    rates: Counter[str] = Counter()
    uncounted = 0
    for op in recording.ops:
        try:
            count = flops_of(op)
        except UnknownSizeError:
            count = flops_of(_smallest(op))
            uncounted += 1
        except IndexError:
            uncounted += 1
            continue
        if count:
            dtype = op.outputs[0].dtype if op.outputs else ""
            stored = profile.stored_as.get(dtype)
            rates[stored.dtype if stored is not None else dtype] += count
    return rates, uncounted


def _smallest(op: Op) -> Op:
    """The op with the smallest sizes that it can have: all formulas grow with sizes."""

    def least(metas: Sequence[TensorMeta]) -> tuple[TensorMeta, ...]:
        return tuple(replace(meta, shape=tuple(map(at_least, meta.shape))) for meta in metas)

    return replace(op, inputs=least(op.inputs), outputs=least(op.outputs))


def _unsupported(run: JudgedRun) -> set[int]:
    """The ops that the rule `unsupported-op` is about."""
    rule = registry.find("unsupported-op")
    assert isinstance(rule, Constraint)
    roots = Roots(FindingPlaces(_NOWHERE, run.recording.declarations))
    rule.inspect(run, roots)
    return set[int]().union(*(root.covers for group in roots.by_place() for root in group))


def _moved_bytes(run: JudgedRun) -> int:
    """Bytes from outside that some op reads, and bytes that are left when everything has run."""
    measure = run.measure
    read: dict[int, int] = {}
    for op in run.recording.ops:
        if op.is_view or operators.only_reads_metadata(op.packet):
            continue
        for position, meta in enumerate(op.inputs):
            amount = min(_read_bytes(op, position, meta, run.profile), measure(meta))
            read[meta.storage] = max(read.get(meta.storage, 0), amount)
    end = len(run.recording.ops) - 1
    moved = 0
    for holding in holdings_of(run.recording, measure):
        if holding.maker is None:
            moved += min(read.get(holding.meta.storage, 0), holding.bytes)
        elif holding.last == end and not holding.used:
            moved += holding.bytes
    return moved


def _read_bytes(op: Op, position: int, meta: TensorMeta, profile: Profile) -> int:
    """What an op certainly reads of an operand: of a table that it looks things up in, perhaps one row again."""
    bare = operators.name(op.packet)
    if position == 0 and (operators.looks_up(op.packet) or bare in _PICKS):
        return 0
    # A dimension of stride 0 repeats what was read.
    lengths = [at_least(size) for size, step in zip(meta.shape, meta.stride, strict=True) if step != 0]
    return math.prod(lengths) * profile.device_bytes(meta.dtype, meta.element_bytes)
