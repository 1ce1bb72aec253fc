"""Finds the operations at fault and fills a report with them: nodes, the first divergent one, the blame.

Transparent backends are walked node by node; of others, only what goes wrong is localised by bisection. Finding nobody
guilty is a result, too, and a note says so.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.kerneldiff.blame.localise import Compared, Localised, Localiser
from inductor_debug.kerneldiff.blame.node_comparison import NodeReplacement, NodeWalk
from inductor_debug.kerneldiff.blame.written_state import WriteTrial
from inductor_debug.kerneldiff.emulation.backends import Backend
from inductor_debug.kerneldiff.execution.node_graphs import (
    NodeGraph,
    NodePlaces,
    SharedGraphs,
    Visitor,
    operation_name,
    with_dynamo_graphs,
)
from inductor_debug.kerneldiff.execution.operation_arithmetic import Arithmetic, at_least, is_reference
from inductor_debug.kerneldiff.execution.run_state import RunState
from inductor_debug.kerneldiff.execution.side_runs import run_side
from inductor_debug.kerneldiff.judging.diff_report import Blame, DiffReport, NodeResult, SegmentResult, Verdict
from inductor_debug.kerneldiff.judging.verdict import SUSPICIOUS, SUSPICIOUS_ALONE, WRONG, off_by

if TYPE_CHECKING:
    from inductor_debug.kerneldiff.judging.comparison_settings import ComparisonSettings

_DIVERGES = 8.0
"""A result diverges where its error is that many units, and that many times its inputs' error."""
_MOST_REPLACED = 3
_BUYS_NOTHING = 0.9
"""Putting an operation right that leaves a larger part of the error says something about the others."""
_MOST_BLAMED = 10


class Finder:
    """Looks for the operations at fault of one comparison."""

    def __init__(
        self,
        target: BuiltTarget,
        backend: Backend,
        settings: ComparisonSettings,
        places: NodePlaces,
        graphs: SharedGraphs,
        state: RunState,
    ) -> None:
        self._target, self._backend, self._settings, self._state = target, backend, settings, state
        self._places, self._graphs = places, graphs
        self._deadline = time.perf_counter() + settings.time_limit

    def find(self, report: DiffReport) -> None:
        """Adds to `report` what is found."""
        arithmetic = self._backend.arithmetic
        if arithmetic is not None:
            self._walk(arithmetic, report)
        elif self._backend.graph_compiler is not None and report.verdict is not Verdict.PASS:
            self._localise(report)

    # Transparent backends

    def _walk(self, arithmetic: Arithmetic, report: DiffReport) -> None:
        self._settings.progress("comparing operations")
        stream = self._settings.stream
        walk = NodeWalk(arithmetic, self._places, done=stream.node)

        def visit(graph: NodeGraph, args: list[Any]) -> Any:
            made = walk(graph, args)
            stream.flush()  # what runs between graphs may take its time
            return made

        self._run(visit)
        report.nodes = walk.results
        unit = at_least(arithmetic.unit)
        report.first_divergent = next((_name(node) for node in walk.results if _diverges(node, unit)), "")
        growing = max(walk.results, key=lambda node: node.growth or 0.0, default=None)
        report.largest_growth = _name(growing) if growing is not None and (growing.growth or 0.0) > 1 else ""
        suspects = self._excused(_suspects(walk.results), report)
        before = self._replace(arithmetic, suspects[:_MOST_REPLACED], report)
        despite = "the reference's own kernel computes it" if is_reference(arithmetic) else "nothing is rounded there"
        report.blame = [
            _blame(node, before.get(node.graph), len(suspects) - 1, despite) for node in suspects[:_MOST_BLAMED]
        ]
        if report.blame and report.verdict is Verdict.PASS:
            report.verdict = Verdict.SUSPICIOUS
            first = report.blame[0]
            report.why = f"The results agree, but {first.op} computes something wrong on its own: {first.why}"
        if not report.blame and report.verdict is Verdict.WRONG:
            report.notes.append(
                "No single operation is at fault: each is as exact as the number format allows on the reference's "
                "inputs. Look at where the accumulated error grows."
            )

    def _excused(self, suspects: list[NodeResult], report: DiffReport) -> list[NodeResult]:
        """Those that are left where the format's lack of large integers is all there is to some, and nobody sees it."""
        if report.verdict is not Verdict.PASS:
            return suspects
        left = [node for node in suspects if not (node.isolated and node.isolated.unheld)]
        if len(left) < len(suspects):
            count = len(suspects) - len(left)
            what = "1 operation has" if count == 1 else f"{count} operations have"
            report.notes.append(
                f"{what} integers of more than 32 bits, which {self._backend.name} does not hold; no result depends on "
                "them."
            )
        return left

    def _replace(self, arithmetic: Arithmetic, suspects: list[NodeResult], report: DiffReport) -> dict[str, float]:
        """What putting one operation right would leave of its graph's error; returns those errors."""
        if not suspects:
            return {}
        everything = NodeReplacement(arithmetic, frozenset())
        self._run(everything)
        for node in suspects:
            if time.perf_counter() > self._deadline:
                report.notes.append("There was no time to see what putting each operation right would buy.")
                break
            self._settings.progress(f"putting {node.op} right")
            without = NodeReplacement(arithmetic, frozenset({(node.graph, node.node)}))
            self._run(without)
            total = everything.errors.get(node.graph, 0.0)
            node.replaced = without.errors.get(node.graph, 0.0) / total if total > 0 else None
        return everything.errors

    def _run(self, visitor: Visitor) -> None:
        function = self._graphs.run_by(visitor)
        with self._settings.traced():
            ran = run_side(self._target, function, seed=self._settings.seed, gradients=self._settings.gradients)
        self._state.restore()
        if ran.error is not None:
            raise ran.error

    # Opaque backends

    def _localise(self, report: DiffReport) -> None:
        self._settings.progress("looking for the operation at fault")
        forward = max((result.verdict for result in report.outputs), key=lambda verdict: verdict.rank, default=None)
        backward = max((result.verdict for result in report.gradients), key=lambda verdict: verdict.rank, default=None)
        found: list[Localised] = []
        failures: list[str] = []
        for worst, gradients in ((forward, False), (backward, True)):
            if worst in (Verdict.SUSPICIOUS, Verdict.WRONG) and not found:
                localiser = self._localiser(SUSPICIOUS if worst is Verdict.SUSPICIOUS else WRONG, gradients, report)
                self._visit(localiser)
                found, failures = localiser.found, failures + localiser.failures
        report.blame = [self._blame_of(localised) for localised in found]
        if failures:
            report.notes.append(f"Some pieces of the graph could not be compiled alone: {failures[0]}")
        if not found:
            report.blame = self._blame_of_writes(report)
        if not report.blame:
            report.notes.append(
                "Every graph is right when it is compiled by itself with the reference's inputs: the difference comes "
                "from what is around them."
            )

    def _localiser(self, threshold: float, gradients: bool, report: DiffReport) -> Localiser:
        assert self._backend.graph_compiler is not None
        module = self._target.module
        return Localiser(
            self._backend.graph_compiler,
            seed=self._settings.seed,
            deadline=self._deadline,
            threshold=threshold,
            gradients=gradients,
            constants=frozenset(map(id, [] if module is None else module.buffers())),
            progress=self._settings.progress,
            compared=lambda compared: self._segment(compared, report),
        )

    def _segment(self, compared: Compared, report: DiffReport) -> None:
        start, nodes = compared.start, compared.nodes
        row = SegmentResult(
            compared.graph.name,
            start,
            start + len(nodes),
            tuple(map(operation_name, nodes)),
            tuple(node.name for node in nodes),
            compared.error,
            compared.wrong,
            compared.why,
            self._places.span(nodes),
        )
        report.segments.append(row)
        self._settings.stream.segment(row)

    def _visit(self, localiser: Localiser) -> None:
        function = with_dynamo_graphs(self._target.function, localiser)
        with self._settings.traced():
            ran = run_side(self._target, function, seed=self._settings.seed, gradients=False)
        self._state.restore()
        if ran.error is not None:
            raise ran.error

    def _blame_of_writes(self, report: DiffReport) -> list[Blame]:
        """What the model writes to, where that alone makes results wrong."""
        assert self._backend.graph_compiler is not None
        self._settings.progress("trying writes on copies")
        run = {"seed": self._settings.seed, "gradients": self._settings.gradients}
        trial = WriteTrial(self._target, self._backend.graph_compiler, run, self._state.restore, self._settings.traced)
        wrong = [result.name for result in (*report.outputs, *report.gradients) if result.verdict is Verdict.WRONG]
        write = trial.guilty(wrong) if wrong else None
        if write is None:
            return []
        node, places = write.node, self._places
        why = f"it writes to {write.name}, which is read again later; on a copy of that the results are right"
        return [Blame(node.name, operation_name(node), why, places.place(node), write.graph.name, places.module(node))]

    def _blame_of(self, found: Localised) -> Blame:
        placed = [node for node in reversed(found.nodes) if self._places.place(node) is not None]
        node = placed[0] if placed else found.nodes[-1]
        why = f"compiled by itself it is {off_by(found.ratio)}"
        if len(found.nodes) > 1:
            names = ", ".join(operation_name(item) for item in found.nodes[:6])
            reason = "only when compiled together" if found.together else "and cannot be told apart further"
            reason = reason if found.complete else "and there was no time to look closer"
            why = f"these {len(found.nodes)} operations ({names}) are {off_by(found.ratio)}, {reason}"
        return Blame(
            node.name,
            operation_name(node),
            why,
            self._places.place(node),
            found.graph.name,
            self._places.module(node),
            tuple(item.name for item in found.nodes),
        )


def _what_it_buys(left: float, before: float, others: int) -> str:
    """What putting one operation right does: `left` is the part that stays of the error `before`."""
    if left < _BUYS_NOTHING:
        return f"; put right, the error of the graph's results goes from {before:.2g} to {before * left:.2g}"
    if others:
        rest = "another operation is" if others == 1 else f"{others} other operations are"
        return f"; put right alone it changes little, because {rest} off as well"
    return "; put right it changes little: the results hardly depend on it"


def _blame(node: NodeResult, before: float | None, others: int, despite: str) -> Blame:
    ratio = _isolated_ratio(node)
    why = f"on the reference's inputs its result is {off_by(ratio)}"
    if math.isinf(ratio) and not (node.isolated and node.isolated.invalid):
        why = f"on the reference's inputs its result is not the same, although {despite}"
    if node.isolated and node.isolated.unheld:
        why = "it has integers of more than 32 bits, which this arithmetic does not hold"
    if node.replaced is not None and before:
        why += _what_it_buys(node.replaced, before, others)
    return Blame(node.node, node.op, why, node.place, node.graph, node.module)


def _suspects(nodes: list[NodeResult]) -> list[NodeResult]:
    """Operations that are wrong by themselves, the most wrong one first; suspicious ones where none is."""
    found = sorted(nodes, key=lambda node: (-_isolated_ratio(node), -_relative(node)))
    limit = WRONG if found and _isolated_ratio(found[0]) > WRONG else SUSPICIOUS_ALONE
    return [node for node in found if _isolated_ratio(node) > limit]


def _isolated_ratio(node: NodeResult) -> float:
    if node.isolated is None:
        return 0.0
    return node.isolated.ratio or 0.0


def _relative(node: NodeResult) -> float:
    return node.isolated.relative if node.isolated is not None else 0.0


def _diverges(node: NodeResult, unit: float) -> bool:
    accumulated = node.accumulated
    if accumulated is None:
        return False
    return accumulated.invalid or (accumulated.relative > _DIVERGES * unit and (node.growth or 0.0) > _DIVERGES)


def _name(node: NodeResult) -> str:
    return node.node if node.graph == "0" else f"{node.graph}:{node.node}"
