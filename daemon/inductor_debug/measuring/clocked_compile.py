"""One compilation of one target under a clock, without weights, as far as the code of kernels.

No kernel is built and nothing runs on a device: what the compilers of C++ and of Triton take comes on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
from inductor_debug_schema import CompileTimeDocument, CompileWay
from torch._dynamo.exc import FailOnRecompileLimitHit, UncapturedHigherOrderOpError
from torch.fx import GraphModule

from inductor_debug.capture.dynamo.dynamo_positions import hooked_positions
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.gpu_kernels.lowering_device import ThisProcessor
from inductor_debug.capture.inductor.inductor_names import compile_with, lower, nothing_built, prepare
from inductor_debug.capture.running.modules import ModulePath
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.stages.aot import inference_only
from inductor_debug.capture.stages.dynamo_run import cause_of
from inductor_debug.capture.targets.file_task import OpenFile
from inductor_debug.capture.tensors.fake_mode import without_modes
from inductor_debug.measuring.compile_clock import CompileClock, seconds_now
from inductor_debug.measuring.compile_hooks import watched
from inductor_debug.measuring.compile_times import document_of
from inductor_debug.measuring.compile_ways import compiled_in
from inductor_debug.system.torch_names import with_settings


class ClockedCompile:
    """One target, compiled once in one way."""

    def __init__(self, opened: OpenFile, target: BuiltTarget, way: CompileWay = CompileWay.AS_IT_IS) -> None:
        self._opened, self._target, self._way = opened, target, way
        self._clock = CompileClock()
        self._device = ThisProcessor()
        self._graphs = self._operations = 0

    def timed(self) -> CompileTimeDocument:
        """Compiles; what the target or the compiler raises ends it, and is told."""
        target, problem = self._target, ""
        ambient = target.fake_mode or nullcontext()
        gradients = torch.no_grad() if inference_only(target) else nullcontext()
        thrifty = with_settings(
            torch._dynamo.config,
            run_gc_after_compile=False,
            suppress_errors=False,
            # As it is, what is given up on belongs to it; another way that leaves layers eager only seems to be faster.
            fail_on_recompile_limit_hit=self._way is not CompileWay.AS_IT_IS,
        )
        forced = torch.compiler.set_stance("default", force_backend=self._backend)
        with quiet(), thrifty, nothing_built(), hooked_positions(), forced:
            start_up = self._start_up()
            torch._dynamo.reset()
            with (
                compiled_in(self._way, target, self._backend) as compiled,
                gradients,
                ambient,
                watched(self._clock, ModulePath(target.module).names),
            ):
                try:
                    compiled(*target.args, **target.kwargs)
                except Exception as error:  # user code, or the compiler
                    problem = _problem_of(error)
        modules = target.module.named_modules() if target.module is not None else ()
        return document_of(
            target.name,
            self._opened.request.path,
            self._clock.root,
            self._opened.sources,
            kinds={name: type(module).__name__ for name, module in modules},
            graphs=self._graphs,
            operations=self._operations,
            start_up=start_up,
            problem=problem,
        )

    def _start_up(self) -> float:
        """Compiles something small, so that what torch does once in a process is not the target's; its seconds."""
        began = seconds_now()
        torch.compile(_small, backend=self._backend)(torch.zeros(4, 4, requires_grad=True))
        self._graphs = self._operations = 0
        return seconds_now() - began

    def _backend(self, graph_module: GraphModule, _examples: list[Any]) -> Any:
        self._graphs += 1
        self._operations += _operations_of(graph_module)
        compile_with(self._inner, graph_module, self._device)
        return graph_module.forward  # for the code that comes after the graph

    def _inner(self, graph_module: GraphModule, example_inputs: Sequence[Any], *_: Any, **options: Any) -> Any:
        with self._clock.during("inductor_compile"), without_modes():
            fake_mode = prepare(graph_module, example_inputs, options, self._device)
            if any(node.op.startswith("call_") for node in graph_module.graph.nodes):
                lower(graph_module, example_inputs, options, fake_mode, self._device)
        return _never_run


def _problem_of(error: Exception) -> str:
    cause = cause_of(error)
    if isinstance(cause, FailOnRecompileLimitHit):
        return "equal layers were compiled so often, each time for other sizes or numbers, that Dynamo gave up"
    if not isinstance(error, UncapturedHigherOrderOpError):
        return describe(cause)
    said = [line.strip() for line in str(error).partition("Got graph break/error:")[2].splitlines()]
    return f"a nested region has to be one graph, and Dynamo breaks it: {next(filter(None, said), describe(cause))}"


def _operations_of(graph_module: GraphModule) -> int:
    """How many operations a graph has with those of its bodies, each of which counts once, however often it runs."""
    graphs = [part.graph for part in graph_module.modules() if isinstance(part, GraphModule)]
    return sum(node.op.startswith("call_") for graph in graphs for node in graph.nodes)


def _small(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x @ x).sum()


def _never_run(*_: Any) -> Any:
    """What AOTAutograd is given for a compiled graph."""
    raise AssertionError("nothing was compiled")


_never_run._boxed_call = True  # type: ignore[attr-defined]
