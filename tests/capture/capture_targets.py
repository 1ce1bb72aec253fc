"""Builds targets from source text without the loader, so that the stages can be tested on their own."""

from __future__ import annotations

import contextlib
import linecache
import textwrap
from pathlib import Path
from typing import Any

import torch
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.target import BuildMode, BuiltTarget
from inductor_debug.rules.recording.ops import Frame, Op
from inductor_debug_schema import Location, Position, Range
from torch._subclasses.fake_tensor import FakeTensorMode


def build(
    folder: Path, source: str, *, real: bool = False, dynamic: bool | None = None, training: bool = False
) -> tuple[BuiltTarget, SourceMap]:
    """Runs `source`, which must define `model` and `inputs` (a tuple), and makes a target of them."""
    text = textwrap.dedent(source).lstrip("\n")
    path = str(folder / "model.py")
    Path(path).write_text(text, encoding="utf-8", newline="")
    linecache.checkcache(path)
    namespace: dict[str, Any] = {"__name__": "model", "torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    mode = None if real else FakeTensorMode(allow_non_fake_inputs=True)
    with mode or contextlib.nullcontext():
        exec(compile(text, path, "exec"), namespace)
    function = namespace["model"]
    module = function if isinstance(function, torch.nn.Module) else namespace.get("module")
    if module is not None:
        module.train(training)
    input_line = text.count("\n", 0, max(text.find("inputs"), 0))
    place = Location(path, Range(Position(input_line, 0), Position(input_line, 6)))
    target = BuiltTarget(
        name="model",
        line=0,
        origin="test",
        function=function,
        args=tuple(namespace.get("inputs", ())),
        kwargs=dict(namespace.get("keywords", {})),
        mode=BuildMode.REAL if real else BuildMode.FAKE,
        fake_mode=mode,
        module=module,
        training=training,
        dynamic=dynamic,
        declarations=namespace.get("declarations", {}),
        input_frames=(Frame(place, "<module>", True),),
        location=place,
    )
    return target, SourceMap(str(folder), {path: text})


def excerpt(location: Location) -> str:
    """The text at `location`, cut out by UTF-16 columns."""
    text = Path(location.path).read_text(encoding="utf-8")
    lines = text.split("\n")
    start, end = location.range.start, location.range.end
    if start.line == end.line:
        return _cut(lines[start.line], start.character, end.character)
    middle = lines[start.line + 1 : end.line]
    return "\n".join([_cut(lines[start.line], start.character, None), *middle, _cut(lines[end.line], 0, end.character)])


def _cut(line: str, start: int, end: int | None) -> str:
    units = line.encode("utf-16-le")
    return units[2 * start : None if end is None else 2 * end].decode("utf-16-le")


def places(ops: list[Op], overload: str) -> list[str]:
    """The source text of the innermost project frame of every op called `overload`."""
    found = []
    for op in ops:
        if op.overload == overload:
            frame = next((frame for frame in op.frames if frame.in_project), None)
            found.append("" if frame is None else excerpt(frame.location))
    return found
