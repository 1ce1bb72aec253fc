"""Measures what comparing every operation of a model costs beside running its graph plainly: `bench kerneldiff`.

Run as a module with the path of a file that has `Model` and `get_inputs`; prints one JSON object.
"""

from __future__ import annotations

import json
import os
import runpy
import statistics
import sys
import time
from contextlib import nullcontext
from typing import Any

import torch
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.targets.script_target import target_of
from inductor_debug.kerneldiff.blame.node_comparison import Modes, NodeWalk
from inductor_debug.kerneldiff.emulation.backends import emulated
from inductor_debug.kerneldiff.emulation.emulation import EmulatedArithmetic
from inductor_debug.kerneldiff.execution.node_graphs import (
    Compute,
    NodeGraph,
    NodePlaces,
    SharedGraphs,
    compiling,
    plainly,
    run_graph,
)
from inductor_debug.kerneldiff.execution.operation_arithmetic import Arithmetic, Eager

REPEATS = 5


def measure(path: str, repeats: int = REPEATS) -> dict[str, Any]:
    """Seconds of a plain interpretation and of isolated walks, the median of several, taken in turns."""
    offered = runpy.run_path(path)
    torch.manual_seed(0)
    model = offered["Model"]()
    model.train(False)
    target = target_of(model, offered["get_inputs"](), name=os.path.splitext(os.path.basename(path))[0])
    places = NodePlaces(target, SourceMap("."))
    spyre = emulated(read_profile(load_document("spyre")))
    sides: dict[str, Arithmetic] = {"eager": Eager(torch.finfo(torch.float32).eps), spyre.name: spyre}
    seconds: dict[str, list[float]] = {"plain": [], **{name: [] for name in sides}}
    nodes = 0
    constants = spyre.constants.of(model.parameters()) if isinstance(spyre, EmulatedArithmetic) else nullcontext()
    with compiling(), torch.no_grad(), constants:
        graphs = SharedGraphs(model)
        graphs.run_by(_plain(plainly))(*target.args)
        for _ in range(repeats):
            seconds["plain"].append(_timed(graphs.run_by(_plain(plainly)), target.args))
            for name, arithmetic in sides.items():
                walk = NodeWalk(arithmetic, places, Modes(isolated=True, accumulated=False))
                seconds[name].append(_timed(graphs.run_by(walk), target.args))
                nodes = len(walk.results)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    return {"model": target.name, "nodes": nodes, "threads": torch.get_num_threads(), "seconds": medians}


def _plain(compute: Compute) -> Any:
    def visit(graph: NodeGraph, args: list[Any]) -> Any:
        return run_graph(graph, args, compute)

    return visit


def _timed(function: Any, args: tuple[Any, ...]) -> float:
    started = time.perf_counter()
    function(*args)
    return time.perf_counter() - started


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
