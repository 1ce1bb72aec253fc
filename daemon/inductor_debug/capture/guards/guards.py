"""What a target's compiled graphs rely on, and what compiles it again: guards, recompilations, functions left eager.

The target is compiled for real by Dynamo and called with each of its sets of inputs in turn, under a backend that only
runs the graphs; a target with one set is called three times, because a model that changes itself breaks its own guards:
once when it starts, or again and again. All of it happens on demand: it costs a trace for every version. The words of
graph breaks are `graph_breaks`'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from inductor_debug_schema import Finding, Location, Stage
from torch._dynamo import external_utils
from torch.fx import GraphModule

from inductor_debug.capture.dynamo.graph_breaks import frames_of
from inductor_debug.capture.dynamo.specialisations import Specialised, specialisations
from inductor_debug.capture.expressions.instruction_expressions import SourcePositions
from inductor_debug.capture.expressions.spans import SourceMap, name_of
from inductor_debug.capture.failures.failures import innermost
from inductor_debug.capture.guards import guard_hooks
from inductor_debug.capture.guards.changing_state import state_seen, states_made
from inductor_debug.capture.guards.guard_checks import Broken, broken_checks, readable, size_conditions
from inductor_debug.capture.guards.guard_hooks import CacheEntry, GuardCheck, RawGuard, RawRecompile
from inductor_debug.capture.guards.guard_kinds import is_bookkeeping
from inductor_debug.capture.guards.recompile_findings import recompile_findings
from inductor_debug.capture.guards.recompiles import Failure, Recompile, RecompilesSeen
from inductor_debug.capture.guards.scheduled_values import scheduled
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.dynamo_run import Call, Callers, DynamoRun
from inductor_debug.capture.stages.eager_functions import WatchedRunner, eager_findings
from inductor_debug.rules.recording.guard_facts import (
    BreakFact,
    BrokenGuard,
    GraphFact,
    GuardFact,
    GuardReport,
    RecompileFact,
)
from inductor_debug.rules.recording.ops import Frame

_MOST_CHECKS = 400
"""More than any call breaks of one graph."""
_CALLS_AGAIN = 2
"""One that does not fit may be how things start, such as a cache that is filled; two are a habit."""


@dataclass(slots=True)
class GuardOutcome:
    """The report, the findings that come of it, and notes on what stood in the way."""

    report: GuardReport
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run_guards(target: BuiltTarget, sources: SourceMap, more: Sequence[Call] = ()) -> GuardOutcome:
    """Compiles `target` and calls it with its own inputs and with each of `more`.

    Findings are `recompile`, at the expressions whose guards were broken, and `eager-fallback`, where a function's
    operations are in no graph. Exceptions of the target end the run and become notes: stages explain them.
    """
    run = DynamoRun(target, sources, Stage.MOCK)
    snapshot = Snapshot(target)
    again = target.again if not more else None
    seen = [(call.args, call.kwargs) for call in again.later] if again is not None else []
    same = not more and (again is None or not seen or again.same_arguments)
    watch = _Watch(run, same_calls=same)
    calls = list(more) or seen or target.calls * _CALLS_AGAIN

    @contextmanager
    def under(number: int) -> Iterator[None]:
        if again is None or not seen:
            yield
            return
        conditions = again.later[number - 1].conditions if number else again.first
        with conditions.set_as_here(again.first), conditions.held(target.module):
            yield

    listening = guard_hooks.listening(watch.guard, watch.recompiled)
    with target.as_called(), listening, specialisations(watch.specialised.append):
        error = run.execute(watch, calls, leave_early=False, under=under)
    snapshot.restore()
    ending = run.explain(error)
    explained = ending.findings
    report = watch.report(1 + len(calls))
    stopped = [found.message for found in explained if found.rule == "capture-error"]
    broken = [found for found in explained if found.rule != "capture-error"]
    report.breaks = [BreakFact(found.rule, found.message, Location(found.path, found.range)) for found in broken]
    report.notes = [*ending.notes, *stopped]
    limits = [finding for finding in run.breaks.findings if finding.rule == "recompile"]
    places = [call.frames for call in again.later] if again is not None else []
    recompiles = recompile_findings(run, RecompilesSeen(watch.recompiles, watch.specialised, len(calls), places))
    findings = [*recompiles, *limits, *eager_findings(run, report.eager, explained)]
    return GuardOutcome(report, findings, ending.notes)


class _Watch:
    """The runner of the run, and what the hooks tell."""

    def __init__(self, run: DynamoRun, *, same_calls: bool) -> None:
        self._run = run
        self._same_calls = same_calls
        self._runner = WatchedRunner(run)
        self._guards: dict[str, dict[tuple[str, str], RawGuard]] = {}
        self._graphs: list[GraphFact] = []
        self._frames: set[str] = set()
        self._codes: list[CodeType] = []
        self.recompiles: list[Recompile] = []
        self.specialised: list[Specialised] = []

    def compiled(self, graph_module: GraphModule, callers: Callers) -> Callable[..., tuple[Any, ...]]:
        """Notes the graph; what is returned runs it."""
        number = guard_hooks.compilation()
        self._frames.add(number)
        code = guard_hooks.compiled_code()
        self._codes += [code] if code is not None and code not in self._codes else []
        calls = sum(node.op.startswith("call_") for node in graph_module.graph.nodes)
        function = self._name_of(code)
        self._graphs.append(GraphFact(number, function, self._definition(code), calls))
        return self._runner.compiled(graph_module, callers)

    def whole(self, graph_module: GraphModule, arguments: list[torch.Tensor]) -> None:
        """Dynamo is never left early here."""
        self.compiled(graph_module, lambda _: ())(*arguments)

    def guard(self, raw: RawGuard) -> None:
        """A guard was made; an analysis that is started again makes its guards again."""
        self._guards.setdefault(raw.compilation, {})[raw.kind, raw.source] = raw

    def recompiled(self, raw: RawRecompile) -> None:
        """A call did not fit."""
        entries = [
            (entry, [self._failure(broken, entry, raw.code) for broken in broken_checks(entry)])
            for entry in raw.entries
        ]
        # Of several versions the one that nearly fits says best what is new; of equal ones the latest.
        entries.sort(key=lambda found: _version(found[0]), reverse=True)
        close = min(entries, key=lambda found: len(found[1]) or _MOST_CHECKS, default=None)
        self.recompiles.append(
            Recompile(
                self._name_of(raw.code),
                raw.compilation,
                self._run.call + 1,
                [failure for _, failures in entries for failure in failures],
                close[1] if close is not None else [],
            )
        )

    def _name_of(self, code: CodeType | None) -> str:
        """The compiled function; where the target's forward is torch's own, Dynamo compiles a wrapper around it."""
        if code is None or code.co_filename == external_utils.__file__:
            return self._run.target.name
        return name_of(code)

    def _failure(self, broken: Broken, entry: CacheEntry, code: CodeType) -> Failure:
        frames = self._frames_of(broken, entry.compilation)
        state = state_seen(broken, code, entry.scope, self._same_calls)
        if state is not None and innermost(frames) is None:
            run = self._run
            by_program = scheduled(state, broken.guarded, entry.scope, run.target, run.sources)
            state, frames = (by_program[0], (by_program[1],)) if by_program is not None else (state, frames)
        return Failure(broken, frames, entry.compilation, state, states_made(broken, code, entry.scope))

    def _frames_of(self, broken: Broken, number: str) -> tuple[Frame, ...]:
        """Where the guard was made: of its kind on its source, else any on its source, else torch's own line."""
        made = self._guards.get(number, {})
        same = [raw for raw in made.values() if raw.source == broken.source and raw.source and raw.stack]
        same.sort(key=lambda raw: raw.kind != broken.kind)
        for raw in same:
            frames = frames_of(raw.stack, self._run.sources)
            if innermost(frames) is not None:
                return frames
        if broken.line is None:
            return ()
        files = [self._run.target.location.path, *(raw.stack[0].filename for raw in made.values() if raw.stack)]
        file = next((file for file in files if file.endswith(broken.file)), None)
        positions = SourcePositions(broken.line, None, None, None)
        frame = self._run.sources.frame_from_positions(file, "", positions) if file is not None else None
        return (frame,) if frame is not None else ()

    def report(self, sets: int) -> GuardReport:
        """What was seen, but for breaks."""
        sizes = {number: checks for code in self._codes for number, checks in guard_hooks.cached(code)}
        for graph in self._graphs:
            made = self._guards.get(graph.number, {})
            # A number is guarded twice, once as a constant.
            graph.guards = [
                self._fact(raw)
                for (kind, source), raw in made.items()
                if kind != "CONSTANT_MATCH" or ("EQUALS_MATCH", source) not in made
            ]
            graph.guards += self._size_facts(graph.number, sizes.get(graph.number, ()))
        return GuardReport(
            target=self._run.target.name,
            sets=sets,
            frames=len(self._frames),
            calls=sum(graph.calls for graph in self._graphs),
            graphs=self._graphs,
            recompiles=[
                RecompileFact(made.function, made.number, made.inputs, list(map(_broken_guard, made.failures)))
                for made in self.recompiles
            ],
            eager=self._runner.functions(),
        )

    def _fact(self, raw: RawGuard) -> GuardFact:
        location = _location(frames_of(raw.stack, self._run.sources))
        return GuardFact(raw.kind, readable(raw.source), location, is_bookkeeping(raw.kind, raw.source))

    def _size_facts(self, number: str, checks: tuple[GuardCheck, ...]) -> list[GuardFact]:
        """The conditions on symbolic sizes, at the lines that torch knows."""
        conditions = (broken for check in checks for broken in size_conditions(check))
        return [
            GuardFact("SHAPE", broken.text, _location(self._frames_of(broken, number)), bookkeeping=False)
            for broken in conditions
        ]

    def _definition(self, code: CodeType | None) -> Location | None:
        if code is None:
            return None
        positions = SourcePositions(code.co_firstlineno, None, None, None)
        frame = self._run.sources.frame_from_positions(code.co_filename, name_of(code), positions)
        return frame.location if frame is not None else None


def _version(entry: CacheEntry) -> int:
    """The number of a version among those of a function: 1 of `0/1`."""
    number = entry.compilation.partition("/")[2].partition("_")[0]
    return int(number) if number.isdigit() else 0


def _location(frames: tuple[Frame, ...]) -> Location | None:
    index = innermost(frames)
    return frames[index].location if index is not None else None


def _broken_guard(failure: Failure) -> BrokenGuard:
    return BrokenGuard(failure.broken.text, readable(failure.broken.source), _location(failure.frames), failure.graph)
