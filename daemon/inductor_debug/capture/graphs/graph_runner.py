"""Runs a graph that Dynamo captured, node by node, under the recorder: every op is attributed to its node's source.

The results are the real results, so that the code after a graph break goes on; nothing is run twice except the bodies
of higher-order ops that choose or repeat. A graph with symbolic sizes is recorded on Dynamo's symbolic examples, and
run as it is.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from inductor_debug.capture.dynamo.dynamo_positions import stack_of_node
from inductor_debug.capture.dynamo.graph_breaks import frames_of
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.modules import NodeModules
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.tensors.fake_mode import for_symbols
from inductor_debug.capture.tensors.recorder import Recorder
from inductor_debug.rules.recording.ops import Frame

_RUNS_BODY_ONCE = frozenset({"tag_activation_checkpoint", "wrap_activation_checkpoint", "wrap", "invoke_subgraph"})
"""Higher-order ops that are called `(body, ..., *operands)` and return what the body returns."""
_ITS_BACKWARD = ("autograd_function_apply", 1)
_OF_A_FUNCTION = "Backward"
"""What autograd calls a user's function is not noted in Dynamo's graph (torch 2.11 to 2.13)."""
_REGION_NAMES = {"tag_activation_checkpoint": "checkpoint", "wrap_activation_checkpoint": "checkpoint"}


class NodeAttribution:
    """Attribution by the node that runs: its frames, and the module it was traced in.

    Between graphs, code runs as it is written, and its ops belong where the Python stack says.
    """

    def __init__(
        self, sources: SourceMap, module_names: dict[int, str], stack: Callable[[Any], tuple[Frame, ...]]
    ) -> None:
        self._sources = sources
        self._stack = stack
        self._modules = NodeModules(module_names)
        self._node: Node | None = None
        self._frames: tuple[Frame, ...] | None = None
        self.callers: tuple[Frame, ...] = ()

    def at(self, node: Node | None) -> None:
        """The next ops belong to `node`, or to the code that runs between graphs."""
        self._node = node
        self._frames = None

    def frames(self) -> tuple[Frame, ...]:
        """The traced frames of the node, then those of the Python code that called the graph."""
        if self._node is None:
            return self._stack(sys._getframe(1))
        if self._frames is None:
            own = frames_of(stack_of_node(self._node), self._sources)
            self._frames = self._sources.intern([*own, *self.callers]) if self.callers else own
        return self._frames

    def module(self) -> str:
        """The dotted path of the innermost module that the target knows."""
        return self._modules.path(self._node) if self._node is not None else ""


class GraphRunner:
    """Makes what a backend must return: a callable that runs the graph and has it recorded."""

    def __init__(self, recorder: Recorder, attribution: NodeAttribution, origins: OriginTable) -> None:
        self._recorder = recorder
        self._attribution = attribution
        self._origins = origins

    def compiled(
        self, graph_module: GraphModule, callers: Callable[[Any], tuple[Frame, ...]]
    ) -> Callable[..., tuple[Any, ...]]:
        """The compiled form of `graph_module`; `callers` reads the user's frames above a call of it."""
        examples = _symbolic_examples(graph_module)
        # That of what the graph makes: one that is given numbers alone has no other.
        mode = _fake_mode(node.meta.get("example_value") for node in graph_module.graph.nodes)

        def run(*args: Any) -> tuple[Any, ...]:
            self._attribution.callers = callers(sys._getframe(1))
            try:
                if examples is None:
                    return self.run(graph_module, args)  # type: ignore[no-any-return]
                return self._run_symbolic(graph_module, examples, mode, args)
            finally:
                self._attribution.at(None)
                self._recorder.node = None

        return run

    def whole(self, graph_module: GraphModule, arguments: list[torch.Tensor]) -> None:
        """Records a graph that is all of the target, called with `arguments` by none of the user's frames."""
        self.compiled(graph_module, lambda _: ())(*arguments)

    def _run_symbolic(
        self, graph_module: GraphModule, examples: list[Any], mode: FakeTensorMode | None, args: Any
    ) -> tuple[Any, ...]:
        self._recorder.suspend()
        try:
            result: tuple[Any, ...] = graph_module.forward(*args)
            for example, argument in zip(examples, args, strict=False):
                self.alias(example, argument)
            environment = getattr(mode, "shape_env", None)
            silent = environment.suppress_guards() if environment is not None else contextlib.nullcontext()
            with mode or contextlib.nullcontext(), silent, for_symbols(), self._recorder:
                made = self.run(graph_module, examples)
            for symbolic, actual in zip(pytree.tree_leaves(made), pytree.tree_leaves(result), strict=False):
                self.alias(actual, symbolic)
            return result
        finally:
            self._recorder.resume()

    def alias(self, alias: Any, tensor: Any) -> None:
        """Lets `alias` stand for `tensor`, where both are tensors."""
        if isinstance(alias, torch.Tensor) and isinstance(tensor, torch.Tensor) and alias is not tensor:
            self._recorder.tensors.same(alias, tensor)
            self._origins.same(alias, tensor)

    def run(self, graph_module: GraphModule, args: Any) -> Any:
        """Runs the graph on `args`, which fit its placeholders; the recorder must be entered."""
        values: dict[Node, Any] = {}
        arguments = iter(args)
        dying = last_uses(graph_module)
        for node in graph_module.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(arguments)
                continue
            if node.op == "output":
                return map_arg(node.args[0], values.__getitem__)
            values[node] = self._run_node(graph_module, node, values)
            for used in dying.get(node, ()):
                del values[used]
        return ()

    def _run_node(self, graph_module: GraphModule, node: Node, values: dict[Node, Any]) -> Any:
        if node.op == "get_attr":
            return attrgetter(str(node.target))(graph_module)
        args = map_arg(node.args, values.__getitem__)
        kwargs = map_arg(node.kwargs, values.__getitem__) if node.kwargs else {}
        self._attribution.at(node)
        self._recorder.node = node
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **kwargs)
        if node.op == "call_module":
            return graph_module.get_submodule(str(node.target))(*args, **kwargs)
        if isinstance(node.target, HigherOrderOperator):
            return self._run_higher_order(node.target, args, kwargs)
        return node.target(*args, **kwargs)  # type: ignore[operator]

    def _run_higher_order(self, operator: HigherOrderOperator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = str(operator)
        before = self._recorder.region
        self._recorder.region = (*before, _REGION_NAMES.get(name, name))
        try:
            bodies = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, GraphModule)]
            if name in _RUNS_BODY_ONCE and len(bodies) == 1:
                count = _input_count(bodies[0])
                operands = [item for item in args if not isinstance(item, (GraphModule, str))]
                if count == len(operands):
                    return self.run(bodies[0], operands)
            for position, body in enumerate(bodies):
                # The second body of a user's `autograd.Function` runs in the backward pass.
                self._recorder.autograd_node = _OF_A_FUNCTION if (name, position) == _ITS_BACKWARD else ""
                self._record_body(body, args)
        finally:
            self._recorder.region = before
            self._recorder.autograd_node = ""
        self._recorder.paused = True
        try:
            return operator(*args, **kwargs)
        finally:
            self._recorder.paused = False

    def _record_body(self, body: GraphModule, args: tuple[Any, ...]) -> None:
        """Runs a body for the record only, on the operands where they fit, else on Dynamo's examples of its inputs."""
        operands = [leaf for leaf in pytree.tree_leaves(args) if isinstance(leaf, (torch.Tensor, torch.SymInt))]
        examples = [node.meta.get("example_value") for node in body.graph.nodes if node.op == "placeholder"]
        fitting = operands[len(operands) - len(examples) :] if len(operands) >= len(examples) else []
        inputs = fitting if _same_shapes(fitting, examples) else examples
        mode = _fake_mode(inputs)
        try:
            with mode or contextlib.nullcontext():
                self.run(body, inputs)
        except Exception:
            # Bodies may need more than their inputs (a saved context): what ran up to here is recorded, and the
            # operator itself runs next and raises if it is broken.
            return


def _same_shapes(operands: list[Any], examples: list[Any]) -> bool:
    return len(operands) == len(examples) and all(
        getattr(left, "shape", None) == getattr(right, "shape", None)
        for left, right in zip(operands, examples, strict=True)
    )


def _input_count(graph_module: GraphModule) -> int:
    return sum(1 for node in graph_module.graph.nodes if node.op == "placeholder")


def last_uses(graph_module: GraphModule) -> dict[Node, list[Node]]:
    """Which values are dead after which node, so that real tensors are freed as early as in ordinary code."""
    seen: set[Node] = set()
    uses: dict[Node, list[Node]] = {}
    for node in reversed(graph_module.graph.nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                uses.setdefault(node, []).append(used)
    return uses


def _symbolic_examples(graph_module: GraphModule) -> list[Any] | None:
    """Dynamo's examples of the graph's inputs where any of their sizes is symbolic, else None."""
    examples = [node.meta.get("example_value") for node in graph_module.graph.nodes if node.op == "placeholder"]
    if any(example is None for example in examples) or not any(map(_is_symbolic, examples)):
        return None
    return examples


def _fake_mode(values: Iterable[Any]) -> FakeTensorMode | None:
    """The mode of the first of some values that is a fake tensor."""
    return next((value.fake_mode for value in values if isinstance(value, FakeTensor)), None)


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, (torch.SymInt, torch.SymFloat)):
        return True
    if not isinstance(value, torch.Tensor):
        return False
    return any(isinstance(length, torch.SymInt) for length in (*value.shape, *value.stride()))
