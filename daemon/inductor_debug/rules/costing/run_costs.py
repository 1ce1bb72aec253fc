"""The bounds of the runs of one job, each worked out once for all who tell of it, and their document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from inductor_debug_schema import CostBound, Location, RunCost, Stage
from inductor_debug_schema.answers.cost_document import (
    CostDocument,
    ExpressionCost,
    LineCost,
    ModuleCost,
    OperatorCost,
)

from inductor_debug.accelerators.profile import NO_ACCELERATOR, Profile
from inductor_debug.rules.costing.bounds import RunBounds, bounds_of, knows_speed
from inductor_debug.rules.costing.cost_sums import (
    by_expression,
    by_line,
    by_module,
    by_operator,
    by_own_expression,
    own_expression,
    whole_run,
)
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.liveness import Measure, on_device, peak_of
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.stick_flow import StickFlow

SCHEMA = 1
_MOST_MODULES = 8
TextOf = Callable[[Location], str]
"""The source of an expression."""


class RunCosts:
    """The costs of runs on one accelerator."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._latest: tuple[Recording, Measure, RunBounds] | None = None

    def total(self, recording: Recording) -> RunCost | None:
        """A whole run; None where nobody knows how fast the accelerator is."""
        if not knows_speed(self._profile):
            return None
        measure, run = self._of(recording)
        return whole_run(recording, run, self._name, peak_of(recording, measure).bytes)

    def seconds(self, recording: Recording) -> list[float] | None:
        """The bound of each op; None where nobody knows how fast the accelerator is."""
        if not knows_speed(self._profile):
            return None
        return [bound.seconds or 0.0 for bound in self._of(recording)[1].ops]

    def expressions(self, recording: Recording) -> dict[Location, CostBound]:
        """Each expression with all that it called; empty where nobody knows how fast the accelerator is."""
        return by_expression(recording, self._of(recording)[1]) if knows_speed(self._profile) else {}

    def document(self, recording: Recording, target: str, stage: Stage, path: str, text_of: TextOf) -> CostDocument:
        """All that is known of one stage of one target of the file at `path`."""
        measure, run = self._of(recording)
        lines = [LineCost(*place, cost) for place, cost in by_line(recording, run).items() if cost.ops]
        modules = [ModuleCost(module, cost) for module, cost in by_module(recording, run).items() if cost.ops]
        named = [OperatorCost(op, cost) for op, cost in by_operator(recording, run).items() if cost.ops]
        return CostDocument(
            schema=SCHEMA,
            target=target,
            stage=stage,
            path=path,
            title=self._profile.title if self._name else "",
            device_bytes=self._profile.memory_bytes if self._name else None,
            run=whole_run(recording, run, self._name, peak_of(recording, measure).bytes),
            expressions=sorted(_expressions(recording, run, text_of), key=lambda row: _weight(row.cost)),
            lines=sorted(lines, key=lambda row: _weight(row.cost)),
            modules=sorted(modules, key=lambda row: _weight(row.cost)),
            operators=sorted(named, key=lambda row: _weight(row.cost)),
        )

    @property
    def _name(self) -> str:
        return "" if self._profile.name == NO_ACCELERATOR else self._profile.name

    def _of(self, recording: Recording) -> tuple[Measure, RunBounds]:
        if self._latest is None or self._latest[0] is not recording:
            sticks = None
            if self._profile.has_layouts:
                sticks = StickFlow(recording, self._profile, operators.attention_calls(recording.ops))
            measure = on_device(self._profile, sticks)
            self._latest = (recording, measure, bounds_of(recording, self._profile, measure))
        return self._latest[1:]


def _weight(cost: CostBound) -> tuple[float, float, int]:
    """Sorts the costliest first, by their bytes where nobody knows seconds."""
    return -(cost.seconds or 0.0), -(cost.unfused_seconds or 0.0), -(cost.bytes_read + cost.bytes_written)


def _expressions(recording: Recording, run: RunBounds, text_of: TextOf) -> Iterable[ExpressionCost]:
    costs = by_own_expression(recording, run)
    made: dict[tuple[Location | None, bool], tuple[Counter[str], dict[str, None]]] = {}
    for op in recording.ops:
        if not op.is_view:
            names, modules = made.setdefault(own_expression(op), (Counter(), {}))
            names[op.overload] += 1
            modules[op.module] = None
    for home, cost in costs.items():
        if cost.ops:
            place, backward = home
            names, modules = made[home]
            yield ExpressionCost(
                path=place.path if place is not None else None,
                range=place.range if place is not None else None,
                text=text_of(place) if place is not None else "",
                backward=backward,
                ops=dict(names.most_common()),
                modules=list(modules)[:_MOST_MODULES],
                cost=cost,
            )
