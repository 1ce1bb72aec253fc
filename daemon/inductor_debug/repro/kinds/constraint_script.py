"""From a finding about a constraint to its script: cut out, choose how it runs, name the nearest change that mends.

It decides nothing about rules and prints nothing itself.
"""

from __future__ import annotations

from inductor_debug_schema import Finding, Location

from inductor_debug.accelerators.profile import Profile
from inductor_debug.repro.kinds.memory_script import memory_script
from inductor_debug.repro.kinds.neighbours import neighbour_of
from inductor_debug.repro.program.constraint_cuts import Slice, sliced
from inductor_debug.repro.program.program import Program, Spec
from inductor_debug.repro.program.stand_ins import is_foreign
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer, works
from inductor_debug.repro.script.script_checks import constraint_check
from inductor_debug.repro.script.writing import Header, script
from inductor_debug.rules.catalog.constraints.peak_memory import PeakMemoryRule
from inductor_debug.rules.recording.ops import Recording

LARGEST_REAL = 128 << 20
"""Bytes of tensors up to which a script computes on real ones."""


def constraint_script(
    recording: Recording,
    profile: Profile,
    finding: Finding,
    fallback: Location,
    header: Header,
    name: str,
    *,
    trial: bool = True,
) -> Reproducer:
    """The script for a finding of the recording, tried in a forked child where it can be, unless `trial` is False.

    Raises:
        NotReproducibleError: the recording does not have the finding.
        UnprintableError: an argument of the operator has no form as Python code.
    """
    if finding.rule == PeakMemoryRule.id:
        return memory_script(recording, profile, header, name, trial=trial)
    found = sliced(recording, profile, finding, fallback)
    if found is None:
        raise NotReproducibleError("no part of what ran breaks the rule by itself, so there is nothing to cut out")
    notes = [*header.notes, *_notes(found)]
    neighbour = neighbour_of(found, profile)
    if neighbour:
        notes.append(f"the failure goes when {neighbour}")
    trial = trial and not is_foreign(found.program)
    made: Reproducer | None = None
    for fake in (False, True) if _bytes(found.program) <= LARGEST_REAL else (True,):
        text = script(
            found.program,
            constraint_check(found, profile, fake=fake),
            Header(header.failure, header.place, header.source, header.target, notes),
            name=name,
        )
        made = Reproducer(text, name, found.nodes_before, len(found.program.steps), found.attempts, neighbour=neighbour)
        if not trial or works(text):
            return made
    assert made is not None
    return made


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
