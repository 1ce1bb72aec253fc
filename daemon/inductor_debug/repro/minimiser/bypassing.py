"""Shorter programs in which a step's result is replaced by a value that looks just like it.

`transpose(transpose(x))` becomes `x`, a residual block its input: what delta debugging by freezing cannot do where the
failure needs the values to be connected.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from inductor_debug.repro.program.program import Program, Ref, Spec, cone, cut


def bypasses(program: Program) -> Iterator[Program]:
    """Programs without one or more steps each, those that lose most first."""
    specs: dict[str, Spec | None] = {item.name: item.spec for item in program.inputs}
    candidates: list[tuple[int, str, str]] = []
    made: dict[str, int] = {item.name: -1 for item in program.inputs}
    for index, step in enumerate(program.steps):
        for name, spec in zip(step.outputs, step.specs, strict=True):
            if not name or name in made:
                continue
            if spec is not None and not step.mutates:
                candidates += [
                    (index - where, name, earlier)
                    for earlier, where in made.items()
                    if earlier in _ancestors(program, index) and specs.get(earlier) == spec
                ]
            made[name] = index
            specs[name] = spec
    for _, name, earlier in sorted(candidates, key=lambda item: -item[0]):
        candidate = _without(program, name, earlier)
        if 0 < len(candidate.steps) < len(program.steps):
            yield candidate


def _ancestors(program: Program, index: int) -> set[str]:
    """All values that a step depends on."""
    found = set(program.steps[index].uses())
    for earlier in range(index - 1, -1, -1):
        if not found.isdisjoint(program.steps[earlier].outputs):
            found.update(program.steps[earlier].uses())
    return found


def _without(program: Program, name: str, earlier: str) -> Program:
    """The program that uses `earlier` in place of `name`, and has no step that only made `name`."""
    steps = tuple(step.replaced({name: Ref(earlier)}) for step in program.steps)
    outputs = tuple(dict.fromkeys(earlier if output == name else output for output in program.outputs))
    changed = dataclasses.replace(program, steps=steps, outputs=outputs)
    return cut(changed, cone(changed, outputs), outputs)
