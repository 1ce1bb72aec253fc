"""From a finding about a constraint to scripts of it: cut out, name the nearest change that mends, run or pretend to.

It decides nothing about rules and prints nothing itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from inductor_debug_schema import Finding

from inductor_debug.repro.kinds.looks import RecordingLook
from inductor_debug.repro.kinds.neighbours import neighbour_of
from inductor_debug.repro.program.constraint_cuts import Slice, sliced
from inductor_debug.repro.program.program import Program, Spec
from inductor_debug.repro.program.stand_ins import is_foreign
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer
from inductor_debug.repro.script.script_checks import constraint_check
from inductor_debug.repro.script.writing import Header, script

LARGEST_REAL = 128 << 20
"""Bytes of tensors up to which a script computes on real ones."""


def constraint_drafts(look: RecordingLook, finding: Finding, header: Header, name: str) -> Iterator[Reproducer]:
    """Scripts for a finding of the look: on real tensors where those are small enough, then on fake ones.

    Raises:
        NotReproducibleError: the recording does not have the finding.
        UnprintableError: an argument of the operator has no form as Python code.
    """
    profile = look.profile
    found = sliced(look.recording, profile, finding, look.fallback)
    if found is None:
        raise NotReproducibleError("no part of what ran breaks the rule by itself, so there is nothing to cut out")
    program, foreign = found.program, is_foreign(found.program)
    neighbour = neighbour_of(found, profile)
    notes = [*header.notes, *_notes(found), *([f"the failure goes when {neighbour}"] if neighbour else [])]
    header = dataclasses.replace(header, notes=notes)
    for fake in (False, True) if _bytes(program) <= LARGEST_REAL else (True,):
        text = script(program, constraint_check(found, profile, fake=fake), header)
        yield Reproducer(
            text, name, found.nodes_before, len(program.steps), found.attempts, neighbour=neighbour, foreign=foreign
        )


def _notes(found: Slice) -> list[str]:
    notes = [f"the size {symbol} was symbolic; here it is {number}" for symbol, number in found.symbols.items()]
    notes = notes[:4]
    if is_foreign(found.program):
        notes.append("an operator of the project's own is replaced by a stand-in with its schema")
    return notes


def _bytes(program: Program) -> int:
    specs = [item.spec for item in program.inputs] + [spec for step in program.steps for spec in step.specs]
    return sum(_size(spec) for spec in specs if spec is not None)


def _size(spec: Spec) -> int:
    count = _WIDTHS.get(spec.dtype, 4)
    for size in spec.shape:
        count *= size
    return count


_WIDTHS = {"float64": 8, "int64": 8, "complex64": 8, "complex128": 16, "float16": 2, "bfloat16": 2, "bool": 1}
