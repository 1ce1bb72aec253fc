"""OpSpecs of Spyre's kernels, the last form before kernel files: arguments of `async_compile.sdsc` in the wrapper.

They are read as syntax, never run: numbers, names, `sympify('…')`, and constructors with keywords. Read against
torch-spyre of 2026; keywords that are not known are no fault, because every version adds some.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from inductor_debug.compiler_output.files.spyre_sidecar import Handle, HandleSource, handle_source
from inductor_debug.compiler_output.files.wrapper_text import WrapperKernel

_KIND = "()"
"""The key under which a constructor's name is kept."""
_STICK = re.compile(r"^Mod\((?P<loop>\w+), \d+\)$")


@dataclass(frozen=True, slots=True)
class OpArgument:
    """A tensor of an operation: `index` among the kernel's arguments, -1 where it is none of them."""

    output: bool
    index: int
    device_dtype: str
    size: list[int]
    stride_map: list[int]
    coordinates: list[str]
    allocation: str

    @property
    def stick_loop(self) -> str:
        """The loop that runs along the sticks; "" where none does."""
        match = _STICK.match(self.coordinates[-1]) if self.coordinates else None
        return match["loop"] if match is not None else ""


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One operation: its loops with extents and over how many cores each is divided, its tensors, and its handle."""

    op: str
    reduction: bool
    loops: list[tuple[str, int | str, int | None]]
    arguments: list[OpArgument]
    handle: str


def op_specs(kernel: WrapperKernel) -> tuple[list[OpSpec], dict[str, Handle]]:
    """The operations of a kernel in the order in which they run, those of loops where they stand, and all handles."""
    handles: dict[str, Handle] = {}
    said = [_plain(argument) for argument in kernel.arguments]
    return [_spec(each, handles) for each in _specs(said)], handles


def _specs(said: Any) -> Iterator[dict[str, Any]]:
    if isinstance(said, list):
        for each in said:
            yield from _specs(each)
    elif isinstance(said, dict) and said.get(_KIND) == "LoopSpec":
        yield from _specs(said.get("body"))
    elif isinstance(said, dict) and said.get(_KIND) in ("OpSpec", "UnimplementedOp"):
        yield said


def _spec(said: dict[str, Any], handles: dict[str, Handle]) -> OpSpec:
    space = said.get("iteration_space")
    loops: list[tuple[str, int | str, int | None]] = []
    for name, bounds in space.items() if isinstance(space, dict) else ():
        extent, cores = (*bounds, None, None)[:2] if isinstance(bounds, list) else (bounds, None)
        loops.append(
            (str(name), extent if isinstance(extent, int) else str(extent), cores if isinstance(cores, int) else None)
        )
    arguments = said.get("args")
    return OpSpec(
        str(said.get("op", ""))[:200],
        said.get("is_reduction") is True,
        loops,
        [_argument(each) for each in arguments if isinstance(each, dict)] if isinstance(arguments, list) else [],
        _handle(said.get("debug_handle"), handles),
    )


def _argument(said: dict[str, Any]) -> OpArgument:
    allocation = said.get("allocation")
    index = said.get("arg_index")
    return OpArgument(
        said.get("is_input") is False,
        index if isinstance(index, int) else -1,
        str(said.get("device_dtype", "")),
        _numbers(said.get("device_size")),
        _numbers(said.get("stride_map")),
        [str(each) for each in found] if isinstance(found := said.get("device_coordinates"), list) else [],
        ", ".join(f"{key} {value}" for key, value in allocation.items()) if isinstance(allocation, dict) else "",
    )


def _numbers(said: Any) -> list[int]:
    return said if isinstance(said, list) and all(isinstance(each, int) for each in said) else []


def _handle(said: Any, handles: dict[str, Handle]) -> str:
    """Adds a handle and those that it was fused from; returns its id, "" where there is none."""
    if not isinstance(said, dict) or said.get(_KIND) != "DebugHandle":
        return ""
    name = str(said.get("id"))
    parts, chain = said.get("fused_from"), said.get("ir_chain")
    handles[name] = Handle(
        name,
        _source(said.get("source")),
        str(said.get("aten_op") or ""),
        [str(each) for each in chain] if isinstance(chain, list) else [],
        [part for each in parts if (part := _handle(each, handles))] if isinstance(parts, list) else [],
        [],
    )
    return name


def _source(said: Any) -> HandleSource | None:
    if (
        not isinstance(said, dict)
        or not isinstance(said.get("file"), str)
        or not isinstance(said.get("start_line"), int)
    ):
        return None
    column, end_line, end_column = said.get("start_col"), said.get("end_line"), said.get("end_col")
    return handle_source(said["file"], said["start_line"], column, end_line, end_column)


def _plain(node: ast.expr) -> Any:
    """What an expression says, where it is data; None where it is not."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_plain(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        return {
            str(_plain(key)): _plain(value)
            for key, value in zip(node.keys, node.values, strict=False)
            if key is not None
        }
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _plain(node.operand)
        return -value if isinstance(value, int) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "sympify" and node.args:
            text = str(_plain(node.args[0]))
            return int(text) if text.isdigit() and len(text) < 19 else text
        return {_KIND: node.func.id, **{each.arg: _plain(each.value) for each in node.keywords if each.arg is not None}}
    return None
