"""The least that capturing a model can cost: Dynamo alone, on fake tensors, in a warm process.

`inductor-debug bench latency` runs this module as a script and compares the daemon with it. It traces once for every
line on its standard input and answers with the seconds, so that daemon and bare trace can take turns on a machine
whose speed changes. Each trace happens in a fork of one process that is as warm as a worker and set up as a worker is.
The backend does nothing: it returns the fake results that Dynamo computed itself, so not even the graph is run. Nothing
of our own runs while time is taken.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path
from typing import Any

from inductor_debug_schema import JobRequest, Stage

from inductor_debug.worker.job import isolate
from inductor_debug.worker.warm_up import warm_up

_MEMORY_BOUND = 1 << 30


def trace_seconds(target: Any) -> float:
    """Seconds that `torch.compile` of a built target takes from its first call to the call's return."""
    import torch

    def backend(graph: torch.fx.GraphModule, _inputs: Any) -> Any:
        output: Any = next(node for node in reversed(graph.graph.nodes) if node.op == "output")
        results = [node.meta["example_value"] for node in output.args[0]]
        return lambda *_: results

    torch.compiler.reset()
    compiled: Any = torch.compile(target.function, backend=backend, dynamic=target.dynamic)
    with target.fake_mode:
        started = time.perf_counter()
        compiled(*target.args, **target.kwargs)
        return time.perf_counter() - started


def main(path: str) -> None:
    """Traces the first target of the file whenever a line comes in."""
    warm_up()
    from inductor_debug.capture.spans import SourceMap
    from inductor_debug.capture.workshop import Workshop

    text = Path(path).read_text(encoding="utf-8")
    root = str(Path(path).parent)
    request = JobRequest(0, path, text, root, [Stage.MOCK], {})
    with Workshop(request, SourceMap(root, {path: text}), _MEMORY_BOUND).open() as workshop:
        load = workshop.load()
        target = workshop.build(load.discovered.offers[0], load)
        gc.collect()
        gc.freeze()
        for _ in sys.stdin:
            print(_in_a_fork(target), flush=True)


def _in_a_fork(target: Any) -> float:
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        isolate()
        os.write(write_end, repr(trace_seconds(target)).encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end, encoding="ascii") as stream:
        text = stream.read()
    os.wait()
    return float(text)


if __name__ == "__main__":
    main(sys.argv[1])
