"""Takes one of Dynamo's graphs through AOTAutograd: joint, forward and backward graph, on fake tensors.

Nothing is compiled and nothing runs: as soon as the forward graph is handed to the compiler, which comes last, the
trace is left, so that the backward is there without a backward pass. Operators stay those that autograd differentiates
(only composite ones are taken apart, as in `aot_eager`, and those that the accelerator's adapter names): a profile
speaks of them, and the upcasts inside Inductor's decompositions, which stay in registers, would be blamed on the user.
The partitioner is the one that Inductor uses, so what the forward saves for the backward is what training saves.

Names read in torch 2.11 to 2.13: `aot_module_simplified`, `min_cut_rematerialization_partition`,
`torch._guards.tracing`, `enable_autograd_cache`. Where one is gone, nothing is lowered and a note says so.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import GraphModule, Node

from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.graphs.graph_tables import mark_names
from inductor_debug.capture.stages.unread_texts import unread_texts
from inductor_debug.capture.tensors.fake_mode import without_modes
from inductor_debug.system.torch_names import with_settings

_OPERATORS = (OpOverload, OpOverloadPacket)
_WHILE_EXECUTING = re.compile(r"While executing %(?P<name>\w+)")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a graph could not be lowered, or only forwards: what was raised, in a line, and the node to blame."""

    raised: str
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class LoweredGraphs:
    """What AOTAutograd makes of `source`, one of Dynamo's graphs.

    `forward` is None where nothing could be lowered, and then `problem` says why. `joint` and `backward` are None where
    nothing needs a gradient, or where the backward cannot be captured, as `problem` says then.
    """

    source: GraphModule
    forward: GraphModule | None
    joint: GraphModule | None = None
    backward: GraphModule | None = None
    problem: Problem | None = None


class _LoweredEnough(BaseException):
    """Leaves AOTAutograd once the graphs are there; not an `Exception`, which it may take for a compiler's failure."""


_FIRST = ("torch._dynamo.repro.after_dynamo", "torch._inductor.pattern_matcher")
"""What torch imports for the first graph that is compiled, and for the first that is partitioned: for a second."""


def import_ahead() -> None:
    """Imports what the first trace would: for who forks several processes that trace, each of which would do it."""
    for name in _FIRST:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


_Table = Mapping[Any, Callable[..., Any]]
_DECOMPOSITIONS: ContextVar[_Table] = ContextVar("decompositions", default=MappingProxyType({}))


@contextlib.contextmanager
def decomposing(table: _Table) -> Iterator[None]:
    """Graphs that are lowered meanwhile have these operators taken apart, as an accelerator's compiler does."""
    token = _DECOMPOSITIONS.set(table)
    try:
        yield
    finally:
        _DECOMPOSITIONS.reset(token)


def lower(graph_module: GraphModule) -> LoweredGraphs:
    """Lowers a graph that a backend was just given, under the grad mode that is on. Never raises for a graph.

    Every computing node is marked with its name, so that those made of it tell where they come from. No guard is
    added to Dynamo's trace.
    """
    mark_names(graph_module)
    try:
        return _traced(graph_module)
    except Exception as error:
        problem = problem_of(error, graph_module)
    if torch.is_grad_enabled():
        try:
            with torch.no_grad():
                return LoweredGraphs(graph_module, _traced(graph_module).forward, problem=problem)
        except Exception as error:
            problem = problem_of(error, graph_module)
    return LoweredGraphs(graph_module, None, problem=problem)


def _traced(graph_module: GraphModule) -> LoweredGraphs:
    from torch._functorch import config
    from torch._functorch.aot_autograd import aot_module_simplified
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    found: dict[str, GraphModule] = {}

    def partition(joint: GraphModule, inputs: Any, **keywords: Any) -> tuple[GraphModule, GraphModule]:
        found["joint"] = joint
        forward, backward = min_cut_rematerialization_partition(joint, inputs, **keywords)
        found["backward"] = backward
        return forward, backward

    def take(forward: GraphModule, inputs: Any) -> Any:
        found["forward"] = forward
        raise _LoweredEnough

    compiler: Any = take

    examples = [node.meta.get("example_value") for node in graph_module.graph.nodes if node.op == "placeholder"]
    try:
        uncached = with_settings(config, enable_autograd_cache=False)
        with uncached, alone(examples), unread_texts(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            aot_module_simplified(
                graph_module,
                examples,
                fw_compiler=compiler,
                bw_compiler=compiler,
                inference_compiler=compiler,
                partition_fn=partition,
                decompositions=dict(_DECOMPOSITIONS.get()),
                keep_inference_input_mutations=True,
            )
    except _LoweredEnough:
        pass
    return LoweredGraphs(graph_module, found["forward"], found.get("joint"), found.get("backward"))


@contextlib.contextmanager
def alone(examples: list[Any]) -> Iterator[None]:
    """A trace of its own beside Dynamo's: the same fake mode and symbols, but no guard reaches Dynamo's."""
    from torch._guards import TracingContext, detect_fake_mode, tracing

    with contextlib.ExitStack() as stack:
        # Outside of Dynamo the target's own fake mode is on, which is not the one that Dynamo traced with.
        stack.enter_context(without_modes())
        mode = next((example.fake_mode for example in examples if isinstance(example, FakeTensor)), None)
        stack.enter_context(tracing(TracingContext(mode or detect_fake_mode(examples))))
        environment = getattr(mode, "shape_env", None)
        if environment is not None:
            stack.enter_context(environment.suppress_guards())
            stack.enter_context(environment.ignore_fresh_unbacked_symbols())
        yield


def problem_of(error: BaseException, graph_module: GraphModule) -> Problem:
    """Why `graph_module`, one of Dynamo's graphs, could not be lowered, and at which node, as far as the error says."""
    text = str(error)
    match = _WHILE_EXECUTING.search(text)
    for node in graph_module.graph.nodes:
        named = match is not None and node.name == match["name"]
        # Autograd says which operator it cannot differentiate, not which call of it.
        if named or (match is None and isinstance(node.target, _OPERATORS) and str(node.target) in text):
            return Problem(describe(error), node)
    return Problem(describe(error))
