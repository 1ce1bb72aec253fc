"""What a clock saw of a compilation, as rows: by phase, by the user's expression, and by module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from inductor_debug_schema import (
    AlikeModules,
    CompileExpression,
    CompileModule,
    CompilePhase,
    CompileSlices,
    CompileTimeDocument,
    Location,
)

from inductor_debug.capture.dynamo.dynamo_positions import TracedFrame, TracedStack
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.measuring.compile_clock import Interval, TorchEvent, TracedInstruction, WorkedNode
from inductor_debug.rules.recording.compiler_phases import PHASES, Phase, phase_of


class _Slice(NamedTuple):
    """What all of the time is split by; the place is None for work that no expression asked for."""

    phase: Phase
    module: str
    place: Location | None


@dataclass
class _Worked:
    """How often an expression was worked on."""

    traced: int = 0
    nodes: int = 0


@dataclass
class _Fold:
    """A tree of intervals, summed up."""

    sources: SourceMap
    kinds: Mapping[str, str]
    seconds: dict[_Slice, float] = field(default_factory=dict)
    worked: dict[Location, _Worked] = field(default_factory=dict)

    def add(self, interval: Interval, at: _Slice) -> None:
        """Counts an interval and all inside it."""
        self.seconds[at] = self.seconds.get(at, 0.0) + interval.own
        for work, inner in interval.inner.items():
            if isinstance(work, TorchEvent):
                # A phase begins where an instruction ends a graph; it is about all of that graph.
                known = phase_of(work.name)
                self.add(inner, at if known is None else _Slice(known, "", None))
                continue
            found = self._place_of(work)
            self.add(inner, _Slice(at.phase, self._known(work.module), found or at.place))
            if found is not None:
                worked = self.worked.setdefault(found, _Worked())
                if isinstance(work, TracedInstruction):
                    worked.traced += inner.count
                else:
                    worked.nodes += inner.count

    def _known(self, module: str) -> str:
        """The module, or the innermost one around it that is the target's own."""
        while module and module not in self.kinds:
            module = module.rpartition(".")[0]
        return module

    def _place_of(self, work: TracedInstruction | WorkedNode) -> Location | None:
        """The innermost of the user's expressions that is worked on; None where what is around it says more."""
        for filename, function, positions in _frames(work):
            frame = self.sources.frame_from_positions(filename, function, positions)
            if frame is not None and frame.in_project:
                return frame.location
        return None


def _frames(work: TracedInstruction | WorkedNode) -> TracedStack:
    if isinstance(work, TracedInstruction):
        return (TracedFrame(work.code.co_filename, work.code.co_name, work.positions),)
    return work.stack


def document_of(
    target: str,
    path: str,
    root: Interval,
    sources: SourceMap,
    *,
    kinds: Mapping[str, str],
    graphs: int = 0,
    operations: int = 0,
    start_up: float = 0.0,
    problem: str = "",
) -> CompileTimeDocument:
    """The rows of one compilation; what was not of a function that Dynamo compiled is not in them.

    Args:
        target: its name.
        path: of the user's file.
        root: all that was worked on.
        sources: finds the user's expressions.
        kinds: the class of each module of the target by its path, with "" for the target.
        graphs: how many were compiled.
        operations: what is in them.
        start_up: seconds that went before.
        problem: why it ended early.
    """
    fold = _Fold(sources, kinds)
    for work, interval in root.inner.items():
        phase = phase_of(work.name) if isinstance(work, TorchEvent) else None
        if phase is not None:
            fold.add(interval, _Slice(phase, "", None))
    phases = _phases(fold.seconds)
    expressions = _expressions(fold)
    modules = _modules(fold)
    seconds = sum(fold.seconds.values())
    nowhere = sum(spent for at, spent in fold.seconds.items() if at.place is None)
    return CompileTimeDocument(
        schema=1,
        target=target,
        path=path,
        compile_phases=list(phases.values()),
        seconds=round(seconds, 6),
        start_up=round(start_up, 6),
        placed=round(seconds - nowhere, 6),
        graphs=graphs,
        expressions=list(expressions.values()),
        modules=list(modules.values()),
        alike=alike(modules.values()),
        slices=_slices(fold.seconds, list(phases), list(modules), list(expressions)),
        problem=problem,
        operations=operations,
    )


def _phases(seconds: Mapping[_Slice, float]) -> dict[Phase, CompilePhase]:
    spent: dict[Phase, float] = {}
    for at, own in seconds.items():
        spent[at.phase] = spent.get(at.phase, 0.0) + own
    return {
        phase: CompilePhase(part=phase.part, phase=phase.doing, seconds=round(spent[phase], 6))
        for phase in PHASES
        if phase in spent
    }


def _expressions(fold: _Fold) -> dict[Location | None, CompileExpression]:
    parts: dict[Location | None, dict[str, float]] = {}
    modules: dict[Location | None, set[str]] = {}
    for at, own in fold.seconds.items():
        of_place = parts.setdefault(at.place, {})
        of_place[at.phase.part] = of_place.get(at.phase.part, 0.0) + own
        modules.setdefault(at.place, set()).add(at.module)
    rows = {}
    for place in sorted(parts, key=lambda place: -sum(parts[place].values())):
        worked = fold.worked.get(place, _Worked()) if place is not None else _Worked()
        rows[place] = CompileExpression(
            path=place.path if place is not None else None,
            range=place.range if place is not None else None,
            text=fold.sources.excerpt(place) if place is not None else "",
            seconds=round(sum(parts[place].values()), 6),
            parts={part: round(seconds, 6) for part, seconds in parts[place].items()},
            traced=worked.traced,
            nodes=worked.nodes,
            modules=len(modules[place]) if place is not None else 0,
        )
    return rows


def _modules(fold: _Fold) -> dict[str, CompileModule]:
    """Each module with all that it contains; the target itself is left out, for it is all of the time placed."""
    whole: dict[str, float] = {}
    for at, own in fold.seconds.items():
        parts = at.module.split(".") if at.module else []
        for length in range(1, len(parts) + 1):
            outer = ".".join(parts[:length])
            whole[outer] = whole.get(outer, 0.0) + own
    return {
        name: CompileModule(module=name, kind=fold.kinds[name], seconds=round(whole[name], 6))
        for name in sorted(whole, key=lambda name: -whole[name])
        if name in fold.kinds
    }


def alike(modules: Iterable[CompileModule]) -> list[AlikeModules]:
    """Modules of one class at the same place of lists as one row with the time of all."""
    found: dict[tuple[str, str], list[CompileModule]] = {}
    for row in modules:
        pattern = ".".join("*" if part.isdigit() else part for part in row.module.split("."))
        found.setdefault((pattern, row.kind), []).append(row)
    rows = [
        AlikeModules(
            pattern=pattern if len(same) > 1 else same[0].module,
            kind=kind,
            count=len(same),
            seconds=round(sum(row.seconds for row in same), 6),
        )
        for (pattern, kind), same in found.items()
    ]
    return sorted(rows, key=lambda row: -row.seconds)


def _slices(
    seconds: Mapping[_Slice, float], phases: list[Phase], modules: list[str], expressions: list[Location | None]
) -> CompileSlices:
    phase_numbers = {phase: number for number, phase in enumerate(phases)}
    module_numbers = {module: number for number, module in enumerate(modules)}
    expression_numbers = {place: number for number, place in enumerate(expressions)}
    rows = sorted(
        (phase_numbers[at.phase], module_numbers.get(at.module, -1), expression_numbers[at.place], round(own, 6))
        for at, own in seconds.items()
    )
    return CompileSlices(
        phases=[row[0] for row in rows],
        modules=[row[1] for row in rows],
        expressions=[row[2] for row in rows],
        seconds=[row[3] for row in rows],
    )
