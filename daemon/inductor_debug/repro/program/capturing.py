"""The graphs that Dynamo gives a backend, with the values it would call them with, as programs.

Nothing is compiled: the backend records, and runs the graph as it is.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

from inductor_debug.capture.graphs.graph_arguments import GraphArgument, arguments_of_dynamo
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.repro.program.from_graph import constants_of, program_of_graph
from inductor_debug.repro.program.program import Input, Program, ProgramValues
from inductor_debug.repro.program.program_execution import StepError, run, tensors_of
from inductor_debug.repro.program.sharing import copies_of, linked

MOST_RECORDED = 2 << 30
"""Bytes of intermediate values that are kept for freezing; beyond them, values are made by seeded constructors."""


@dataclass(frozen=True)
class CapturedGraph:
    """One graph, copies of the values of its first call, and what these are to the user.

    `inner` are those of the copies through which gradients flowed on, to what came before the graph.
    """

    graph_module: GraphModule
    inputs: list[Any]
    arguments: list[GraphArgument] = field(default_factory=list)
    inner: frozenset[int] = frozenset()


def graphs_of(target: BuiltTarget) -> tuple[list[CapturedGraph], BaseException | None]:
    """All graphs of one run of `target`, with each of its sets of inputs, and what the run raised, if anything."""
    captured: list[CapturedGraph] = []

    def backend(graph_module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        seen: list[CapturedGraph] = []
        arguments = arguments_of_dynamo(graph_module)

        def call(*args: Any) -> Any:
            if not seen:
                seen.append(_captured(graph_module, args, arguments))
                captured.append(seen[0])
            return graph_module.forward(*args)

        return call

    snapshot = Snapshot(target)
    torch._dynamo.reset()
    error: BaseException | None = None
    calls = pytree.tree_map(lambda leaf: leaf, target.calls)
    with quiet(), target.fake_mode or contextlib.nullcontext():
        try:
            compiled = torch.compile(target.function, backend=backend, dynamic=False)
            for args, kwargs in calls:
                compiled(*args, **kwargs)
        except (Exception, SystemExit) as raised:
            error = raised
    snapshot.restore()
    torch._dynamo.reset()
    return captured, error


def _captured(graph_module: GraphModule, args: Sequence[Any], arguments: list[GraphArgument]) -> CapturedGraph:
    copies = copies_of(args)
    inner = (copy for copy, value in zip(copies, args, strict=True) if _is_inner(value))
    return CapturedGraph(graph_module, copies, arguments, frozenset(map(id, inner)))


def _is_inner(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad and not value.is_leaf


@dataclass(frozen=True)
class Whole:
    """A captured graph as a program, and every value of one eager run of it, by name."""

    program: Program
    values: dict[str, torch.Tensor]

    def seeded(self, item: Input) -> Input:
        """The input with the statistics of its recorded values."""
        seen = self.values.get(item.source)
        return item if seen is None else with_statistics(item, seen)


def whole_of(captured: CapturedGraph) -> Whole:
    """The program, and its values where they fit into memory. Inputs that share memory go on sharing it.

    Raises:
        UnprintableError: the graph has no form as ordinary code.
    """
    program = program_of_graph(captured.graph_module, captured.inputs, captured.arguments)
    given = [node for node in captured.graph_module.graph.nodes if node.op == "placeholder"]
    tensors = dict(zip((item.name for item in program.inputs), _unique(captured.inputs, len(given)), strict=False))
    tensors |= {name: value for name, value in constants_of(captured.graph_module).items() if name not in tensors}
    tensors = {name: value for name, value in tensors.items() if isinstance(value, torch.Tensor)}
    program, memories = linked(program, tensors)
    values: dict[str, torch.Tensor] = {name: value.detach() for name, value in {**tensors, **memories}.items()}
    # Nobody may write to a leaf that gradients flow to; what is no leaf in the user's code is one in a script.
    inner = captured.inner if any(step.mutates for step in program.steps) else frozenset()
    without = {name for name, value in tensors.items() if id(value) in inner}
    inputs = tuple(_recorded(item, item.name in values, item.name not in without) for item in program.inputs)
    program = dataclasses.replace(program, inputs=inputs)
    left = MOST_RECORDED

    def observe(index: int, seen: dict[str, Any]) -> None:
        nonlocal left
        for name in program.steps[index].outputs:
            value = seen.get(name)
            if isinstance(value, torch.Tensor) and name not in values:
                left -= value.numel() * value.itemsize
                if left > 0:
                    values[name] = value.detach().clone(memory_format=torch.preserve_format)

    with contextlib.suppress(StepError), torch.no_grad():
        run(program, tensors_of(program, values), observe=observe)
    return Whole(program, values)


def _recorded(item: Input, known: bool, gradients: bool) -> Input:
    """The input with its recorded values where they are `known` and its own, and without gradients if told so."""
    spec = item.spec
    if spec is not None and not gradients:
        spec = dataclasses.replace(spec, requires_grad=False)
    return dataclasses.replace(
        item, spec=spec, values=ProgramValues.RECORDED if known and not item.base else item.values
    )


def _unique(inputs: list[Any], count: int) -> list[Any]:
    """The values without tensors that were given twice, as `program_of_graph` counts them."""
    seen: set[int] = set()
    found = []
    for value in inputs[:count]:
        if isinstance(value, torch.Tensor):
            if id(value) in seen:
                continue
            seen.add(id(value))
        found.append(value)
    return found


def with_statistics(item: Input, seen: torch.Tensor) -> Input:
    """The input with mean, deviation or bound of the values that were seen."""
    if not seen.numel():
        return item
    if seen.dtype.is_floating_point:
        wide = seen.detach().to(torch.float64)
        finite = wide[torch.isfinite(wide)]
        if not finite.numel():
            return item
        deviation = float(finite.std(unbiased=False))
        return dataclasses.replace(item, mean=round(float(finite.mean()), 6), deviation=float(f"{deviation:.4g}"))
    if seen.dtype.is_complex or seen.dtype is torch.bool:
        return item
    return dataclasses.replace(item, bound=max(1, int(seen.max()) + 1))
