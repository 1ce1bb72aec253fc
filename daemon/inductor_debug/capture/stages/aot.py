"""The third look at a target: its forward and backward graphs, as AOTAutograd makes them of what Dynamo captured.

Nothing is compiled, and the backward is there without having run. What the forward does is recorded where it is called,
between the code that runs eagerly, and what the backward does after all of it; rules judge both, and say of what only
the backward does that it is the backward. A target that needs no gradient has a forward alone, and a note says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import torch
from inductor_debug_schema import Direction, Finding, Graph, GraphDocument, GraphKind, Severity, Stage
from torch.fx import GraphModule

from inductor_debug.capture.dynamo.dynamo_positions import stack_of_node
from inductor_debug.capture.dynamo.graph_breaks import frames_of
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import capture_error, where
from inductor_debug.capture.graphs.generated_nodes import completed
from inductor_debug.capture.graphs.graph_arguments import GraphArgument, arguments_of_aot, by_placeholder
from inductor_debug.capture.graphs.graph_tables import document_of, table_of
from inductor_debug.capture.node_facts.record import NodeRecord, OpFacts
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.aot_lowering import LoweredGraphs, Problem
from inductor_debug.capture.stages.aot_recording import LoweringRunner
from inductor_debug.capture.stages.dynamo_run import DynamoRun
from inductor_debug.rules.judging import wording
from inductor_debug.rules.recording.ops import Frame

EVAL_NOTE = "The model is in eval mode, so it was lowered for inference: there is no backward graph."
NO_GRADIENT_NOTE = "Nothing here needs a gradient, so it was lowered for inference: there is no backward graph."
_NO_BACKWARD_NOTE = "{}the backward cannot be captured, so only the forward was lowered ({})"
_NOT_LOWERED_NOTE = "{}AOTAutograd cannot lower this, so there are only the graphs that Dynamo captured ({})"
_REFUSED = {
    Direction.FORWARD: (
        "torch.compile captures this, but AOTAutograd cannot lower it, and no compiler comes after that: {}."
    ),
    Direction.BACKWARD: (
        "torch.compile cannot capture this: {}. "
        "Where gradients are on, compiled code fails here already in the forward."
    ),
}
"""What AOTAutograd refuses, by the pass that it refuses."""


def run_aot(
    target: BuiltTarget,
    sources: SourceMap,
    tracing: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> StageOutcome:
    """Compiles `target` once with a backend that lowers forward and backward, and records both.

    What AOTAutograd cannot do becomes a warning and a note, and the stage goes on with what there is; what Dynamo
    cannot do is told as by the `mock` stage. `retry_real` is asked for when fake tensors could not go on. `tracing` is
    around each trace of forward and backward: what the device that is meant has in place of the CPU's operators.
    """
    run = DynamoRun(target, sources, Stage.AOT)
    runner = LoweringRunner(run.recorder, run.attribution, run.origins, tracing, run.borders.enter_backward)
    snapshot = Snapshot(target)
    with torch.no_grad() if inference_only(target) else contextlib.nullcontext():
        error = run.execute(runner)
    snapshot.restore()
    runner.record_backward()
    outcome = run.outcome(error, _notes(target, sources, runner.lowered))
    outcome.findings.extend(_refusals(target, sources, runner.lowered))
    outcome.graphs = lambda facts: _document(run, runner.lowered, outcome.report.notes, facts)
    return outcome


def inference_only(target: BuiltTarget) -> bool:
    """Whether the target is a model that was put into eval mode, so that nobody wants its gradients."""
    return target.module is not None and not target.training


def _notes(target: BuiltTarget, sources: SourceMap, lowered: list[LoweredGraphs]) -> list[str]:
    notes = []
    for item in lowered:
        if item.problem is not None:
            template = _NOT_LOWERED_NOTE if item.forward is None else _NO_BACKWARD_NOTE
            notes.append(template.format(_place(item.problem, sources), item.problem.raised))
    if lowered and not any(item.backward is not None or item.problem is not None for item in lowered):
        notes.append(EVAL_NOTE if inference_only(target) else NO_GRADIENT_NOTE)
    return notes


def _refusals(target: BuiltTarget, sources: SourceMap, lowered: list[LoweredGraphs]) -> list[Finding]:
    """What AOTAutograd refuses, once for each expression: compiled in a script, the target would raise there."""
    found: dict[object, Finding] = {}
    for item in lowered:
        if item.problem is not None:
            direction = Direction.FORWARD if item.forward is None else Direction.BACKWARD
            sentence = _REFUSED[direction].format(item.problem.raised.rstrip(". "))
            words = wording.of_direction(sentence, direction)
            finding = capture_error(words, _frames(item.problem, sources), target, Stage.AOT)
            warning = replace(finding, severity=Severity.WARNING, direction=direction)
            found.setdefault((words, finding.path, finding.range), warning)
    return list(found.values())


def _place(problem: Problem, sources: SourceMap) -> str:
    place = where(_frames(problem, sources))
    return f"{place}: " if place else ""


def _frames(problem: Problem, sources: SourceMap) -> tuple[Frame, ...]:
    return frames_of(stack_of_node(problem.node), sources) if problem.node is not None else ()


def _document(run: DynamoRun, lowered: list[LoweredGraphs], notes: list[str], facts: OpFacts) -> GraphDocument:
    record = NodeRecord(run.recorder.recording, run.recorder.nodes, facts)
    by_source = {id(item.source): item for item in lowered}
    graphs: list[Graph] = []
    for number, (graph_module, arguments) in enumerate(run.captured):
        fx = table_of(
            graph_module,
            name=str(number),
            kind=GraphKind.FX,
            sources=run.sources,
            module_names=run.module_names,
            arguments=by_placeholder(graph_module, arguments),
        )
        known = by_source.get(id(graph_module))
        graphs.append(record.measured(fx, graph_module) if known is None else fx)
        if known is not None:
            lower_tables = tables_of_lowered(known, str(number), arguments, run)
            graphs += [record.measured(completed(table, fx), source) for table, source in lower_tables]
    return record.told(document_of(run.target, run.stage, graphs, notes))


def tables_of_lowered(
    lowered: LoweredGraphs, name: str, arguments: list[GraphArgument], run: DynamoRun
) -> list[tuple[Graph, GraphModule]]:
    """Joint, forward and backward graph as tables, as far as there are any; `name` is that of Dynamo's graph."""
    found: list[tuple[Graph, GraphModule]] = []
    forward: Graph | None = None
    for kind, graph_module in (
        (GraphKind.JOINT, lowered.joint),
        (GraphKind.FORWARD, lowered.forward),
        (GraphKind.BACKWARD, lowered.backward),
    ):
        if graph_module is None:
            continue
        table = table_of(
            graph_module,
            name=f"{name}.{kind.value}",
            kind=kind,
            sources=run.sources,
            module_names=run.module_names,
            made_from=name,
            arguments=arguments_of_aot(graph_module, arguments),
            forward=forward if kind is GraphKind.BACKWARD else None,
        )
        if kind is GraphKind.FORWARD:
            forward = table
        found.append((table, graph_module))
    return found
