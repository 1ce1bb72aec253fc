"""Records lowered graphs: what the forward does each time it is called, and what the backward does in the end.

No op runs for it. AOTAutograd left a fake value on every node, and the recorder is told of node after node as if it had
watched (`Recorder.witness`). A value that the forward saves is the very tensor that the backward starts from, so rules
follow it across, and what they find in the backward is blamed on the forward only where the forward is to blame.
"""

from __future__ import annotations

import contextlib
import operator
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch._ops import HigherOrderOperator, OpOverload
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from inductor_debug.capture.dynamo.dynamo_positions import stack_of_node
from inductor_debug.capture.graphs.graph_arguments import plain_index
from inductor_debug.capture.graphs.graph_runner import GraphRunner, NodeAttribution
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.stages.aot_lowering import LoweredGraphs, lower
from inductor_debug.capture.tensors.recorder import Recorder
from inductor_debug.rules.recording.ops import Frame

_WORD_START = re.compile(r"(?:^|_)(\w)")


class LoweringRunner:
    """Lowers the graphs that a backend is given, runs them as they are, and records what they were lowered to.

    A graph that cannot be lowered is recorded as Dynamo captured it. `lowered` holds all of them, in order. `tracing`
    is around each trace, and `backward_begins` is told of what graph a backward pass is recorded next.
    """

    def __init__(
        self,
        recorder: Recorder,
        attribution: NodeAttribution,
        origins: OriginTable,
        tracing: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
        backward_begins: Callable[[GraphModule], None] = lambda _: None,
    ) -> None:
        self._tracing = tracing
        self._backward_begins = backward_begins
        self.lowered: list[LoweredGraphs] = []
        self._recorder = recorder
        self._attribution = attribution
        self._origins = origins
        self._fallback = GraphRunner(recorder, attribution, origins)
        self._called: list[tuple[LoweredGraphs, tuple[Frame, ...]]] = []

    def compiled(
        self, graph_module: GraphModule, callers: Callable[[Any], tuple[Frame, ...]]
    ) -> Callable[..., tuple[Any, ...]]:
        """The compiled form of `graph_module`; `callers` reads the user's frames above a call of it."""
        lowered = self._lower(graph_module)
        if lowered.forward is None:
            return self._fallback.compiled(graph_module, callers)

        def run(*args: Any) -> tuple[Any, ...]:
            self._recorder.suspend()
            try:
                result: tuple[Any, ...] = graph_module.forward(*args)
                self.record(lowered, args, result, callers(sys._getframe(1)))
            finally:
                self._recorder.resume()
            return result

        return run

    def whole(self, graph_module: GraphModule, arguments: list[torch.Tensor]) -> None:
        """Lowers and records a graph that is all of the target; nothing is run."""
        lowered = self._lower(graph_module)
        if lowered.forward is None:
            self._fallback.whole(graph_module, arguments)
        else:
            self.record(lowered, arguments, (), ())

    def _lower(self, graph_module: GraphModule) -> LoweredGraphs:
        with self._tracing():
            lowered = lower(graph_module)
        self.lowered.append(lowered)
        return lowered

    def record(self, lowered: LoweredGraphs, args: Any, result: Any, callers: tuple[Frame, ...]) -> None:
        """Records one call of the forward graph.

        Args:
            lowered: the graphs; there must be a forward.
            args: what Dynamo's graph was called with.
            result: what it returned; empty where nobody wants to know.
            callers: the user's frames above the call.
        """
        assert lowered.forward is not None
        for node in lowered.forward.graph.nodes:
            index = plain_index(node) if node.op == "placeholder" else None
            if index is not None and index < len(args):
                self._fallback.alias(node.meta.get("val"), args[index])
        self._attribution.callers = callers
        self._witness(lowered.forward)
        outputs = _outputs(lowered.forward)
        for index, value in outputs.items():
            if index < len(result):
                self._fallback.alias(result[index], value)
        if lowered.backward is not None and not any(known is lowered for known, _ in self._called):
            self._called.append((lowered, callers))

    def record_backward(self) -> None:
        """Records the backward of every graph that was called, last one first."""
        for lowered, callers in reversed(self._called):
            assert lowered.forward is not None
            assert lowered.backward is not None
            outputs = _outputs(lowered.forward)
            for node in lowered.backward.graph.nodes:
                output = _tangent_of(node)
                if output is not None and output in outputs:
                    # What comes in has the shape and dtype of what went out, and so whatever is wrong with that.
                    self._fallback.alias(node.meta.get("val"), outputs[output])
            self._attribution.callers = callers
            self._backward_begins(lowered.source)
            self._witness(lowered.backward, _autograd_names(lowered.forward))
        self._called.clear()

    def _witness(
        self, graph_module: GraphModule, autograd: dict[int, str] | None = None, outer: Node | None = None
    ) -> None:
        """Records every node; those without a place of their own are where `outer` is, the op whose body this is."""
        try:
            for node in graph_module.graph.nodes:
                if node.op == "call_function":
                    number = node.meta.get("seq_nr")
                    self._attribution.at(node if outer is None or _is_closer(node, outer) else outer)
                    self._recorder.node = node
                    self._recorder.autograd_node = autograd.get(number, _UNKNOWN) if autograd is not None else ""
                    self._node(graph_module, node, number, autograd)
        finally:
            self._attribution.at(None)
            self._recorder.autograd_node = ""
            self._recorder.node = None

    def _node(self, graph_module: GraphModule, node: Node, number: int | None, autograd: dict[int, str] | None) -> None:
        if isinstance(node.target, OpOverload):
            args, kwargs = _given((node.args, dict(node.kwargs)), graph_module)
            self._recorder.witness(node.target, args, kwargs, node.meta.get("val"), number)
        elif isinstance(node.target, HigherOrderOperator):
            if not self._operator_within(graph_module, node, number):
                self._higher_order(graph_module, node, autograd)
        elif node.target is operator.getitem:
            # Tracing leaves one tensor on the op that makes several, and another on the node that picks it.
            whole, index = _given(node.args, graph_module)
            if isinstance(whole, (list, tuple)):
                self._fallback.alias(node.meta.get("val"), whole[index])

    def _operator_within(self, root: GraphModule, node: Node, number: int | None) -> bool:
        """Records the operator that a higher-order one runs with a random state, as what is computed again does."""
        place = next((place for place, given in enumerate(node.args) if isinstance(given, OpOverload)), None)
        if place is None:
            return False
        func = node.args[place]
        assert isinstance(func, OpOverload)
        names = {argument.name for argument in func._schema.arguments}
        self._attribution.at(_picking(node, func) or node)
        args, known = _given((node.args[place + 1 :], dict(node.kwargs)), root)
        kwargs = {name: value for name, value in known.items() if name in names}
        self._recorder.witness(func, args, kwargs, _made_within(node, func, args, kwargs), number)
        return True

    def _higher_order(self, root: GraphModule, node: Node, autograd: dict[int, str] | None) -> None:
        """Its bodies, each once; what it makes is nobody's fault but theirs."""
        name = str(node.target)
        before = self._recorder.region
        self._recorder.region = (*before, name)
        try:
            for used in node.all_input_nodes:
                body = getattr(root, str(used.target), None) if used.op == "get_attr" else None
                if isinstance(body, GraphModule):
                    self._witness(body, autograd, node)
                    made = pytree.tree_leaves(_result(body))
                    for value, inner in zip(pytree.tree_leaves(node.meta.get("val")), made, strict=False):
                        self._fallback.alias(value, inner)
        finally:
            self._recorder.region = before


def _made_within(node: Node, func: OpOverload, args: Any, kwargs: Any) -> Any:
    """What `func` made in a higher-order operator, on which the partitioner of torch 2.11 to 2.13 leaves no value.

    In the forward the node that picks it, beside the state, has it; in the backward nobody does.
    """
    picking = _picking(node, func)
    if picking is not None:
        return picking.meta.get("val")
    mode = detect_fake_mode((args, kwargs))
    with mode if mode is not None else contextlib.nullcontext():
        node.meta["val"] = func(*args, **kwargs)
    return node.meta["val"]


def _picking(node: Node, func: OpOverload) -> Node | None:
    """The node that picks what `func` made from beside the state that a higher-order operator saves."""
    saves = bool(node.args) and node.args[0] is func
    picking = (user for user in node.users if user.target is operator.getitem and user.args[1] == 1)
    return next(picking, None) if saves else None


def _is_closer(node: Node, outer: Node) -> bool:
    """Whether a node of a body knows more of its place than the op whose body it is.

    In the backward of a body torch keeps the line of that op alone, of which the op has the expression.
    """
    own = stack_of_node(node)
    if not own or own[0].positions.col_offset is not None:
        return bool(own)
    lines = {(frame.filename, frame.positions.lineno) for frame in stack_of_node(outer)}
    return (own[0].filename, own[0].positions.lineno) not in lines


_UNKNOWN = "Backward"
"""For ops of the backward pass that no forward op answers for, such as the sum of two gradients."""


def _value(node: Node, root: GraphModule) -> Any:
    if "val" not in node.meta and node.op == "get_attr":
        return getattr(root, str(node.target), None)
    return node.meta.get("val")


def _given(arguments: Any, root: GraphModule) -> Any:
    return map_arg(arguments, lambda used: _value(used, root))


def _result(graph_module: GraphModule) -> Any:
    output = next(node for node in reversed(graph_module.graph.nodes) if node.op == "output")
    return _given(output.args[0], graph_module)


def _outputs(forward: GraphModule) -> dict[int, Any]:
    """What the forward graph returns to its caller, by position, without what it saves or writes back."""
    output = next(node for node in reversed(forward.graph.nodes) if node.op == "output")
    described = output.meta.get("desc") or ()
    found: dict[int, Any] = {}
    for entry, value in zip(described, output.args[0], strict=False):
        if type(entry).__name__ == "PlainAOTOutput" and isinstance(value, Node):
            found[entry.idx] = _value(value, forward)
    return found


def _tangent_of(node: Node) -> int | None:
    """The position of the output whose gradient the placeholder `node` of a backward graph is."""
    described = getattr(node.meta.get("desc"), "output", None) if node.op == "placeholder" else None
    index = getattr(described, "idx", None)
    return index if type(described).__name__ == "PlainAOTOutput" and isinstance(index, int) else None


def _autograd_names(forward: GraphModule) -> dict[int, str]:
    """What autograd calls the backward of each numbered op: `NativeLayerNormBackward0` for `native_layer_norm`.

    A rule of torch's code generator, which numbers the overloads of an operator; the first is as good as any.
    """
    names: dict[int, str] = {}
    for node in forward.graph.nodes:
        number = node.meta.get("seq_nr")
        if isinstance(node.target, OpOverload) and number is not None:
            bare = node.target._schema.name.partition("::")[2]
            camel = _WORD_START.sub(lambda match: match[1].upper(), bare.strip("_"))
            names.setdefault(number, f"{camel}Backward0")
    return names
