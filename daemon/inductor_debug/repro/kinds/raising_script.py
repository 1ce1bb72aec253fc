"""From an exception that an operation of torch raises to its script: the operation alone, on what it was given.

There is nothing to search: the recorder knows which operation failed. What Python code raises by itself is no program
of operations: `python_script` makes a script of the statement.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from inductor_debug_schema import Finding
from torch.utils import _pytree as pytree

from inductor_debug.capture.tensors.real_check import real_error
from inductor_debug.capture.tensors.recorder import FailedOp
from inductor_debug.repro.kinds.looks import CodeLook
from inductor_debug.repro.kinds.python_script import statement_drafts
from inductor_debug.repro.minimiser.oracle import words_of
from inductor_debug.repro.program.capturing import with_statistics
from inductor_debug.repro.program.from_graph import literal_of
from inductor_debug.repro.program.program import Input, Program, ProgramStep, ProgramValues, Ref, StepKind
from inductor_debug.repro.program.program_execution import spec_of
from inductor_debug.repro.program.value_names import ValueNames
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer, written
from inductor_debug.repro.script.script_checks import raise_check
from inductor_debug.repro.script.writing import Header


def raised_drafts(look: CodeLook, finding: Finding, header: Header, name: str) -> Iterator[Reproducer]:
    """Scripts for what the look's run raised: of the operation that raised it, or else of the statement.

    Raises:
        NotReproducibleError: an operand has symbolic sizes, or the statement needs what cannot be written down.
        UnprintableError: an argument has no form as Python code.
    """
    assert look.seen is not None
    assert look.seen.error is not None
    error, failed = look.seen.error, look.seen.failed
    if failed is None or failed.error is not error:
        yield from statement_drafts(look, error, finding, header, name)
        return
    program, values = _program(failed, place=header.place.rsplit(":", 1)[0].rsplit("/", 1)[-1])
    shown = real_error(failed) or error
    check = raise_check(type(shown).__name__, words_of(str(shown)))
    before = len(look.seen.recording.ops) + 1
    for attempts, candidate in enumerate(_valued(program, values), start=1):
        made = written(candidate, values, check, header, name, before=before, attempts=attempts)
        made.why = "the operation alone does not raise the same exception"
        yield made


def _valued(program: Program, values: Mapping[str, torch.Tensor]) -> Iterator[Program]:
    """The program on seeded values alone, then with the recorded ones of one operand, then with all of them."""
    recorded = [item.name for item in program.inputs if item.name in values]
    for kept in ([], *([name] for name in recorded), recorded):
        inputs = [
            dataclasses.replace(item, values=ProgramValues.RECORDED) if item.name in kept else _seeded(item, values)
            for item in program.inputs
        ]
        yield dataclasses.replace(program, inputs=tuple(inputs))


def _seeded(item: Input, values: Mapping[str, torch.Tensor]) -> Input:
    return with_statistics(item, values[item.name]) if item.name in values else item


def _program(failed: FailedOp, *, place: str) -> tuple[Program, dict[str, torch.Tensor]]:
    names = ValueNames()
    inputs: dict[int, Input] = {}
    values: dict[str, torch.Tensor] = {}

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return literal_of(leaf)
        if id(leaf) not in inputs:
            name = names.take("x")
            spec = spec_of(leaf)
            if spec is None:
                raise NotReproducibleError("an operand of the failing operation has no strides or symbolic sizes")
            inputs[id(leaf)] = Input(name, dataclasses.replace(spec, requires_grad=False), source=name, bound=2)
            if type(leaf) in (torch.Tensor, torch.nn.Parameter):
                values[name] = leaf.detach()
        return Ref(inputs[id(leaf)].name)

    args = tuple(pytree.tree_map(convert, list(failed.args)))
    kwargs = tuple((key, pytree.tree_map(convert, value)) for key, value in failed.kwargs.items())
    step = ProgramStep(StepKind.OPERATOR, str(failed.function), args, kwargs, ("result",), (None,), place=place)
    return Program(tuple(inputs.values()), (step,), ("result",)), values
