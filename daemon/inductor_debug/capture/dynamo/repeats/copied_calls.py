"""Writes what one call of a module left in Dynamo's graph once more, for a call of another module that is like it.

Nodes, names, places and metadata become what Dynamo would have made of the call; the weights become inputs of the
graph by Dynamo's own hand. Values that share memory with a result are computed anew, on fake tensors; others are those
of the first call. Private names of Dynamo's, read against torch 2.13.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch.fx import Node
from torch.fx.node import map_arg

from inductor_debug.capture.dynamo.dynamo_positions import KEY, stack_of_translator
from inductor_debug.capture.dynamo.repeats.argument_looks import example_of
from inductor_debug.capture.dynamo.repeats.call_traces import CallTrace, RepeatableCall, TraceMark, results_of
from inductor_debug.capture.dynamo.repeats.equal_modules import look_of
from inductor_debug.capture.dynamo.repeats.made_objects import Event
from inductor_debug.capture.dynamo.repeats.module_sources import of_another


class CopyFailedError(AssertionError):
    """A copy does not look like what it is a copy of."""


class CopiedCall:
    """A `call` that is like the one that is `known`, made of copies."""

    def __init__(self, known: CallTrace, call: RepeatableCall, mark: TraceMark) -> None:
        self._known, self._call, self._mark = known, call, mark
        self._translator, self._tracer = call.translator, call.tracer
        self._path = call.path
        self._nodes: dict[Node, Node] = {}
        self._inputs: dict[Node, Any] = {}
        modules = zip(known.call.form.modules, call.form.modules, strict=True)
        self._modules = {str(id(one)): str(id(other)) for one, other in modules}
        counted = call.translator.num_calls
        self._calls = {path: (known.calls[path][0], counted.get(self._moved(path), 0)) for path in known.calls}
        self._around = list(call.translator.nn_module_stack.items())
        self._callers = stack_of_translator(call.translator)
        self._stacks: dict[tuple[str, ...], dict[str, Any]] = {}
        self._made: dict[int, Any] = {}
        self._picked: list[Any] = known.picked_by(call) or []

    def events(self) -> list[Event]:
        """What the call does to objects that it is given, beside setting attributes."""
        footprint = self._known.footprint
        picks = [
            replace(pick, source=self._own(pick.source), item=item)
            for pick, item in zip(footprint.picks, self._picked, strict=True)
        ]
        return [*footprint.reads, *picks]

    def result(self) -> Any:
        """What the call gives back, once its nodes are in the graph.

        Raises:
            CopyFailedError: it is not what it should be; nodes of it are in the graph.
        """
        known = self._known
        for node, place in known.outside.items():
            self._nodes[node] = node if place is None else self._call.given.tensors[place].proxy.node
        self._bring_inputs()
        self._rename(known.nodes[0].prev)
        for node in known.nodes:
            self._copy(node)
            self._rename(node)
        for path, (before, after) in known.calls.items():
            self._translator.num_calls[self._moved(path)] = self._calls[path][1] + after - before
        self._mark.made += len(known.nodes)
        below, name = len(known.call.tracker.source.name), self._call.tracker.source.name
        self._mark.looked_at += [name + looked_at[below:] for looked_at in known.looked_at]
        for number, store in known.footprint.stores:
            effects = self._translator.output.side_effects
            effects.store_attr(self._picked[number], store.name, self._wrapped(store.value), *store.more)
        result = self._wrapped(known.result)
        found = [each.proxy.node for each in results_of(known.result, known.footprint) or ()]
        for node in (*known.inputs, *known.outside, *found):
            if look_of(example_of(self._nodes[node])) != known.looks[node]:
                raise CopyFailedError
        return result

    def _bring_inputs(self) -> None:
        from torch._dynamo.variables.builder import VariableBuilder

        known = self._known
        places = {id(tensor): number for number, tensor in enumerate(known.call.form.tensors)}
        for node in (*known.inputs, *(node for node, place in known.outside.items() if place is None)):
            argument = node.meta["grapharg"]
            place = places.get(id(argument.example))
            if place is None:
                self._nodes[node] = node
                continue
            source = self._own(argument.source)
            brought = VariableBuilder(self._translator, source)(self._call.form.tensors[place])
            self._inputs[node] = brought
            self._nodes[node] = brought.as_proxy().node
            if "nn_module_stack" in node.meta and self._nodes[node] is not node:
                self._nodes[node].meta["nn_module_stack"] = self._module_stack(node)

    def _own(self, source: Any) -> Any:
        """What a source of the first call's module is for this one's."""
        return of_another(source, self._known.call.tracker.source, self._call.tracker.source)

    def _copy(self, node: Node) -> None:
        copied = self._tracer.graph.create_node(
            node.op,
            node.target,
            map_arg(node.args, self._nodes.__getitem__),
            map_arg(node.kwargs, self._nodes.__getitem__),
            type_expr=node.type,
        )
        self._tracer._used_names.add(copied.name)
        self._nodes[node] = copied
        copied.meta.update(node.meta)
        if "nn_module_stack" in node.meta:
            copied.meta["nn_module_stack"] = self._module_stack(node)
        copied.meta["source_fn_stack"] = [(copied.name, node.meta["source_fn_stack"][0][1])]
        stack = node.meta["custom"][KEY]
        copied.meta["custom"] = {KEY: stack[: len(stack) - self._known.frames] + self._callers}
        if node in self._known.anew:
            self._compute(copied)

    def _compute(self, copied: Node) -> None:
        from torch._dynamo.utils import get_fake_value, set_example_value

        del copied.meta["example_value"]
        set_example_value(copied, get_fake_value(copied, self._translator, allow_non_graph_fake=True))

    def _rename(self, last: Node) -> None:
        for node, candidate in self._known.renamed.get(last, ()):
            self._nodes[node]._rename(candidate)
            place = self._known.outside.get(node)
            if place is not None:
                self._call.given.tensors[place]._is_name_set = True

    def _module_stack(self, node: Node) -> dict[str, Any]:
        items = list(node.meta["nn_module_stack"].items())[self._known.depth :]
        key = tuple(name for name, _ in items)
        if key not in self._stacks:
            inner = [(self._module(name, path), (self._moved(path), kind)) for name, (path, kind) in items]
            self._stacks[key] = dict([*self._around, *inner])
        return dict(self._stacks[key])

    def _module(self, name: str, path: str) -> str:
        """How a module is called in the stack of a node: by its identity, and the number of its call."""
        number, _, count = name.partition("@")
        before, now = self._calls[path]
        later = int(count or 0) - before + now
        return f"{self._modules[number]}@{later}" if later else self._modules[number]

    def _moved(self, path: str) -> str:
        known = self._known.path
        if path == known or path.startswith((f"{known}.", f"{known}[")):
            return self._path + path[len(known) :]
        return path

    def _wrapped(self, result: Any) -> Any:
        from torch._dynamo import variables
        from torch._dynamo.variables.builder import construct_tensor_variable

        if type(result) is variables.TupleVariable:
            return variables.TupleVariable([self._wrapped(item) for item in result.items])
        if type(result) is not variables.TensorVariable:
            return result
        node = result.proxy.node
        place = self._known.outside.get(node)
        if place is not None:
            return self._call.given.tensors[place]
        copied = self._nodes[node]
        if copied.op == "placeholder":
            return self._inputs.get(node, result)
        if id(result) in self._made:
            return self._made[id(result)]
        made = construct_tensor_variable(
            variables.TensorVariable, self._translator, self._tracer.proxy(copied), example_of(copied), None, {}
        )
        made._is_name_set = self._known.named[node]
        self._tracer.record_proxyable_vt(made)
        self._made[id(result)] = made
        return made
