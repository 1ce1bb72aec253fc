"""The least that kernels of a model can cost: Inductor's own way to their code, on fake tensors, in a warm process.

`inductor-debug bench inductor` runs this module as a script (`bare_runs`) and compares the `inductor` stage with it.
The bare run keeps nothing of what it makes: no texts, no tables, no provenance. Like the stage it starts no compiler
and reads no cache.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from typing import Any

from inductor_debug_schema import Stage, StageState

from inductor_debug_benchmarks.processes.bare_runs import Work, answer

CARD = "h100"


def bare_seconds(target: Any) -> float:
    """Seconds that `torch.compile` of a built target takes up to the code of its kernels, forward and backward."""
    import torch
    from inductor_debug.capture.gpu_kernels.lowering_device import ThisProcessor
    from inductor_debug.capture.inductor.inductor_names import compile_with, nothing_built
    from inductor_debug.capture.tensors.fake_mode import without_modes
    from torch._inductor import config

    def inner(graph_module: Any, inputs: Sequence[Any], *_: Any, **options: Any) -> Any:
        with without_modes():
            _generate(graph_module, inputs, options)
        return lambda *_: ()

    def backend(graph_module: Any, _inputs: Any) -> Any:
        compile_with(inner, graph_module, ThisProcessor())
        output = next(node for node in reversed(graph_module.graph.nodes) if node.op == "output")
        results = [node.meta["example_value"] for node in output.args[0]]
        return lambda *_: results

    torch.compiler.reset()
    compiled: Any = torch.compile(target.function, backend=backend, dynamic=target.dynamic)
    gc.disable()
    with nothing_built(), config.patch({"trace.provenance_tracking_level": 0}), target.fake_mode:
        started = time.perf_counter()
        compiled(*target.args, **target.kwargs)
        return time.perf_counter() - started


def _generate(graph_module: Any, inputs: Sequence[Any], options: dict[str, Any]) -> None:
    """`GraphLowering` and its code generation, with nothing around them."""
    from inductor_debug.capture.gpu_kernels.lowering_device import ThisProcessor
    from inductor_debug.capture.inductor.inductor_names import prepare
    from torch._inductor.debug import DebugContext
    from torch._inductor.graph import GraphLowering
    from torch._inductor.virtualized import V

    fake_mode = prepare(graph_module, inputs, options, ThisProcessor())
    graph = GraphLowering(
        graph_module,
        example_inputs=inputs,
        shape_env=fake_mode.shape_env,
        is_inference=bool(options.get("is_inference")),
        is_backward=bool(options.get("is_backward")),
    )
    graph.freeze_runtime_asserts()
    with (
        V.set_debug_handler(DebugContext()),
        V.set_fake_mode(fake_mode),
        V.set_graph_handler(graph),
        V.set_extern_kernel_nodes([]),
    ):
        graph.run(*inputs)
        graph.codegen()


def stage_seconds(target: Any, sources: Any, card: str = "") -> float:
    """Seconds that the stage takes, with its document: for this processor, or for a card that is not there.

    Raises:
        RuntimeError: the stage did not carry.
    """
    from inductor_debug.accelerators.profile import load_document, read_profile
    from inductor_debug.capture.gpu_kernels.absent_gpu import absent_gpu_of
    from inductor_debug.capture.inductor.inductor_stage import run_inductor
    from inductor_debug.capture.node_facts.record import OpFacts

    gpu = absent_gpu_of(read_profile(load_document(card))) if card else None
    started = time.perf_counter()
    outcome = run_inductor(target, sources, gpu, texts=True)
    assert outcome.graphs is not None
    outcome.graphs(OpFacts())
    if outcome.report.state is not StageState.DONE:
        raise RuntimeError(f"the stage failed: {outcome.report.notes} {outcome.findings}")
    return time.perf_counter() - started


def prepare(target: Any, sources: Any) -> Work:
    """`bare`, `stage`, and `card`: the stage for a card."""
    bare_seconds(target)  # Inductor traces its patterns once in a process.
    gc.enable()
    return {
        "bare": lambda: bare_seconds(target),
        "stage": lambda: stage_seconds(target, sources),
        "card": lambda: stage_seconds(target, sources, CARD),
    }


if __name__ == "__main__":
    answer(sys.argv[1], Stage.INDUCTOR, prepare)
