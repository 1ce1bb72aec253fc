"""The processor seconds of a whole analysis, from a job that a warm worker has read to the last finding.

`inductor-debug bench latency` runs this module as a script (`bare_runs`) in turns with a bare Dynamo trace. Processor
time says the same on a machine that others use, too, where the time of the clock says how busy they are.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path

from inductor_debug.accelerators.profile import load_document
from inductor_debug.system.stack_room import with_room
from inductor_debug.worker.warm_up import rehearse, warm_up
from inductor_debug_schema import Event, JobRequest, Loaded, Stage

from inductor_debug_benchmarks.processes.bare_runs import in_a_fork, take_orders


def analysis_seconds(request: JobRequest) -> float:
    """Processor seconds of an analysis in this process, which is got ready for it as a worker is."""
    from inductor_debug.capture.session import analyze

    rehearse(lambda: False)
    started = time.process_time()
    with_room(lambda: analyze(request, lambda _event: None))
    return time.process_time() - started


def _libraries(request: JobRequest) -> list[str]:
    """The modules that the fork server would have imported once it knew the file."""
    from inductor_debug.capture.session import analyze

    told: list[Event] = []
    analyze(request, told.append)
    return [name for event in told if isinstance(event, Loaded) for name in event.modules]


def main(path: str) -> None:
    """Answers until the standard input ends."""
    warm_up()
    text = Path(path).read_text(encoding="utf-8")
    stages = [Stage.PREVIEW, Stage.MOCK]
    request = JobRequest(0, path, text, os.path.dirname(path), stages, load_document("none"))
    for name in in_a_fork(lambda: _libraries(request)):
        importlib.import_module(name)
    take_orders({"whole": lambda: analysis_seconds(request)})


if __name__ == "__main__":
    main(sys.argv[1])
