"""Builds recordings by hand, as a recorder would, so that rules are tested without torch.

A `Tape` runs no arithmetic: shapes, strides and dtypes are said, not computed. Every op stands on its own line of
`/project/model.py` unless a place is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from inductor_debug.accelerators.profile import Profile, load_document, read_profile
from inductor_debug.rules.judge import judge
from inductor_debug.rules.recording.ops import Frame, Op, Origin, Recording, Size, SymbolicSize, TensorMeta
from inductor_debug_schema import Finding, Location, Position, Range, Stage

PROJECT = "/project/model.py"
LIBRARY = "/env/lib/python3.11/site-packages/transformers/models/llama.py"
BYTES = {
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float32": 4,
    "float64": 8,
    "int64": 8,
    "int32": 4,
    "bool": 1,
    "complex128": 16,
}


def location(line: int, path: str = PROJECT) -> Location:
    return Location(path, Range(Position(line, 4), Position(line, 20)))


FALLBACK = location(999)


def frame(line: int, path: str = PROJECT) -> Frame:
    return Frame(location(line, path), "forward", path == PROJECT)


def at(*lines: int) -> tuple[Frame, ...]:
    """Frames of the project, innermost first."""
    return tuple(frame(line) for line in lines)


def inside_library(library_line: int, *lines: int) -> tuple[Frame, ...]:
    return (frame(library_line, LIBRARY), *at(*lines))


def row_major(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    stride: list[Size] = []
    step = 1
    for size in reversed(shape):
        stride.append(step)
        step *= size if isinstance(size, int) else 1
    return tuple(reversed(stride))


def numbers(size: Size) -> int:
    return size if isinstance(size, int) else size.minimum


@dataclass
class Tape:
    """A recording in the making. Tensors are given back as `TensorMeta`, to be handed to the next op."""

    recording: Recording = field(default_factory=Recording)
    _values: int = 0

    def tensor(
        self,
        *shape: Size,
        dtype: str = "float32",
        stride: tuple[Size, ...] | None = None,
        base: TensorMeta | None = None,
        storage_bytes: Size | None = None,
    ) -> TensorMeta:
        self._values += 1
        laid_out = stride is None or stride == row_major(shape)
        if storage_bytes is None:
            storage_bytes = base.storage_bytes if base else math.prod(map(numbers, shape)) * BYTES[dtype]
        return TensorMeta(
            value=self._values,
            version=0,
            storage=base.storage if base else self._values,
            shape=shape,
            stride=row_major(shape) if stride is None else stride,
            dtype=dtype,
            device="cpu",
            element_bytes=BYTES[dtype],
            storage_bytes=storage_bytes,
            dense=laid_out,
        )

    def origin(self, kind: str, name: str, meta: TensorMeta, frames: tuple[Frame, ...] = ()) -> TensorMeta:
        self.recording.origins[meta.value] = Origin(kind, name, frames, meta)
        return meta

    def input(self, name: str, *shape: Size, line: int = 900, **more: Any) -> TensorMeta:
        return self.origin("input", name, self.tensor(*shape, **more), at(line))

    def parameter(self, name: str, *shape: Size, line: int = 800, **more: Any) -> TensorMeta:
        return self.origin("parameter", name, self.tensor(*shape, **more), at(line))

    def op(
        self,
        overload: str,
        inputs: list[TensorMeta],
        output: TensorMeta | None,
        frames: tuple[Frame, ...] | None = None,
        module: str = "",
        view: bool = False,
        **arguments: Any,
    ) -> TensorMeta:
        index = len(self.recording.ops)
        outputs = () if output is None else (output,)
        self.recording.ops.append(
            Op(
                index=index,
                overload=f"aten.{overload}",
                arguments=arguments,
                inputs=tuple(inputs),
                outputs=outputs,
                frames=at(index) if frames is None else frames,
                module=module,
                is_view=view,
                mutates=(inputs[0].value,) if overload.partition(".")[0].endswith("_") else (),
            )
        )
        return output if output is not None else inputs[0]

    def view(self, overload: str, source: TensorMeta, *shape: Size, stride: Any = None, **more: Any) -> TensorMeta:
        made = self.tensor(*shape, dtype=source.dtype, stride=stride, base=source)
        return self.op(overload, [source], made, view=True, **more)

    def judge(self, profile: Profile | dict[str, Any] | str = "mock") -> list[Finding]:
        if isinstance(profile, str):
            profile = load_document(profile)
        if isinstance(profile, dict):
            profile = read_profile(profile)
        return judge(self.recording, profile, stage=Stage.PREVIEW, target="Model", fallback=FALLBACK)


def symbol(expression: str, divisor: int = 1, minimum: int = 2, maximum: int | None = None) -> SymbolicSize:
    return SymbolicSize(expression, divisor, minimum, maximum)


def lines(findings: list[Finding], rule: str) -> list[int]:
    return [finding.range.start.line for finding in findings if finding.rule == rule]


def only(findings: list[Finding], rule: str) -> Finding:
    found = [finding for finding in findings if finding.rule == rule]
    assert len(found) == 1, findings
    return found[0]
