"""Which classes of other files a run went through: what they offer was seen, if not by itself."""

from __future__ import annotations

from collections.abc import Iterable

from inductor_debug_schema import ClassSeen

from inductor_debug.rules.recording.ops import Recording

_CONSTRUCTOR = "__init__"


def classes_elsewhere(recordings: Iterable[Recording], path: str) -> list[ClassSeen]:
    """The classes of the project whose methods computed something, but for those of the file `path`, each once."""
    methods = {
        (frame.location.path, *frame.function.rpartition(".")[::2])
        for recording in recordings
        for op in recording.ops
        for frame in op.frames
        if frame.in_project and frame.location.path != path
    }
    return [ClassSeen(file, name) for file, name in sorted({(f, n) for f, n, m in methods if n and m != _CONSTRUCTOR})]
