"""From a `peak-memory` finding to its script: the operation at the peak, and everything that has to be alive then.

No single operation is at fault, so what stands around it comes along: the largest tensors that other operations make
and later ones need are made by those operations; parameters, inputs and smaller ones stand in a table. What is not
needed to pass the bound is left out. Nothing is computed, neither here nor by the script, which counts on fake tensors.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from inductor_debug_schema import Finding

from inductor_debug.accelerators.profile import Profile
from inductor_debug.repro.kinds.looks import RecordingLook
from inductor_debug.repro.program.from_recording import Recorded, program_of
from inductor_debug.repro.program.program import Program, Spec, cut, producers
from inductor_debug.repro.program.stand_ins import is_foreign
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer
from inductor_debug.repro.script.script_checks import ScriptCheck
from inductor_debug.repro.script.writing import Header, script
from inductor_debug.rules.amounts import in_bytes
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.recording.liveness import Holding, Peak, peak_of
from inductor_debug.rules.recording.ops import Op, Recording
from inductor_debug.rules.recording.symbolic_sizes import at_least

MOST_MAKERS = 8
"""Tensors alive at the peak that are made by their own operation; what is beyond stands in the table."""

_IMPORTS = (
    "from torch._subclasses.fake_tensor import FakeTensorMode",
    "from torch.utils._python_dispatch import TorchDispatchMode",
    "from torch.utils._pytree import tree_leaves",
)
_WATCH = '''\
class Watch(TorchDispatchMode):
    """Keeps what the operator that ran last read and made."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.operator = func
        self.touched = [leaf for leaf in tree_leaves((args, kwargs, result)) if isinstance(leaf, torch.Tensor)]
        return result'''
_HELD = '''\
def held():
    """What else is alive at the peak: {kinds}."""
    shapes = [
{rows}
    ]
    return [torch.empty(shape, dtype=dtype) for count, shape, dtype in shapes for _ in range(count)]'''
_BYTES = '''\
def bytes_of(tensors):
    """Memory that the tensors take on the accelerator; what shares memory counts once."""
{stored}    storages = {{tensor.untyped_storage()._cdata: tensor for tensor in tensors}}
    elements = [(tensor.untyped_storage().nbytes() // tensor.itemsize, tensor) for tensor in storages.values()]
    return sum(count * {width} for count, tensor in elements)'''
_BODY = """\
limit = {limit}  # bytes: the memory of accelerator {accelerator!r}
# Shapes and dtypes tell enough: no memory is taken, and nothing is computed.
with FakeTensorMode():
    values = make_inputs()
    throughout = [{throughout}]
    watch = Watch()
    with torch.no_grad(), watch:
        results = failing(*values)
# While the last operator runs, what it reads and makes is alive, and all that is returned or there from the beginning.
needed = bytes_of([*watch.touched, *tree_leaves(results), *throughout])
print(f"{{needed}} bytes are needed while {{watch.operator}} runs, {{limit}} are there")
return needed > limit"""


@dataclass(frozen=True)
class _Part:
    """What a script shows: `others` are the storages alive at the peak that its operation does not touch itself."""

    peak: Peak
    op: Op
    index: int
    others: list[Holding]


def memory_drafts(look: RecordingLook, finding: Finding, header: Header, name: str) -> Iterator[Reproducer]:
    """Scripts for the peak of the look's recording: with what makes the tensors that are alive then, then without.

    Raises:
        NotReproducibleError: the peak is below the profile's bound.
        UnprintableError: an argument of an operator has no form as Python code.
    """
    recording, profile = look.recording, look.profile
    part = _part(recording, profile)
    whole = program_of(recording)
    neighbour = _neighbour(part)
    notes = [*header.notes, f"the failure goes when {neighbour}"]
    makers = [holding for holding in part.others if holding.maker is not None][:MOST_MAKERS]
    for shown in (makers, []) if makers else ([],):
        program = _program(recording.ops, whole, part, shown)
        foreign = is_foreign(program)
        seen = [*notes, "an operator of the project's own is replaced by a stand-in"] if foreign else notes
        check = _check(program, profile, part.op, _table(whole, part, program, shown))
        text = script(program, check, dataclasses.replace(header, notes=seen))
        yield Reproducer(text, name, len(recording.ops), len(program.steps), 1, neighbour=neighbour, foreign=foreign)


def _part(recording: Recording, profile: Profile) -> _Part:
    """The peak's operation, and the largest of what else is alive then, until the bound is passed."""
    limit = profile.memory_bytes
    peak = peak_of(recording, JudgedRun(recording, profile).measure)
    if peak.op is None or limit is None or peak.bytes <= limit:
        raise NotReproducibleError("what is alive together fits into the accelerator's memory")
    touched = {meta.storage for meta in (*peak.op.inputs, *peak.op.outputs)}
    total = sum(holding.bytes for holding in peak.holdings if holding.meta.storage in touched)
    others: list[Holding] = []
    for holding in peak.holdings:
        if total > limit:
            break
        if holding.meta.storage not in touched and holding.bytes > 0:
            others.append(holding)
            total += holding.bytes
    index = next(index for index, op in enumerate(recording.ops) if op is peak.op)
    return _Part(peak, peak.op, index, others)


def _program(ops: Sequence[Op], whole: Recorded, part: _Part, makers: list[Holding]) -> Program:
    """The operation at the peak, the views that lead to its operands, and what makes `makers`, which are returned."""
    positions = producers(whole.program)
    kept = {part.index}
    waiting = [whole.names[meta.value] for meta in part.op.inputs]
    while waiting:
        position = positions.get(waiting.pop())
        if position is not None and position not in kept and ops[position].is_view:
            kept.add(position)
            waiting += whole.program.steps[position].uses()
    results = [whole.names[holding.meta.value] for holding in makers]
    kept |= {positions[result] for result in results}
    last = [name for name in whole.program.steps[part.index].outputs if name]
    return cut(whole.program, kept, [*results, *last])


_Row = tuple[tuple[int, ...], str, str]
"""Shape, dtype and what the tensors are."""


def _table(whole: Recorded, part: _Part, program: Program, makers: list[Holding]) -> Counter[_Row]:
    """What is alive at the peak and not in the program, counted by what it looks like."""
    shown = {id(maker) for maker in makers}
    names = {item.source for item in program.inputs if item.origin}
    specs: dict[str, Spec | None] = {item.name: item.spec for item in whole.program.inputs}
    for step in whole.program.steps:
        for name, spec in zip(step.outputs, step.specs, strict=True):
            specs.setdefault(name, spec)
    rows: Counter[_Row] = Counter()
    for holding in part.others:
        name = whole.names[holding.meta.value]
        if id(holding) not in shown and name not in names:
            rows[_shape(holding, specs.get(name)), holding.meta.dtype, _kind(holding)] += 1
    return rows


def _shape(holding: Holding, spec: Spec | None) -> tuple[int, ...]:
    """The tensor's shape, or where it is a view of more than it shows, the elements of its memory."""
    elements = at_least(holding.meta.storage_bytes) // max(holding.meta.element_bytes, 1)
    if spec is None or math.prod(spec.shape) < elements:
        return (elements,)
    return spec.shape


def _kind(holding: Holding) -> str:
    return "made before, needed after" if holding.maker is not None else holding.kind


def _check(program: Program, profile: Profile, op: Op, table: Counter[_Row]) -> ScriptCheck:
    limit = profile.memory_bytes or 0
    kept = [f"values[{index}]" for index, item in enumerate(program.inputs) if item.origin]
    code = [_WATCH, _bytes_of(profile)]
    if table:
        rows = [
            f"        ({count}, {shape}, torch.{dtype}),  # {kind}" for (shape, dtype, kind), count in table.items()
        ]
        kinds = ", ".join(dict.fromkeys(kind for _, _, kind in table))
        code.append(_HELD.format(kinds=kinds, rows="\n".join(rows)))
        kept.append("*held()")
    body = _BODY.format(limit=limit, accelerator=profile.name, throughout=", ".join(kept))
    seeks = f"more than {limit} bytes ({in_bytes(limit)}) have to be alive while {op.overload} runs"
    return ScriptCheck(seeks, _IMPORTS, "\n\n\n".join(code), body)


def _bytes_of(profile: Profile) -> str:
    """The script's count; it knows dtypes that the accelerator keeps as others."""
    widths = {
        dtype: profile.device_bytes(dtype, getattr(torch, dtype).itemsize)
        for dtype in profile.stored_as
        if isinstance(getattr(torch, dtype, None), torch.dtype)
    }
    odd = [f"torch.{dtype}: {width}" for dtype, width in widths.items() if width != getattr(torch, dtype).itemsize]
    if not odd:
        return _BYTES.format(stored="", width="tensor.itemsize")
    stored = f"    stored = {{{', '.join(odd)}}}  # bytes of an element there, where it is kept as another dtype\n"
    return _BYTES.format(stored=stored, width="stored.get(tensor.dtype, tensor.itemsize)")


def _neighbour(part: _Part) -> str:
    """The smallest of the tensors that are needed to pass the bound, away."""
    if not part.others:
        return f"the accelerator has {in_bytes(part.peak.bytes)} or more"
    last = part.others[-1]
    sizes = ", ".join(map(str, last.meta.shape))
    return f"one tensor of {last.meta.dtype}[{sizes}] ({in_bytes(last.bytes)}) is not alive then"
