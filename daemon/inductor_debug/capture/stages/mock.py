"""The second look at a target: a real `torch.compile` of it, whose backend records and runs the graphs it is given.

What Dynamo captures is what a compiler for the accelerator would get, so this stage says which parts it will never
get: graph breaks, functions that run eagerly, frames recompiled too often. It generates no code and builds nothing.
"""

from __future__ import annotations

from inductor_debug_schema import GraphDocument, GraphKind, Stage

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.graphs.graph_arguments import by_placeholder
from inductor_debug.capture.graphs.graph_tables import document_of, table_of
from inductor_debug.capture.node_facts.record import NodeRecord, OpFacts
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.dynamo_run import DynamoRun
from inductor_debug.capture.stages.eager_functions import WatchedRunner, eager_findings, untold

__all__ = ["StageOutcome", "run_mock"]


def run_mock(target: BuiltTarget, sources: SourceMap) -> StageOutcome:
    """Compiles and runs `target` once with a backend that records.

    Graph breaks become `graph-break` findings, functions that ran outside of every graph `eager-fallback`, and what
    Dynamo cannot trace at all a `capture-error`. When the code after a break asks fake tensors for a value, the outcome
    asks for `retry_real`.
    """
    run = DynamoRun(target, sources, Stage.MOCK)
    snapshot = Snapshot(target)
    runner = WatchedRunner(run)
    error = run.execute(runner)
    snapshot.restore()
    eager = untold(run, runner.functions()) if error is None and run.captured else []
    outcome = run.outcome(error)
    outcome.findings += eager_findings(run, eager, outcome.findings)
    outcome.graphs = lambda facts: _document(run, facts)
    outcome.leaves_changes = run.leaves_changes
    return outcome


def _document(run: DynamoRun, facts: OpFacts) -> GraphDocument:
    record = NodeRecord(run.recorder.recording, run.recorder.nodes, facts)
    graphs = [
        record.measured(
            table_of(
                graph_module,
                name=str(number),
                kind=GraphKind.FX,
                sources=run.sources,
                module_names=run.module_names,
                arguments=by_placeholder(graph_module, arguments),
            ),
            graph_module,
        )
        for number, (graph_module, arguments) in enumerate(run.captured)
    ]
    return record.told(document_of(run.target, run.stage, graphs))
