"""Records a graph that somebody else's `torch.compile` captured, on the fake examples that Dynamo left in it.

It runs nothing on real tensors, and takes its own marks out of the graph again. Which tensors are parameters is read
from the sources that Dynamo noted on the graph's inputs (`graph_arguments`).
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from inductor_debug_schema import Location
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import GraphModule, Node

from inductor_debug.capture.dynamo.dynamo_positions import strip
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.graphs.graph_arguments import named_by_source
from inductor_debug.capture.graphs.graph_runner import GraphRunner, NodeAttribution
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.stages.aot_recording import LoweringRunner
from inductor_debug.capture.tensors.fake_mode import for_symbols
from inductor_debug.capture.tensors.recorder import CompiledRecorder
from inductor_debug.rules.recording.ops import Frame, Recording


@dataclass(frozen=True)
class GraphRecording:
    """What ran in a graph; `fallback` is a place in the user's code to show where an op has none."""

    recording: Recording
    sources: SourceMap
    fallback: Location


def record_graph(graph_module: GraphModule) -> GraphRecording:
    """Runs `graph_module` once on its own fake examples under the recorder."""

    def run(
        recorder: CompiledRecorder, attribution: NodeAttribution, origins: OriginTable, examples: list[Any]
    ) -> None:
        runner = GraphRunner(recorder, attribution, origins)
        with _examples_mode(examples), for_symbols(), recorder:
            runner.run(graph_module, examples)

    return _recorded(graph_module, run)


def record_lowered(graph_module: GraphModule) -> GraphRecording:
    """Records the forward and backward that AOTAutograd makes of `graph_module`; neither runs."""

    def lower(
        recorder: CompiledRecorder, attribution: NodeAttribution, origins: OriginTable, examples: list[Any]
    ) -> None:
        runner = LoweringRunner(recorder, attribution, origins)
        with _examples_mode(examples), recorder:
            runner.whole(graph_module, examples)
        runner.record_backward()

    return _recorded(graph_module, lower)


def _recorded(
    graph_module: GraphModule, record: Callable[[CompiledRecorder, NodeAttribution, OriginTable, list[Any]], None]
) -> GraphRecording:
    # Whatever is not an installed library is the user's code, wherever their script lies.
    sources = SourceMap(os.path.abspath(os.sep))
    callers = sources.stack(_outside_torch(sys._getframe(1)))
    attribution = NodeAttribution(sources, {}, lambda frame: callers)
    attribution.callers = callers
    origins = OriginTable()
    examples = []
    for node in graph_module.graph.nodes:
        if node.op == "placeholder":
            examples.append(node.meta.get("example_value"))
            _declare(node, origins)
    recorder = CompiledRecorder(attribution, origins)
    try:
        with quiet(freeze=False):
            record(recorder, attribution, origins, examples)
    finally:
        strip(graph_module)
    frames = next((op.frames for op in recorder.recording.ops if op.frames), callers)
    return GraphRecording(recorder.recording, sources, _fallback(frames))


@contextlib.contextmanager
def _examples_mode(examples: list[Any]) -> Iterator[None]:
    """The fake mode of the examples, with constants of the graph let in and no guard added to the trace."""
    mode = next((example.fake_mode for example in examples if isinstance(example, FakeTensor)), None)
    if mode is None:
        yield
        return
    allowed = mode.allow_non_fake_inputs
    mode.allow_non_fake_inputs = True
    silent = mode.shape_env.suppress_guards() if mode.shape_env is not None else contextlib.nullcontext()
    try:
        with mode, silent:
            yield
    finally:
        mode.allow_non_fake_inputs = allowed


def _declare(node: Node, origins: OriginTable) -> None:
    tensor = node.meta.get("example_value")
    if isinstance(tensor, torch.Tensor):
        origins.add(tensor, *named_by_source(node), ())


def _outside_torch(frame: FrameType | None) -> FrameType | None:
    """The first frame outwards that is not ours: the frame that Dynamo was called from is further out still."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("inductor_debug."):
        frame = frame.f_back
    return frame


def _fallback(frames: tuple[Frame, ...]) -> Location:
    own = next((frame for frame in frames if frame.in_project), frames[0] if frames else None)
    if own is not None:
        return own.location
    main = getattr(sys.modules.get("__main__"), "__file__", None) or "<graph>"
    return SourceMap(os.path.abspath(os.sep)).location(main, 1)
