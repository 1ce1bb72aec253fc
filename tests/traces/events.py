"""Small Chrome traces of our own: what `torch.profiler` writes of a run, event by event."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def event(category: str, name: str, start: float, duration: float, thread: int = 1, **arguments: Any) -> Event:
    """Something that took time; microseconds."""
    said = {key.replace("_", " "): value for key, value in arguments.items()}
    return {
        "ph": "X", "cat": category, "name": name, "pid": 7, "tid": thread, "ts": start, "dur": duration, "args": said,
    }  # fmt: skip


def launched(name: str, correlation: int, at: float, start: float, duration: float) -> list[Event]:
    """A kernel on a GPU, and the call that launched it at `at`."""
    return [
        event("cuda_runtime", "cudaLaunchKernel", at, 2, correlation=correlation),
        event("kernel", name, start, duration, thread=20, correlation=correlation, stream=7),
    ]


def written(path: Path, events: list[Event], **beside: Any) -> str:
    """The path of a trace with these events, compressed where its name says so."""
    content = json.dumps({"schemaVersion": 1, **beside, "traceEvents": events, "traceName": path.name}).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)
