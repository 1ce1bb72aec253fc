"""All that an analysis tells, and all that Dynamo's graphs carry for it, in parts that can be compared.

Two analyses of one text ought to have equal parts, whatever was spared in one of them. What no two runs share is left
out or made relative: seconds, identities of objects, where autograd began to count. Nothing is judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.capture import session
from inductor_debug.capture.dynamo.dynamo_positions import stack_of_node
from inductor_debug.capture.stages.dynamo_run import DynamoRun
from inductor_debug.rules.captures.codec import unpacked
from inductor_debug.rules.recording.ops import Recording
from inductor_debug_schema import ArtifactMade, Event, JobRequest, Loaded, StageCaptured, StageFinished
from torch.fx import Node
from torch.utils import _pytree as pytree

Part = tuple[str, str]
"""What it is of, and what it is."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_GRAPHS = ".graph"
"""How an artifact ends that has graphs as columns."""
_SHOWN = 100
"""Characters before and after the place where two parts begin to differ."""


def parts_of_analysis(request: JobRequest) -> list[Part]:
    """Analyses a text as a worker does. It leaves its traces in the process, so have it done in a child of its own."""
    events: list[Event] = []
    runs: list[DynamoRun] = []
    original = DynamoRun.execute

    def execute(run: DynamoRun, *args: Any, **kwargs: Any) -> BaseException | None:
        runs.append(run)
        return original(run, *args, **kwargs)

    DynamoRun.execute = execute  # type: ignore[method-assign, assignment]
    try:
        session.analyze(request, events.append)
    finally:
        DynamoRun.execute = original  # type: ignore[method-assign]
    told = [part for event in events for part in _of_event(event)]
    return told + [part for run in runs for part in parts_of_run(run)]


def parts_of_run(run: DynamoRun) -> Iterator[Part]:
    """What a run of Dynamo's has left: every node of its graphs, with all that is written to them, and every op."""
    names = {str(number): name for number, name in run.module_names.items()}
    for number, (graph, _) in enumerate(run.captured):
        for node in graph.graph.nodes:
            yield f"{run.stage.value}: node {node.name} of graph {number}", repr(described(node, names))
    yield from _of_recording(f"{run.stage.value}: run", run.recorder.recording)
    yield f"{run.stage.value}: whether it leaves changes", repr(run.leaves_changes)


def described(node: Node, names: Mapping[str, str]) -> Any:
    """All that a node of Dynamo's carries; `names` are the modules' by their identity."""
    meta = node.meta
    looks = [
        (leaf.shape, leaf.stride(), leaf.dtype, leaf.requires_grad, leaf.is_leaf)
        if isinstance(leaf, torch.Tensor)
        else leaf
        for leaf in pytree.tree_leaves(meta.get("example_value"))
    ]
    modules = [
        (names.get(key.split("@")[0]), key.split("@")[1:], *value)
        for key, value in meta.get("nn_module_stack", {}).items()
    ]
    inputs = meta["grapharg"].source.name if "grapharg" in meta else ""
    return (
        *(node.op, node.name, _named(node.target), str(node.args), str(node.kwargs), _named(looks), str(modules)),
        *(_named(meta.get("source_fn_stack")), stack_of_node(node), sorted(meta), inputs),
    )


def _named(value: Any) -> str:
    return _ADDRESS.sub("", str(value))


def _of_event(event: Event) -> Iterator[Part]:
    kind = type(event).__name__
    if isinstance(event, StageFinished):
        name = f"{event.report.stage.value}: {event.target}"
        yield f"{name}, report", repr(replace(event.report, seconds=0.0))
        yield from ((f"{name}, finding {number}", repr(found)) for number, found in enumerate(event.findings))
        yield f"{name}, inferred", repr(event.inferred)
    elif isinstance(event, StageCaptured):
        for number, run in enumerate((*event.runs, *event.others)):
            name = f"{event.stage.value}: {event.target}, run {number}"
            yield f"{name}, what it met", repr(replace(run, recording=b""))
            yield from _of_recording(name, unpacked(run.recording))
    elif isinstance(event, ArtifactMade):
        name = f"{event.stage.value if event.stage else ''}: {event.target}, {event.title}{event.suffix}"
        if event.suffix != _GRAPHS:
            yield name, repr(event.content)
            return
        document = decode(event.content)
        yield name, repr(replace(document, graphs=[]))
        numbered = [node for graph in document.graphs for node in graph.nodes]
        relative = _relative([node.seq_nr for node in numbered])
        for node, count in zip(numbered, relative, strict=True):
            yield f"{name}, {node.name}", repr(replace(node, seq_nr=count))
    elif isinstance(event, Loaded):
        yield kind, repr(replace(event, seconds=0.0))
    else:
        yield kind, repr(event)


def _of_recording(name: str, recording: Recording) -> Iterator[Part]:
    numbers = _relative([op.seq_nr for op in recording.ops])
    for op, number in zip(recording.ops, numbers, strict=True):
        yield f"{name}, op {op.index}", repr(replace(op, seq_nr=number))
    yield f"{name}, beside ops", repr(replace(recording, ops=[]))


def _relative(numbers: Sequence[int | None]) -> list[int | None]:
    """Numbers that are counted from the first one."""
    first = next((number for number in numbers if number is not None), 0)
    return [None if number is None else number - first for number in numbers]


def differences(left: Sequence[Part], right: Sequence[Part]) -> list[str]:
    """What one has and the other has not: for each part where they begin to differ."""
    found = [_unlike(one, other) for one, other in zip(left, right, strict=False) if one != other]
    if len(left) != len(right):
        found.append(f"{len(left)} parts | {len(right)} parts")
    return found


def _unlike(left: Part, right: Part) -> str:
    if left[0] != right[0]:
        return f"{left[0]} | {right[0]}"
    pairs = enumerate(zip(left[1], right[1], strict=False))
    common = next((index for index, (one, other) in pairs if one != other), min(len(left[1]), len(right[1])))
    start, end = max(common - _SHOWN, 0), common + _SHOWN
    return f"{left[0]}: ...{left[1][start:end]} | ...{right[1][start:end]}"
