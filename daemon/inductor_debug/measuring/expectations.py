"""What a target will call when it runs, with the expression behind each call, and what that costs at least.

Found without running it: the operators by a preview, the kernels by lowering for the device that computes, the costs by
recording forward and backward. What cannot be found out leaves times untied; it is no reason not to measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from inductor_debug_schema import CostBound, GraphDocument, GraphKind, GraphNode, Location, Stage
from inductor_debug_schema.answers.cost_document import CostDocument

from inductor_debug.capture.gpu_kernels.absent_gpu import AbsentGpu
from inductor_debug.capture.inductor.inductor_stage import run_inductor
from inductor_debug.capture.node_facts.record import OpFacts
from inductor_debug.capture.stages.aot import inference_only, run_aot
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile
from inductor_debug.rules.captures.substitution import exemplified
from inductor_debug.rules.costing.bounds import bounds_of, knows_speed
from inductor_debug.rules.costing.run_costs import RunCosts
from inductor_debug.rules.recording.liveness import on_device
from inductor_debug.rules.recording.ops import Op, Recording
from inductor_debug.traces.expected_calls import ExpectedCall, ExpectedRun


@dataclass(frozen=True)
class Expectations:
    """The calls of a target, and what its expressions cost by place and direction, as far as that is known."""

    run: ExpectedRun
    cost: CostDocument | None = None
    by_expression: Mapping[tuple[Location, bool], CostBound] = field(default_factory=dict)

    def bound(self, *, fused: bool) -> float | None:
        """What the whole step takes at least."""
        total = self.cost.run.total if self.cost is not None else None
        return None if total is None else total.seconds if fused else total.unfused_seconds


def trains(opened: OpenFile, candidate: Candidate) -> bool:
    """Whether a step of the target has a backward pass: it is no model in eval mode, and has something to train."""
    target = opened.fake(candidate)
    if inference_only(target) or target.module is None:
        return False
    return any(parameter.requires_grad for parameter in target.module.parameters())


def expectations_of(
    opened: OpenFile, candidate: Candidate, *, training: bool, lowered: bool, gpu: AbsentGpu | None
) -> Expectations:
    """What the target will call; the kernels only where it is `lowered`, for `gpu` or this machine's processor."""
    around = nullcontext() if training else torch.no_grad()
    tracing = gpu.tracing if gpu is not None else nullcontext
    costs = RunCosts(opened.profile)
    with around:
        recording = run_preview(opened.fake(candidate), opened.sources).recording
        graphs = _graphs(opened, candidate, costs, gpu) if lowered else []
        whole = run_aot(opened.fake(candidate), opened.sources, tracing).recording
    run = ExpectedRun(list(_operators(recording, _unfused(recording, opened))), graphs)
    known = exemplified(whole if whole.ops else recording)
    if not known.ops or not knows_speed(opened.profile):
        return Expectations(run)
    document = costs.document(known, candidate.name, Stage.AOT, opened.request.path, opened.sources.excerpt)
    rows = {
        (Location(row.path, row.range), row.backward): row.cost
        for row in document.expressions
        if row.path is not None and row.range is not None
    }
    return Expectations(run, document, rows)


def _unfused(recording: Recording, opened: OpenFile) -> Sequence[float | None]:
    """The bound of each operation by itself; None where nobody knows."""
    if not knows_speed(opened.profile):
        return [None] * len(recording.ops)
    known = exemplified(recording)
    return [bound.unfused_seconds for bound in bounds_of(known, opened.profile, on_device(opened.profile, None)).ops]


def _operators(recording: Recording, bounds: Sequence[float | None]) -> Iterator[ExpectedCall]:
    for op, bound in zip(recording.ops, bounds, strict=True):
        name = op.packet.replace(".", "::", 1)
        place = _place(op)
        yield ExpectedCall(name, (place,) if place is not None else (), op.module, bound)


def _place(op: Op) -> Location | None:
    return next((frame.location for frame in op.frames if frame.in_project), None)


def _graphs(
    opened: OpenFile, candidate: Candidate, costs: RunCosts, gpu: AbsentGpu | None
) -> list[Sequence[ExpectedCall]]:
    outcome = run_inductor(opened.fake(candidate), opened.sources, gpu)
    if outcome.graphs is None:
        return []
    document = outcome.graphs(OpFacts(seconds=costs.seconds))
    steps = [graph for graph in document.graphs if graph.kind is GraphKind.IR]
    return [list(_calls(document, graph.nodes, graph.made_from)) for graph in steps]


def _calls(document: GraphDocument, steps: Sequence[GraphNode], made_from: str) -> Iterator[ExpectedCall]:
    """The calls of kernels in one graph, in the order of the code."""
    source = next(graph for graph in document.graphs if graph.name == made_from)
    rows = {node.name: node for node in source.nodes}
    for step in steps:
        for kernel in step.kernels:
            # A step of a library's kernel names all that led to it, too.
            origins = [rows[name] for name in step.origins if name in rows and kernel in rows[name].kernels]
            seconds = [row.seconds for row in origins if row.seconds is not None]
            places = tuple(dict.fromkeys(row.place for row in origins if row.place is not None))
            yield ExpectedCall(_traced_name(kernel), places, step.module, sum(seconds) if seconds else None)


def _traced_name(kernel: str) -> str:
    """What a trace calls a kernel: those of libraries are operators there."""
    for prefix in ("torch.ops.", "extern_kernels.", "aten."):
        if kernel.startswith(prefix):
            parts = kernel.removeprefix(prefix).split(".")
            space, name = parts[:2] if prefix == "torch.ops." else ("aten", parts[0])
            return f"{space}::{name}"
    return kernel
