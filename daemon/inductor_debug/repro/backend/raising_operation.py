"""Which operation a backend raises at: the target's graphs, reduced until next to nothing is left that raises the same.

For bisections, which have seen the exception and survived it: nothing is forked, so a process that has used torch's
threads can do it. It writes no script.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inductor_debug_schema import Direction, Location

from inductor_debug.capture.dynamo.dynamo_positions import hooked_positions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.kerneldiff.execution.node_graphs import NodePlaces
from inductor_debug.repro.backend.backend_oracle import Compiler, Manner, Symptom, tried
from inductor_debug.repro.minimiser.minimise import Minimiser
from inductor_debug.repro.minimiser.minimised import GoneError
from inductor_debug.repro.minimiser.oracle import OracleVerdict
from inductor_debug.repro.program.capturing import CapturedGraph, Whole, graphs_of, whole_of
from inductor_debug.repro.program.literals import UnprintableError
from inductor_debug.repro.program.program import Program, ProgramStep
from inductor_debug.repro.script.writing import function_source


@dataclass(frozen=True)
class RaisingOperation:
    """The operation, by its node in one of Dynamo's graphs, and where in the source it comes from."""

    graph: str
    direction: Direction
    node: str
    op: str
    place: Location | None


def raising_operation(
    target: BuiltTarget,
    sources: SourceMap,
    backend: Compiler,
    *,
    gradients: bool,
    seconds: float,
    progress: Callable[[str], None],
) -> RaisingOperation | None:
    """Looks for it for at most `seconds`; None where no graph by itself raises anything, or none can be written."""
    with hooked_positions():
        captured, _ = graphs_of(target)
    for number, graph in enumerate(captured):
        try:
            whole = whole_of(graph)
        except UnprintableError:
            continue
        for manner in (Manner(), Manner(backward=True)) if gradients else (Manner(),):
            symptom = _symptom(whole.program, backend, whole, manner)
            if symptom.kind != "raises":
                continue
            step = _last_step(whole, backend, symptom, manner, seconds, progress)
            if step is not None:
                direction = Direction.BACKWARD if manner.backward else Direction.FORWARD
                return RaisingOperation(
                    str(number), direction, step.node, step.target, _place(graph, step, target, sources)
                )
    return None


def _last_step(
    whole: Whole, backend: Compiler, symptom: Symptom, manner: Manner, seconds: float, progress: Callable[[str], None]
) -> ProgramStep | None:
    minimiser = Minimiser(
        _Oracle(whole, backend, symptom, manner),
        progress=lambda left, attempts, _: progress(f"{left} operations left, {attempts} attempts"),
        seconds=seconds,
    )
    try:
        steps = minimiser.run(whole.program).program.steps
    except GoneError:
        return None
    return steps[-1] if steps else None


class _Oracle:
    """Compiles programs in this process. Once is enough: what raised has been seen to."""

    deterministic = True
    fingerprint = ""

    def __init__(self, whole: Whole, backend: Compiler, symptom: Symptom, manner: Manner) -> None:
        self._whole, self._backend, self._symptom, self._manner = whole, backend, symptom, manner

    def judge(self, program: Program) -> OracleVerdict:
        found = _symptom(program, self._backend, self._whole, self._manner)
        return OracleVerdict(self._symptom.same(found), found.words)


def _symptom(program: Program, backend: Compiler, whole: Whole, manner: Manner) -> Symptom:
    try:
        return Symptom(**tried(function_source(program), program, backend, whole.values, manner))
    except UnprintableError:
        return Symptom("")


def _place(graph: CapturedGraph, step: ProgramStep, target: BuiltTarget, sources: SourceMap) -> Location | None:
    nodes = (node for node in graph.graph_module.graph.nodes if node.name == step.node)
    node = next(nodes, None)
    return None if node is None else NodePlaces(target, sources).place(node)
