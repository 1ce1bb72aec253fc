"""What a recording costs at least on an accelerator: memory at its peak, bytes that must move, operations, time.

Everything here is a lower bound. What has to cross the memory's border, and how long that and the operations take at
least, `costing` says: nothing is said of time where the profile names neither the memory's bandwidth nor a rate. Sizes
that are symbols count with the smallest value they can have.
"""

from __future__ import annotations

from dataclasses import dataclass

from inductor_debug_schema import Location, Position, Range

from inductor_debug.accelerators.execution import RunsOn
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules import registry
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.finding_places import FindingPlaces
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Roots
from inductor_debug.rules.recording.liveness import peak_of, storage_bytes
from inductor_debug.rules.recording.ops import Recording

_NOWHERE = Location("", Range(Position(0, 0), Position(0, 0)))


@dataclass(frozen=True, slots=True)
class Costs:
    """Lower bounds of one run on one accelerator.

    `ops` ran, of which the accelerator has no kernel for `unsupported_ops` and leaves `fallback_ops` to the host;
    `computing_ops` are those that are no views. `parameters` counts the elements of parameters that the run used,
    `parameter_bytes` is their memory. `padding_bytes` are what is padding of all tensors, None where nothing is padded
    there. `operations` are floating-point operations
    (`rules.recording.flops`), `moved_bytes` what crosses the memory's border for certain, `peak_bytes` the most
    memory needed at once, all as the accelerator stores it. `exact` says that no size was a symbol. `seconds` is None
    where the profile does not say how fast it is, `limited_by` then ""; else "memory", "compute" or "launch".
    """

    ops: int
    unsupported_ops: int
    operations: int
    moved_bytes: int
    peak_bytes: int
    exact: bool
    seconds: float | None = None
    limited_by: str = ""
    fallback_ops: int = 0
    computing_ops: int = 0
    parameters: int = 0
    parameter_bytes: int = 0
    padding_bytes: int | None = None


def costs_of(recording: Recording, profile: Profile) -> Costs:
    """What the run of `recording` costs at least on the accelerator `profile`."""
    run = JudgedRun(recording, profile)
    peak = peak_of(recording, run.measure)
    bounds = run.bounds
    parameters, parameter_bytes = _parameters(run)
    return Costs(
        ops=len(recording.ops),
        unsupported_ops=len(_unsupported(run)),
        operations=bounds.operations,
        moved_bytes=bounds.moved_bytes,
        peak_bytes=peak.bytes,
        exact=peak.exact and not bounds.uncounted,
        seconds=bounds.seconds,
        limited_by=bounds.limited_by.value if bounds.limited_by is not None else "",
        fallback_ops=sum(
            not op.is_view and run.execution.of(op).place is RunsOn.CPU for op in recording.ops if op.outputs
        ),
        computing_ops=sum(not op.is_view for op in recording.ops),
        parameters=parameters,
        parameter_bytes=parameter_bytes,
        padding_bytes=_padding(run),
    )


def _parameters(run: JudgedRun) -> tuple[int, int]:
    """The elements of the parameters, and their bytes as the accelerator has them; tied ones count once."""
    held = {origin.meta.storage: origin.meta for origin in run.recording.origins.values() if origin.kind == "parameter"}
    elements = sum(storage_bytes(meta) // max(meta.element_bytes, 1) for meta in held.values())
    return elements, sum(map(run.measure, held.values()))


def _padding(run: JudgedRun) -> int | None:
    """What is padding of everything that is read or made, each piece of memory counted once."""
    if not run.profile.has_layouts:
        return None
    seen: dict[int, int] = {}
    for meta in (meta for op in run.recording.ops if not op.is_view for meta in (*op.inputs, *op.outputs)):
        layout = run.sticks.layout_of(meta) if meta.storage not in seen else None
        if layout is not None:
            seen[meta.storage] = layout.padding_bytes
    return sum(seen.values())


def _unsupported(run: JudgedRun) -> set[int]:
    """The ops that the rule `unsupported-op` is about."""
    rule = registry.find("unsupported-op")
    assert isinstance(rule, Constraint)
    roots = Roots(FindingPlaces(_NOWHERE, run.recording.declarations))
    rule.inspect(run, roots)
    return set[int]().union(*(root.covers for group in roots.by_place() for root in group))
