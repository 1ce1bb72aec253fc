"""The least that capturing a model can cost: Dynamo alone, on fake tensors, in a warm process.

`inductor-debug bench latency` runs this module as a script (`bare_runs`) and compares the daemon with it. The backend
does nothing: it returns the fake results that Dynamo computed itself, so not even the graph is run. Nothing of our own
runs while time is taken.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from inductor_debug_schema import Stage

from inductor_debug_benchmarks.processes.bare_runs import answer


def trace_seconds(target: Any, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds by a clock that `torch.compile` of a built target takes from its first call to the call's return."""
    import torch

    def backend(graph: torch.fx.GraphModule, _inputs: Any) -> Any:
        output: Any = next(node for node in reversed(graph.graph.nodes) if node.op == "output")
        results = [node.meta["example_value"] for node in output.args[0]]
        return lambda *_: results

    torch.compiler.reset()
    compiled: Any = torch.compile(target.function, backend=backend, dynamic=target.dynamic)
    with target.fake_mode:
        started = clock()
        compiled(*target.args, **target.kwargs)
        return clock() - started


if __name__ == "__main__":
    answer(
        sys.argv[1],
        Stage.MOCK,
        lambda target, _sources: {
            "bare": lambda: trace_seconds(target),
            "work": lambda: trace_seconds(target, time.process_time),
        },
    )
