"""The stage that shows what TorchInductor makes of a target: post-grad graphs, IR, kernels and wrapper, fore and back.

Asked for by name, because it takes seconds. It compiles the target as `torch.compile` does by default, on the target's
own (mostly fake) tensors, and stops each graph where a compiler would be started: no kernel is built, measured or run,
no cache is read. Where the chosen accelerator is a GPU, the graphs are lowered for it; it need not be there. A model in
eval mode is lowered for inference. Code around the graphs goes on with what they give eagerly. Rules are not judged
again here; the one thing that this stage finds by itself is an operation that Inductor cannot lower.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch
from inductor_debug_schema import Finding, Graph, GraphDocument, GraphKind, Stage, StageReport, StageState
from torch.fx import GraphModule

from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.dynamo.dynamo_positions import stack_of_node
from inductor_debug.capture.dynamo.graph_breaks import frames_of
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import capture_error, describe
from inductor_debug.capture.gpu_kernels.absent_gpu import AbsentGpu
from inductor_debug.capture.gpu_kernels.lowering_device import LoweringDevice, ThisProcessor
from inductor_debug.capture.graphs.graph_arguments import GraphArgument, arguments_of_aot, by_placeholder
from inductor_debug.capture.graphs.graph_runner import GraphRunner
from inductor_debug.capture.graphs.graph_tables import document_of, mark_names, op_name, table_of
from inductor_debug.capture.inductor.fusion_refusals import unfused_neighbours
from inductor_debug.capture.inductor.inductor_document import InductorTables, LoweredGraph
from inductor_debug.capture.inductor.inductor_names import (
    InductorChangedError,
    LoweringError,
    compile_with,
    lower,
    nothing_built,
    prepare,
)
from inductor_debug.capture.inductor.inductor_origins import Trail, grounded
from inductor_debug.capture.inductor.inductor_recording import (
    PostGrad,
    PostGradRecorder,
    examples_of,
    names_of_results,
)
from inductor_debug.capture.inductor.inductor_specs import LoweredOperations, with_specs
from inductor_debug.capture.node_facts.record import NodeRecord, OpFacts
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.stage_results import MeasuredStage, StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.aot import EVAL_NOTE, inference_only
from inductor_debug.capture.stages.aot_lowering import problem_of
from inductor_debug.capture.stages.dynamo_run import Callers, DynamoRun
from inductor_debug.capture.tensors.fake_mode import is_limitation, without_modes
from inductor_debug.capture.tensors.recorder import CompiledRecorder
from inductor_debug.rules.derived_specs import specs_of
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.recording.ops import Recording

_EMPTY_NOTE = "Graph {} computes nothing, so there is no kernel."
_GPU_NOTE = (
    "The kernels are those for {}, generated without it: what Inductor would decide by measuring there (templates for "
    "products, padding of their sizes) is left as it is without measuring, and attention is cuDNN's where it is in "
    "torch's builds for CUDA 13."
)
_NEEDS_TRITON = (
    "Graph {} has operations (such as flex_attention) for which Inductor asks Triton itself, "
    "and Triton is not installed: pip install inductor-debug[gpu]"
)
_NO_BACKWARD_NOTE = "Nothing in {} is differentiated, so there is no backward."


def run_inductor(
    target: BuiltTarget, sources: SourceMap, gpu: AbsentGpu | None = None, remark: str = "", *, texts: bool = False
) -> StageOutcome:
    """Lowers every graph of `target` for a GPU, or for this machine's processor, and tells what cannot be lowered.

    `remark` is told with its kernels, where there are any; with `texts` the IR is written down as well. The outcome's
    recording is empty. Its document has Dynamo's graphs, AOTAutograd's forward and backward, the post-grad graphs and
    the IR, the kernels and the listings.
    """
    run = DynamoRun(target, sources, Stage.INDUCTOR)
    lowering = _Lowering(run, gpu, remark, texts)
    snapshot = Snapshot(target)
    with nothing_built(), torch.no_grad() if inference_only(target) else nullcontext():
        error = run.execute(lowering)
    snapshot.restore()
    ending = run.explain(error)
    refused, more = lowering.explain()
    captures = lowering.captures
    failed = error is not None or any(capture.failures for capture in captures)
    report = StageReport(
        stage=Stage.INDUCTOR,
        state=StageState.FAILED if failed else StageState.DONE,
        seconds=0.0,
        graphs=len(captures),
        ops=sum(len(lowered.post_grad.nodes) for capture in captures for lowered in capture.lowered),
        graph_breaks=run.breaks.count,
        notes=[*ending.notes, *more],
        shortfall=ending.shortfall,
        at=ending.at,
    )
    return StageOutcome(
        Recording(),
        report,
        [*ending.findings, *refused],
        ending.retry_real,
        graphs=lowering.document,
        measured=lowering.measured,
        specs=lowering.specs,
    )


class _Capture:
    """One graph of Dynamo's, and all that Inductor makes of it."""

    def __init__(
        self,
        graph_module: GraphModule,
        examples: Sequence[Any],
        arguments: list[GraphArgument],
        number: int,
        run: DynamoRun,
        device: LoweringDevice,
        texts: bool,
    ) -> None:
        self.name = str(number)
        self.lowered: list[LoweredGraph] = []
        self.failures: list[LoweringError] = []
        self.notes: list[str] = []
        self.source, self.examples = graph_module, examples
        self.post_grad: list[PostGrad] = []
        self._run, self._arguments, self._device, self._texts = run, arguments, device, texts
        mark_names(graph_module)
        self.fx = self._table(graph_module, self.name, GraphKind.FX, by_placeholder(graph_module, self._arguments))

    def compile(self, graph_module: GraphModule) -> None:
        """Has Inductor compile the graph; what fails is kept."""
        try:
            compile_with(self._inner, graph_module, self._device)
        except Exception as error:
            self.failures.append(LoweringError(error))

    def _inner(self, graph_module: GraphModule, example_inputs: Sequence[Any], *_: Any, **options: Any) -> Any:
        backward = bool(options.get("is_backward"))
        name = f"{self.name}.{'backward' if backward else 'forward'}"
        arguments = arguments_of_aot(graph_module, self._arguments)
        before = self.lowered[0] if backward and self.lowered else None
        kind = GraphKind.BACKWARD if backward else GraphKind.FORWARD
        aot = self._table(graph_module, name, kind, arguments, before.aot if before else None)
        try:
            with without_modes():
                self._lower(graph_module, example_inputs, options, aot, arguments, before)
        except LoweringError as failure:
            self.failures.append(failure)
        except Exception as error:
            self.failures.append(LoweringError(error))
        return _never_run

    def _lower(
        self,
        graph_module: GraphModule,
        example_inputs: Sequence[Any],
        options: dict[str, Any],
        aot: Graph,
        arguments: dict[str, GraphArgument],
        before: LoweredGraph | None,
    ) -> None:
        trail = Trail(graph_module)
        results = names_of_results(graph_module)
        fake_mode = prepare(graph_module, example_inputs, options, self._device)
        self.post_grad.append(PostGrad(graph_module, results))
        forward = before.post_grad if before else None
        table = self._table(graph_module, f"{aot.name}.post_grad", GraphKind.POST_GRAD, arguments, forward)
        self.lowered.append(LoweredGraph(aot, table, trail.origins(graph_module)))
        if not any(node.op.startswith("call_") for node in graph_module.graph.nodes):
            self.notes.append(_EMPTY_NOTE.format(aot.name))
            return
        made = lower(graph_module, example_inputs, options, fake_mode, self._device, texts=self._texts)
        self.lowered[-1] = replace(
            self.lowered[-1],
            wrapper=made.wrapper,
            calls=made.calls,
            before_fusion=made.before_fusion,
            after_fusion=made.after_fusion,
            steps=made.steps,
            lines=made.lines,
            unfused=unfused_neighbours(made.steps, made.refusals),
        )

    def _table(
        self,
        graph_module: GraphModule,
        name: str,
        kind: GraphKind,
        arguments: dict[str, GraphArgument],
        forward: Graph | None = None,
    ) -> Graph:
        table = table_of(
            graph_module,
            name=name,
            kind=kind,
            sources=self._run.sources,
            module_names=self._run.module_names,
            made_from="" if kind is GraphKind.FX else self.name,
            arguments=arguments,
            forward=forward,
        )
        return table if kind is GraphKind.FX else grounded(table, self.fx)


def _never_run(*_: Any) -> Any:
    """What AOTAutograd is given for a compiled graph."""
    raise AssertionError("nothing was compiled")


_never_run._boxed_call = True  # type: ignore[attr-defined]


class _Lowering:
    """The runner of the stage: every graph goes through Inductor, and then runs as it is."""

    def __init__(self, run: DynamoRun, gpu: AbsentGpu | None, remark: str, texts: bool) -> None:
        self.captures: list[_Capture] = []
        self._remark = _GPU_NOTE.format(gpu.title) if gpu is not None else remark
        self._device: LoweringDevice = gpu or ThisProcessor()
        self._run, self._texts = run, texts
        self._eager = GraphRunner(run.recorder, run.attribution, run.origins)

    def compiled(self, graph_module: GraphModule, callers: Callers) -> Callable[..., tuple[Any, ...]]:
        """Lowers the graph; what is returned runs it eagerly, for the code that comes after it."""
        self._lower(graph_module, examples_of(graph_module))
        return self._eager.compiled(graph_module, callers)

    def whole(self, graph_module: GraphModule, arguments: list[torch.Tensor]) -> None:
        """Lowers a graph after which nothing comes; it is not run."""
        self._run.recorder.suspend()
        try:
            self._lower(graph_module, arguments)
        finally:
            self._run.recorder.resume()

    def _lower(self, graph_module: GraphModule, examples: Sequence[Any]) -> None:
        arguments = next(known for captured, known in reversed(self._run.captured) if captured is graph_module)
        number = len(self.captures)
        capture = _Capture(graph_module, examples, arguments, number, self._run, self._device, self._texts)
        self.captures.append(capture)
        capture.compile(graph_module)

    @functools.cached_property
    def _tables(self) -> InductorTables:
        tables = InductorTables()
        for capture in self.captures:
            tables.graphs.append(capture.fx)
            for lowered in capture.lowered:
                tables.add(lowered, capture.fx)
        return tables

    @functools.cached_property
    def _recorder(self) -> CompiledRecorder:
        """What the post-grad graphs do."""
        recorder = PostGradRecorder(self._run.attribution, self._run.origins)
        for capture in self.captures:
            if capture.post_grad:
                forward, *rest = capture.post_grad
                recorder.add(capture.source, capture.examples, forward, rest[0] if rest else None)
        return recorder.finished()

    def measured(self) -> MeasuredStage:
        """The post-grad graphs and the kernels that they became."""
        return MeasuredStage(self._recorder.recording, self._tables.costs)

    def document(self, facts: OpFacts) -> GraphDocument:
        """Everything that was captured, as tables."""
        tables = self._tables
        _, notes = self.explain()
        record = NodeRecord(self._recorder.recording, self._recorder.nodes, facts)
        modules = {lowered.post_grad.name: made for lowered, made in self._post_grad()}
        graphs = [
            record.measured(graph, modules[graph.name]) if graph.name in modules else graph for graph in tables.graphs
        ]
        document = document_of(self._run.target, Stage.INDUCTOR, graphs, notes)
        document = replace(document, kernels=tables.kernels, listings=tables.listings)
        return record.told(document)

    def specs(self, document: GraphDocument, profile: Profile) -> GraphDocument:
        """Adds what the kernels ask of an accelerator, as far as that can be told without its compiler."""
        operations = LoweredOperations()
        graphs = {graph.name: graph for graph in self._tables.graphs}
        ir = {graph.made_from: graph for graph in self._tables.graphs if graph.kind is GraphKind.IR}
        for lowered, made in self._post_grad():
            name = lowered.post_grad.name
            operations.add(graphs[name], ir.get(name), made, lowered.steps)
        recording = self._recorder.recording
        known = operations.of(recording.ops, self._recorder.nodes)
        return with_specs(document, specs_of(JudgedRun(recording, profile), known))

    def _post_grad(self) -> Iterator[tuple[LoweredGraph, GraphModule]]:
        for capture in self.captures:
            for lowered, made in zip(capture.lowered, capture.post_grad, strict=False):
                yield lowered, made.graph_module

    def explain(self) -> tuple[list[Finding], list[str]]:
        """What Inductor refused, and notes."""
        findings: list[Finding] = []
        notes = [note for capture in self.captures for note in capture.notes]
        for capture in self.captures:
            for failure in capture.failures:
                told = self._told(failure, capture)
                if isinstance(told, str):
                    notes.append(told)
                else:
                    findings.append(told)
        kinds = {lowered.aot.kind for capture in self.captures for lowered in capture.lowered}
        if kinds == {GraphKind.FORWARD} and not any(capture.failures for capture in self.captures):
            target = self._run.target
            notes.append(EVAL_NOTE if inference_only(target) else _NO_BACKWARD_NOTE.format(target.name))
        if self._remark and kinds:
            notes.append(self._remark)
        return findings, notes

    def _told(self, failure: LoweringError, capture: _Capture) -> Finding | str:
        """A finding where Inductor refuses; a note where only fake tensors, or a torch that we do not know, do."""
        cause = _innermost(failure.cause)
        if isinstance(cause, InductorChangedError):
            return str(cause)
        if isinstance(cause, ModuleNotFoundError) and cause.name == "triton":
            return _NEEDS_TRITON.format(capture.name)
        target = self._run.target
        if target.fake_mode is not None and is_limitation(failure.cause):
            return f"Graph {capture.name} could not be lowered on fake tensors: {describe(cause)}"
        subject, frames = "this graph", frames_of((), self._run.sources)
        node = failure.node or problem_of(cause, capture.source).node
        if node is not None:
            owner = node.graph.owning_module
            subject = f"`{op_name(node, owner)}`" if owner is not None else subject
            frames = frames_of(stack_of_node(node), self._run.sources)
        message = f"TorchInductor cannot compile {subject}: {describe(cause)}"
        return capture_error(message, frames, target, Stage.INDUCTOR)


def _innermost(error: BaseException) -> BaseException:
    """What an exception of the compiler's own was raised from."""
    while type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
        cause = error.__cause__ or error.__context__
        if cause is None:
            break
        error = cause
    return error
