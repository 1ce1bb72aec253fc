"""Names for the values of a program: readable, unique, and never one that Python or the script itself needs."""

from __future__ import annotations

import builtins
import dataclasses
import keyword
import os
import re
from collections.abc import Iterable, Mapping

from inductor_debug.repro.program.program import Body, Program, ProgramStep, Ref, StepKind, mapped

_RESERVED = frozenset(
    {"torch", "functional", "sys", "math", "operator", "traceback", "seed", "function", "inputs", "failing", "check"}
    | set(keyword.kwlist)
    | set(keyword.softkwlist)
    | set(dir(builtins))
)
_LONGEST = 40


class ValueNames:
    """Names given out so far; those that are `taken` already never are."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken: dict[str, int] = dict.fromkeys(taken, 1)

    def take(self, wanted: str) -> str:
        """An identifier as near to `wanted` as can be: `encoder.0.weight` gives `encoder_0_weight`."""
        name = re.sub(r"\W+", "_", wanted).strip("_").lower() or "value"
        if len(name) > _LONGEST:
            name = name[-_LONGEST:].strip("_")
        if name[0].isdigit() or name in _RESERVED or not name.isidentifier():
            name = f"value_{name}" if name[0].isdigit() else f"{name}_value"
        count = self._taken.get(name, 0)
        self._taken[name] = count + 1
        if count == 0:
            return name
        return self.take(f"{name}_{count + 1}")


def file_name(source: str, subject: str) -> str:
    """What the script about `subject`, made of the file `source`, is called. The name needs no quotes anywhere."""
    stem = os.path.splitext(os.path.basename(source))[0]
    words = (re.sub(r"\W+", "_", word, flags=re.ASCII).strip("_") for word in ("repro", stem, subject))
    return "_".join(filter(None, words)) + ".py"


def tidied(program: Program) -> Program:
    """The same program with its values named afresh: inputs after what they were, results after their operators."""
    return _tidied(program)[0]


def _tidied(program: Program) -> tuple[Program, dict[str, str]]:
    """The program, and the new names by the old ones."""
    names: dict[str, str] = {}
    taken = ValueNames()
    for item in program.inputs:
        names[item.name] = taken.take(item.origin.split(" ", 1)[1] if " " in item.origin else "x")
    for step in program.steps:
        for name in step.outputs:
            if name and name not in names:
                names[name] = taken.take(_plain(step))

    def change(item: object) -> object:
        if isinstance(item, Body):
            program, inner = _tidied(item.program)
            return Body(taken.take(item.name), program, mapped(item.result, lambda leaf: _renamed(leaf, inner)))
        return _renamed(item, names)

    def named(all_names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in all_names)

    inputs = tuple(
        dataclasses.replace(item, name=names[item.name], base=names.get(item.base, "")) for item in program.inputs
    )
    steps = tuple(
        dataclasses.replace(
            step,
            args=mapped(step.args, change),
            kwargs=mapped(step.kwargs, change),
            outputs=named(step.outputs),
            mutates=named(step.mutates),
        )
        for step in program.steps
    )
    return Program(inputs, steps, named(program.outputs)), names


def _renamed(item: object, names: Mapping[str, str]) -> object:
    return Ref(names.get(item.name, item.name)) if isinstance(item, Ref) else item


def _plain(step: ProgramStep) -> str:
    """`softmax` for `aten._softmax.default`, `linear` for `torch.nn.functional.linear`."""
    parts = step.target.split(".")
    word = parts[-2] if len(parts) > 2 and step.kind is StepKind.OPERATOR else parts[-1]
    return {"_to_copy": "converted", "getitem": "item", "_unsafe_view": "view"}.get(word, word.strip("_")) or "value"
