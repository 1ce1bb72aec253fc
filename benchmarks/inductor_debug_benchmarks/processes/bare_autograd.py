"""The least that lowering a model can cost: Dynamo and AOTAutograd alone, on fake tensors, in a warm process.

`inductor-debug bench stages` runs this module as a script (`bare_runs`) and compares the `aot` stage with it. The bare
run uses the partitioner of the stage, compilers that do nothing, and no garbage collector; the stage's time includes
judging what it recorded, and `stored` also the tables and texts, written to disk.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.artifacts.store import ArtifactStore
from inductor_debug_schema import Stage

from inductor_debug_benchmarks.processes.bare_runs import Work, answer


def bare_seconds(target: Any) -> float:
    """Seconds that Dynamo and AOTAutograd take for forward and backward, with nothing of ours in between."""
    import torch
    from torch._functorch import config
    from torch._functorch.aot_autograd import aot_module_simplified
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    class Lowered(BaseException):
        pass

    def nothing(graph: torch.fx.GraphModule, _inputs: Any) -> Any:
        return graph.forward

    compiler: Any = nothing

    def backend(graph: torch.fx.GraphModule, _inputs: Any) -> Any:
        examples = [node.meta["example_value"] for node in graph.graph.nodes if node.op == "placeholder"]
        aot_module_simplified(
            graph,
            examples,
            fw_compiler=compiler,
            bw_compiler=compiler,
            inference_compiler=compiler,
            partition_fn=min_cut_rematerialization_partition,
            keep_inference_input_mutations=True,
        )
        raise Lowered

    torch.compiler.reset()
    compiled: Any = torch.compile(target.function, backend=backend, dynamic=target.dynamic)
    eager_backward = config.patch(force_non_lazy_backward_lowering=True, enable_autograd_cache=False)
    gc.disable()
    with target.fake_mode, eager_backward:
        started = time.perf_counter()
        with contextlib.suppress(Lowered):
            compiled(*target.args, **target.kwargs)
        return time.perf_counter() - started


def stage_seconds(target: Any, sources: Any, store: ArtifactStore | None = None) -> float:
    """Seconds that the `aot` stage takes with its judgement, and with storing its graphs where there is a `store`."""
    from inductor_debug.capture.graphs.graph_artifacts import artifacts_of
    from inductor_debug.capture.node_facts.record import OpFacts
    from inductor_debug.capture.stages.aot import run_aot
    from inductor_debug.rules.judge import judge

    profile = read_profile(load_document("mock"))
    started = time.perf_counter()
    outcome = run_aot(target, sources)
    judge(outcome.recording, profile, stage=Stage.AOT, target=target.name, fallback=target.location)
    if store is not None and outcome.graphs is not None:
        for made in artifacts_of(outcome.graphs(OpFacts())):
            store.put(made)
    return time.perf_counter() - started


def prepare(target: Any, sources: Any, folder: str) -> Work:
    """`bare`, `stage` and `stored`."""
    importlib.import_module("torch._inductor.pattern_matcher")  # what a fork server learns from its first such job
    return {
        "bare": lambda: bare_seconds(target),
        "stage": lambda: stage_seconds(target, sources),
        "stored": lambda: stage_seconds(target, sources, ArtifactStore(Path(folder))),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        answer(sys.argv[1], Stage.AOT, lambda target, sources: prepare(target, sources, scratch))
