"""Inputs that share memory: which do, how a script says so, and the same program with each input apart.

One input is the memory that the others lie in, if it covers all of them; otherwise a tensor that is no argument is.
What lies in another's memory is a view of it, in execution and in the script alike, so a failure that needs the
sharing keeps it while everything else is cut away.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from inductor_debug.capture.tensors.memory_spans import extent, span
from inductor_debug.kerneldiff.execution.structure import cloned, memory_of
from inductor_debug.repro.program.program import Input, Program, ProgramValues, Spec, row_major

_Members = list[tuple[Input, torch.Tensor]]


def linked(program: Program, tensors: Mapping[str, torch.Tensor]) -> tuple[Program, dict[str, torch.Tensor]]:
    """The program whose inputs share memory where `tensors`, their values by name, do; and the hidden memory's values.

    What cannot be expressed as views of one tensor is left apart.
    """
    groups: dict[object, _Members] = {}
    for item in program.inputs:
        tensor = tensors.get(item.name)
        if item.spec is None or tensor is None or not tensor.numel():
            continue
        memory = memory_of(tensor)
        if memory is not None:
            groups.setdefault(memory, []).append((item, tensor))
    changed: dict[str, Input] = {}
    first: dict[str, Input] = {}
    memories: dict[str, torch.Tensor] = {}
    for members in groups.values():
        if len(members) < 2:
            continue
        base = _covering(members)
        if base is None:
            base = _memory(members, f"memory_of_{members[0][0].name}")
            memories[base[0].name] = base[1]
        views = {item.name: _view(item, tensor, base) for item, tensor in members if item.name != base[0].name}
        changed |= views
        first[members[0][0].name] = base[0]
    inputs: list[Input] = []
    for item in program.inputs:
        if item.name in first:
            inputs.append(first[item.name])
        if all(item.name != known.name for known in inputs):
            inputs.append(changed.get(item.name, item))
    return dataclasses.replace(program, inputs=tuple(inputs)), memories


def unlinked(program: Program) -> Program:
    """The same program with memory of its own for each input."""
    inputs = tuple(
        dataclasses.replace(item, base="", offset=0, values=ProgramValues.RECORDED) if item.base else item
        for item in program.arguments
    )
    return dataclasses.replace(program, inputs=inputs)


def view_of(base: torch.Tensor, item: Input) -> torch.Tensor:
    """The input as a view of its base."""
    spec = item.spec
    assert spec is not None
    memory = base.detach()
    dtype = getattr(torch, spec.dtype)
    if memory.dtype is not dtype:
        memory = memory.view(dtype)
    made = torch.as_strided(memory, spec.shape, spec.stride, item.offset)
    return made.requires_grad_() if spec.requires_grad else made


def text_of(base: Input, item: Input) -> str:
    """The expression that makes the input out of its base."""
    spec, whole = item.spec, base.spec
    assert spec is not None
    assert whole is not None
    memory = base.name + (".detach()" if whole.requires_grad else "")
    if whole.dtype != spec.dtype:
        memory += f".view(torch.{spec.dtype})"
        width, own = _width(whole), _width(spec)
        whole = dataclasses.replace(whole, shape=_counted_in(whole.shape, width, own), dtype=spec.dtype)
        whole = dataclasses.replace(whole, stride=row_major(whole.shape))
    text = memory + _steps(whole, spec, item.offset)
    if text == base.name:
        text += ".detach()"
    return f"{text}.requires_grad_()" if spec.requires_grad else text


def relinked(inputs: Sequence[Input]) -> tuple[Input, ...] | None:
    """The inputs with hidden memory as large as the views need it; None where a view does not fit into its base."""
    needed: dict[str, int] = {}
    for item in inputs:
        if item.base and item.spec is not None:
            size = (item.offset + span(item.spec.shape, item.spec.stride)) * _width(item.spec)
            needed[item.base] = max(needed.get(item.base, 0), size)
    widest = max((_width(item.spec) for item in inputs if item.spec is not None), default=1)
    found = []
    for item in inputs:
        spec, size = item.spec, needed.get(item.name, 0)
        if spec is None or not size:
            found.append(item)
        elif item.hidden:
            count = -(-size // widest) * widest // _width(spec)
            found.append(dataclasses.replace(item, spec=dataclasses.replace(spec, shape=(count,), stride=(1,))))
        elif span(spec.shape, spec.stride) * _width(spec) < size:
            return None
        else:
            found.append(item)
    return tuple(found)


def _width(spec: Spec) -> int:
    """Bytes of an element."""
    return int(getattr(torch, spec.dtype).itemsize)


def copies_of(values: Sequence[Any]) -> list[Any]:
    """The values as they are now, for what runs may write to them; tensors that share memory go on sharing it.

    Strides stay as they are, and what gradients flow through is a leaf. Parameters that share with nothing are not
    copied: they are large, and seldom written.
    """
    tensors = {id(value): value for value in values if isinstance(value, torch.Tensor)}
    memories = {key: memory_of(value) for key, value in tensors.items()}
    users = Counter(memories.values())
    del users[None]  # of those it is not known that they share
    kept = {key for key, value in tensors.items() if isinstance(value, torch.nn.Parameter) and users[memories[key]] < 2}
    copies = cloned({key: value for key, value in tensors.items() if key not in kept})
    return [copies.get(id(value), value) for value in values]


def _covering(members: _Members) -> tuple[Input, torch.Tensor] | None:
    """The member that the others are parts of, if they can be had as views of it."""
    begin, end = (edge(extent(tensor)[index] for _, tensor in members) for index, edge in ((0, min), (1, max)))
    for item, tensor in members:
        if tensor.is_contiguous() and extent(tensor) == (begin, end):
            try:
                for other, seen in members:
                    if other.name != item.name:
                        view_of(tensor, _view(other, seen, (item, tensor)))
            except RuntimeError:
                continue
            return item, tensor
    return None


def _memory(members: _Members, name: str) -> tuple[Input, torch.Tensor]:
    """A tensor that is no argument, as large as the members need it."""
    begin = min(extent(tensor)[0] for _, tensor in members)
    end = max(extent(tensor)[1] for _, tensor in members)
    kind = members[0][1]
    widest = max(tensor.itemsize for _, tensor in members)
    begin -= begin % widest
    storage = kind.untyped_storage()
    count = min(-(-(end - begin) // widest) * widest, storage.nbytes() - begin) // kind.itemsize
    memory = torch.empty(0, dtype=kind.dtype, device=kind.device)
    memory.set_(storage, begin // kind.itemsize, (count,), (1,))
    dtype = str(kind.dtype).removeprefix("torch.")
    spec = Spec((count,), (1,), dtype, str(kind.device))
    return Input(name, spec, source=name, origin="storage memory", hidden=True), memory


def _view(item: Input, tensor: torch.Tensor, base: tuple[Input, torch.Tensor]) -> Input:
    offset = (extent(tensor)[0] - base[1].storage_offset() * base[1].itemsize) // tensor.itemsize
    return dataclasses.replace(item, base=base[0].name, offset=offset, values=ProgramValues.SEEDED)


def _counted_in(shape: tuple[int, ...], width: int, own: int) -> tuple[int, ...]:
    return (*shape[:-1], shape[-1] * width // own) if shape else shape


def _steps(whole: Spec, spec: Spec, offset: int) -> str:
    """How a person would take the view: an index, a slice, a transposition, another shape; else by strides."""
    if (whole.shape, whole.stride, offset) == (spec.shape, spec.stride, 0):
        return ""
    dense = whole.stride == row_major(whole.shape) and spec.stride == row_major(spec.shape)
    if offset == 0 and dense and math.prod(whole.shape) == math.prod(spec.shape):
        return f".view({', '.join(map(str, spec.shape))})"
    if offset == 0 and len(whole.shape) == len(spec.shape):
        for one in range(len(whole.shape)):
            for other in range(one + 1, len(whole.shape)):
                order = list(range(len(whole.shape)))
                order[one], order[other] = other, one
                if tuple(whole.shape[i] for i in order) == spec.shape and (
                    tuple(whole.stride[i] for i in order) == spec.stride
                ):
                    return f".transpose({one}, {other})"
    for dimension, (size, step) in enumerate(zip(whole.shape, whole.stride, strict=True)):
        before = ":, " * dimension
        first, rest = divmod(offset, step) if step else (0, 1)
        if rest or first >= size:
            continue
        others = [index for index in range(len(whole.shape)) if index != dimension]
        if (tuple(whole.shape[i] for i in others), tuple(whole.stride[i] for i in others)) == (spec.shape, spec.stride):
            return f"[{before}{first}]"
        if len(spec.shape) != len(whole.shape) or any(
            (whole.shape[i], whole.stride[i]) != (spec.shape[i], spec.stride[i]) for i in others
        ):
            continue
        count, stride = spec.shape[dimension], spec.stride[dimension]
        if stride and stride % step == 0 and first + (count - 1) * (stride // step) < size:
            jump = stride // step
            last = first + (count - 1) * jump + 1
            return f"[{before}{first or ''}:{last if last < size else ''}{f':{jump}' if jump > 1 else ''}]"
    return f".as_strided({spec.shape}, {spec.stride}, {offset})"
