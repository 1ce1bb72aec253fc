"""Measures inference on a corpus, one forked process for each file; `inductor-debug bench inference` runs this.

Reads one JSON object `{"profile", "files": [[path, text], ...]}` from standard input and writes one JSON line for each
class: its inferred tensors, the seconds that took, and its findings. Every file is analysed twice, the second time with
other made-up sizes: a finding about sizes that only one of them has rests on a size that nobody asked for.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from inductor_debug_schema import Event, JobRequest, Stage, StageFinished

from inductor_debug.worker.job import isolate
from inductor_debug.worker.warm_up import warm_up

_ABOUT_SIZES = ("alignment", "memory", "recompile")
_GROWTH = 3


def measure(path: str, text: str, profile: dict[str, Any]) -> list[dict[str, Any]]:
    """What is inferred for the classes of one file: name, seconds, tensors, reason and false findings of each."""
    from inductor_debug.capture.inference import naming
    from inductor_debug.capture.inference.inference import Inference

    rows: dict[str, dict[str, Any]] = {}
    original = Inference.model

    def timed(inference: Inference) -> Any:
        started, worked = time.perf_counter(), time.process_time()
        try:
            return original(inference)
        finally:
            row = rows.setdefault(inference.name, {"name": inference.name, "seconds": time.perf_counter() - started})
            row.setdefault("work", time.process_time() - worked)
            row["tensors"] = inference.tensors()

    Inference.model = timed  # type: ignore[method-assign, assignment]
    first = _findings(path, text, profile)
    Inference.model = original  # type: ignore[method-assign]
    for name, size in naming.DEFAULT_SIZES.items():
        naming.DEFAULT_SIZES[name] = size * _GROWTH
    second = _findings(path, text, profile)
    for name, row in rows.items():
        reason, found = first.get(name, ("", set()))
        row["reason"] = reason
        row["false"] = sorted(found ^ second.get(name, ("", set()))[1]) if not second.get(name, ("", set()))[0] else []
        row["findings"] = len(found)
    return list(rows.values())


def _findings(path: str, text: str, profile: dict[str, Any]) -> dict[str, tuple[str, set[str]]]:
    """By target: why nothing was inferred, and its findings about sizes as `rule line:character`."""
    from inductor_debug.capture.session import analyze

    events: list[Event] = []
    request = JobRequest(1, path, text, os.path.dirname(path), [Stage.PREVIEW, Stage.MOCK], profile)
    analyze(request, events.append)
    found: dict[str, tuple[str, set[str]]] = {}
    for event in events:
        if isinstance(event, StageFinished):
            reason, places = found.get(event.target, ("", set()))
            reason = event.inferred.reason if event.inferred is not None else "it was not inferred"
            places |= {
                f"{item.rule} {item.range.start.line + 1}:{item.range.start.character}"
                for item in event.findings
                if item.rule in _ABOUT_SIZES
            }
            found[event.target] = (reason, places)
    return found


def main() -> None:
    """Runs as a script."""
    order = json.load(sys.stdin)
    output = os.dup(1)
    isolate()
    warm_up()
    for path, text in order["files"]:
        child = os.fork()
        if child == 0:
            try:
                for row in measure(path, text, order["profile"]):
                    os.write(output, (json.dumps({"file": path, **row}) + "\n").encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
