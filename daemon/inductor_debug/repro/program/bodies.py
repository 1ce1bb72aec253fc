"""Functions among the arguments of a step: what `cond` and `while_loop` run, and what is left when they are taken away.

A body is a program of its own and reads nothing but its arguments. Nothing runs here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from inductor_debug.repro.program.program import Body, Program, ProgramStep, Ref, mapped
from inductor_debug.repro.program.value_names import ValueNames

_ITEM = "operator.getitem"


def bodies_of(step: ProgramStep) -> list[Body]:
    """The functions that a step is given, in order."""
    return [leaf for leaf in _leaves((step.args, step.kwargs)) if isinstance(leaf, Body)]


def all_steps(program: Program) -> Iterator[ProgramStep]:
    """The steps of a program, and behind each those of its bodies."""
    for step in program.steps:
        yield step
        for body in bodies_of(step):
            yield from all_steps(body.program)


def has_bodies(program: Program) -> bool:
    """Whether a step is given a function."""
    return any(map(bodies_of, program.steps))


def inlined(program: Program) -> Iterator[Program]:
    """Programs in which the steps of a body stand in place of the step that was given it: once, and in any case."""
    for index, step in enumerate(program.steps):
        given = [leaf for argument in step.args if isinstance(argument, (tuple, list)) for leaf in argument]
        for body in bodies_of(step):
            if len(given) == len(body.program.inputs) and isinstance(body.result, (tuple, list)) and step.outputs:
                yield _without(program, index, body, given)


def _without(program: Program, index: int, body: Body, given: list[Any]) -> Program:
    names = ValueNames(
        [item.name for item in program.inputs] + [name for step in program.steps for name in step.outputs]
    )
    known: dict[str, Any] = {item.name: value for item, value in zip(body.program.inputs, given, strict=True)}
    steps = list(program.steps[:index])
    for step in body.program.steps:
        moved = step.replaced(known)
        own = {name: names.take(name) for name in step.outputs if name and name not in known}
        known |= {name: Ref(fresh) for name, fresh in own.items()}
        steps.append(
            dataclasses.replace(moved, outputs=_renamed(step.outputs, known), mutates=_renamed(step.mutates, known))
        )
    results: dict[str, Any] = {program.steps[index].outputs[0]: mapped(body.result, lambda leaf: _given(leaf, known))}
    for step in program.steps[index + 1 :]:
        changed = step.replaced(results)
        value, place = (*changed.args, None, None)[:2]
        if step.target.endswith(_ITEM) and isinstance(value, (tuple, list)) and isinstance(place, int):
            results[step.outputs[0]] = value[place]
        else:
            steps.append(changed)
    outputs = [
        leaf.name for name in program.outputs for leaf in _leaves(results.get(name, Ref(name))) if isinstance(leaf, Ref)
    ]
    return Program(program.inputs, tuple(steps), tuple(dict.fromkeys(outputs)))


def _given(leaf: Any, known: Mapping[str, Any]) -> Any:
    return known.get(leaf.name, leaf) if isinstance(leaf, Ref) else leaf


def _renamed(names: tuple[str, ...], known: Mapping[str, Any]) -> tuple[str, ...]:
    found = (known.get(name) for name in names)
    return tuple(new.name if isinstance(new, Ref) else name for name, new in zip(names, found, strict=True))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
