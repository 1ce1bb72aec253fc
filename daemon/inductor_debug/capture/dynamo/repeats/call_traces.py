"""What one call of a module left behind in Dynamo's trace, if it is nothing but plain nodes.

`CallTrace.of` gives None for a call that did more, or of which that is not known: it wrote to a tensor that is not its
module's, drew a random number of Python's, opened a region of its own, or made a symbol. Private names of Dynamo's,
read against torch 2.13.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.fx.traceback
from torch._ops import HigherOrderOperator
from torch.fx import Node
from torch.utils import _pytree as pytree

from inductor_debug.capture.dynamo.dynamo_positions import KEY, stack_of_translator
from inductor_debug.capture.dynamo.repeats.argument_looks import Given, example_of, tensors_of
from inductor_debug.capture.dynamo.repeats.equal_modules import Form, NotUnderstoodError, look_of, unlike
from inductor_debug.capture.dynamo.repeats.made_objects import Footprint

_META = frozenset(
    {"nn_module_stack", "source_fn_stack", "stack_trace", "custom", "example_value", "creation_timestamp"}
)
_REGISTRY = re.compile(r"\._(?:modules|parameters|buffers)\[(['\"])([^'\"\]]+)\1\]")
"""What Dynamo leaves out of paths (`record_nn_module_stack`)."""


@dataclass(frozen=True, slots=True)
class RepeatableCall:
    """A call that begins: of the module that is Dynamo's `tracker`, met by `translator` in that `state` of torch's."""

    form: Form
    given: Given
    tracker: Any
    translator: Any
    state: Any

    @property
    def tracer(self) -> Any:
        """What makes the graph's nodes."""
        return self.translator.output.current_tracer

    @property
    def path(self) -> str:
        """The path of the module as Dynamo writes it into the stacks of nodes."""
        return _REGISTRY.sub(r".\2", self.tracker.get_nn_module_stack_source().name)


@dataclass(slots=True)
class CallStart:
    """How far a trace was when a call began; `versions` count what had been written to the graph's inputs."""

    last: Node
    inputs: int
    made: int
    renamed: int
    calls: dict[str, int]
    versions: dict[Node, int]


@dataclass
class TraceMark:
    """How far a trace has come.

    `made` counts nodes. `renamed` are nodes with what they were to be called, and the node that was the last then;
    `looked_at` are sources of what copied calls looked at.
    """

    made: int = 0
    renamed: list[tuple[Node, str, Node]] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)
    _begun: list[CallStart] = field(default_factory=list)

    @property
    def in_call(self) -> bool:
        """Whether a call goes on of which others may become copies."""
        return bool(self._begun)

    def begin(self, call: RepeatableCall) -> None:
        """A call begins."""
        inputs = [proxy.node for proxy in call.tracer.input_name_to_proxy.values()]
        self._begun.append(
            CallStart(
                last=call.tracer.graph._root._prev,
                inputs=len(inputs),
                made=self.made,
                renamed=len(self.renamed),
                calls=dict(call.translator.num_calls),
                versions={node: _version(node) for node in (*inputs, *call.given.nodes)},
            )
        )

    def end(self) -> CallStart:
        """The call that began last is over."""
        return self._begun.pop()


@dataclass(frozen=True, slots=True)
class CallTrace:
    """One call that was traced.

    `nodes` are what it added, in order, and `inputs` the inputs of the graph that it was the first to need. `outside`
    are all other nodes that it used: the number of a given tensor, or None for inputs of the graph. `looks` are those
    of inputs and results. `anew` are the nodes whose values share memory with a result, or that write to the module.
    `renamed` says what was named once a node was there, `named` whether a result had a name. `calls` are how often
    modules had been called before and after; `depth` and `frames` count the modules and functions around the call.
    `footprint` is what it did to objects that it was given.
    """

    call: RepeatableCall
    path: str
    depth: int
    frames: int
    nodes: list[Node]
    inputs: list[Node]
    outside: dict[Node, int | None]
    looks: dict[Node, Any]
    anew: frozenset[Node]
    renamed: dict[Node, list[tuple[Node, str]]]
    named: dict[Node, bool]
    calls: dict[str, tuple[int, int]]
    result: Any
    held: frozenset[int]
    looked_at: list[str]
    footprint: Footprint

    @classmethod
    def of(
        cls, start: CallStart, mark: TraceMark, call: RepeatableCall, result: Any, footprint: Footprint
    ) -> CallTrace | None:
        """What the call that began at `start` and has just ended left behind; None where it is more than nodes."""
        output, tracer = call.translator.output, call.tracer
        nodes = _nodes_after(start.last)
        plain = bool(nodes) and mark.made - start.made == len(nodes) and all(map(_is_plain, nodes))
        drew = output.random_calls or output.backward_state
        if not plain or drew or call.state != state_of_torch(call.translator):
            return None
        inputs = [proxy.node for proxy in list(tracer.input_name_to_proxy.values())[start.inputs :]]
        written = _written_inputs(start, inputs, call, tracer)
        outside = None if written is None else _outside(nodes, inputs, call)
        results = results_of(result, footprint)
        if written is None or outside is None or results is None:
            return None
        found = [each.proxy.node for each in results]
        reachable = {*nodes, *inputs, *outside}
        renamed: dict[Node, list[tuple[Node, str]]] = {}
        for node, candidate, last in mark.renamed[start.renamed :]:
            renamed.setdefault(last, []).append((node, candidate))
            if node not in reachable or node in written:
                return None
        if not reachable.issuperset(found):
            return None
        try:
            looks = {node: look_of(example_of(node)) for node in (*inputs, *outside, *found)}
        except NotUnderstoodError:
            return None
        memory = {place for node in (*found, *written) for place in _memory(example_of(node))}
        return cls(
            call=call,
            path=call.path,
            depth=len(call.translator.nn_module_stack),
            frames=len(stack_of_translator(call.translator)),
            nodes=nodes,
            inputs=inputs,
            outside=outside,
            looks=looks,
            anew=frozenset(
                node
                for node in nodes
                if memory.intersection(_memory(example_of(node))) or not written.isdisjoint(node.all_input_nodes)
            ),
            renamed=renamed,
            named={each.proxy.node: each._is_name_set for each in results},
            calls={
                path: (start.calls.get(path, 0), count)
                for path, count in call.translator.num_calls.items()
                if start.calls.get(path, 0) != count
            },
            result=result,
            held=frozenset(id(part) for part in (*call.form.modules, *call.form.tensors)),
            looked_at=_looked_at(call, mark),
            footprint=footprint,
        )

    def fits(self, call: RepeatableCall) -> bool:
        """Whether a call, of a module of the same key, runs what this one ran."""
        if self.call.state != call.state or self.call.given.look != call.given.look:
            return False
        if self.picked_by(call) is None:
            return False
        if call.form is self.call.form:
            return bool(call.tracker.source == self.call.tracker.source)
        if any(id(part) in self.held for part in (*call.form.modules, *call.form.tensors)):
            return False
        names = unlike(self.call.form, call.form)
        if not names:
            return True
        words = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in {*names, "__dict__"}))
        return not any(words.search(source) for source in self.looked_at)

    def picked_by(self, call: RepeatableCall) -> list[Any] | None:
        """What a call takes out of the objects that it is given, in place of what this one took; None for nothing."""
        return self.footprint.picked(self.call.tracker.source, call.tracker.source, call.translator.output)


def results_of(result: Any, footprint: Footprint) -> list[Any] | None:
    """The tensors that a call gave back, and left in objects; None where it gave back more than those."""
    given_back = tensors_of(result)
    left = [tensors_of(store.value) or [] for _, store in footprint.stores]
    return None if given_back is None else [*given_back, *(tensor for tensors in left for tensor in tensors)]


def state_of_torch(translator: Any) -> Any:
    """What operations depend on beside what they are given."""
    modes = translator.symbolic_torch_function_state
    autograd: Any = torch._C._autograd
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.is_autocast_enabled("cuda"),
        torch.get_autocast_dtype("cpu"),
        torch.get_autocast_dtype("cuda"),
        torch.is_autocast_cache_enabled(),
        torch.get_default_dtype(),
        torch.are_deterministic_algorithms_enabled(),
        torch._C._len_torch_function_stack(),
        # Within transforms, tensors are more than they look.
        torch._C._functorch.peek_interpreter_stack() is None or object(),
        autograd._saved_tensors_hooks_is_enabled(),
        repr(torch.fx.traceback.current_meta),
        modes.torch_function_subclass_enabled,
        modes.torch_function_mode_enabled,
        tuple(modes.mode_stack),
    )


def _looked_at(call: RepeatableCall, mark: TraceMark) -> list[str]:
    """The names of all that was looked at below a module."""
    base = call.tracker.source.name
    sources = (source.name for source in call.tracer.traced_sources)
    guards = (guard.name for guard in call.translator.output.guards)
    return [name for name in (*mark.looked_at, *sources, *guards) if name.startswith(base)]


def _version(node: Node) -> int:
    return int(getattr(example_of(node), "_version", 0))


def _nodes_after(last: Node) -> list[Node]:
    nodes = []
    node = last._next
    while node.op != "root":
        nodes.append(node)
        node = node._next
    return nodes


def _is_plain(node: Node) -> bool:
    meta = node.meta
    return (
        node.op in ("call_function", "call_method")
        and not isinstance(node.target, HigherOrderOperator)
        and meta.keys() <= _META
        and meta.get("custom", {}).keys() == {KEY}
        and len(meta.get("source_fn_stack", ())) == 1
        and not any(map(_is_symbolic, pytree.tree_leaves(example_of(node))))
    )


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return any(type(size) is not int for size in (*value.shape, *value.stride()))
    return not isinstance(value, (int, float, bool, str, type(None), torch.dtype, torch.device))


def _memory(value: Any) -> Iterator[int]:
    for leaf in pytree.tree_leaves(value):
        if isinstance(leaf, torch.Tensor):
            yield leaf.untyped_storage()._cdata


def _written_inputs(start: CallStart, inputs: list[Node], call: RepeatableCall, tracer: Any) -> set[Node] | None:
    """The inputs of the graph that the call wrote to; None where it wrote to more than what its module holds."""
    at_first = tracer._input_versions_at_beginning
    nodes = [proxy.node for proxy in tracer.input_name_to_proxy.values()]
    if len(at_first) != len(nodes):
        return None
    before = {**dict(zip(nodes, at_first, strict=True)), **start.versions}
    written = {node for node, version in before.items() if _version(node) != version}
    held = {id(tensor) for tensor in call.form.tensors}
    return written if all(id(_argument(node)) in held for node in written) else None


def _argument(node: Node) -> Any:
    """The tensor that an input of the graph stands for."""
    argument = node.meta.get("grapharg")
    return None if argument is None else argument.example


def _outside(nodes: list[Node], inputs: list[Node], call: RepeatableCall) -> dict[Node, int | None] | None:
    """Where the nodes come from that a call used and did not make; None where that is not known."""
    outside: dict[Node, int | None] = {node: place for place, node in enumerate(call.given.nodes)}
    own = {*nodes, *inputs}
    held = {id(tensor) for tensor in call.form.tensors}
    for node in (*inputs, *(used for each in nodes for used in each.all_input_nodes)):
        if node in outside or (node in own and node.op != "placeholder"):
            continue
        tensor = _argument(node)
        if node.op != "placeholder" or not isinstance(tensor, torch.Tensor):
            return None
        if id(tensor) in held and not _is_below(node.meta["grapharg"].source, call.tracker.source):
            # It was found elsewhere first, as another module's may not be.
            return None
        if node not in own:
            outside[node] = None
    return outside


def _is_below(source: Any, base: Any) -> bool:
    while source is not None:
        if source == base:
            return True
        source = getattr(source, "base", None)
    return False
