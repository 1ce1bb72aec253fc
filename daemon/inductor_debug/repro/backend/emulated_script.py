"""From an emulated accelerator's wrong numbers on a target to a script of plain torch that shows them.

The search is that of backends (`backend_script`); what a program is judged with is the very text that its script has
(`emulated_checks`), so a script never shows anything else than what was reduced. No device takes part.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.repro.backend.backend_oracle import ATTEMPT_SECONDS, Manner, Symptom, made
from inductor_debug.repro.backend.backend_script import BackendScript
from inductor_debug.repro.backend.emulated_checks import Numbers, arithmetic_text, emulated_check
from inductor_debug.repro.backend.exported_script import exported
from inductor_debug.repro.minimiser.attempts import AttemptEnding, attempt
from inductor_debug.repro.minimiser.oracle import OracleVerdict
from inductor_debug.repro.program.bodies import has_bodies
from inductor_debug.repro.program.capturing import CapturedGraph, Whole
from inductor_debug.repro.program.literals import UnprintableError
from inductor_debug.repro.program.program import Program
from inductor_debug.repro.program.program_execution import tensors_of
from inductor_debug.repro.script.backend_source import known_to_torch
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer
from inductor_debug.repro.script.script_checks import ScriptCheck
from inductor_debug.repro.script.writing import Header, function_source


class EmulatedOracle:
    """Asks whether the accelerator's numbers are wrong on a program in the way that is sought.

    `original` are the inputs of the whole program that hold values which the accelerator has not.
    """

    deterministic = True

    def __init__(
        self,
        numbers: Numbers,
        symptom: Symptom,
        recorded: Mapping[str, torch.Tensor],
        manner: Manner,
        original: frozenset[str] = frozenset(),
    ) -> None:
        self._numbers, self._symptom, self._recorded, self._manner = numbers, symptom, recorded, manner
        self._original = original
        text = arithmetic_text(numbers, manner)  # what judges: verdicts of another text are not this one's
        self.fingerprint = "|".join((text, symptom.exception, torch.__version__, *sorted(original)))

    def judge(self, program: Program) -> OracleVerdict:
        """Runs the program ideally and emulated, in a child."""
        sought = self._symptom.exception
        found = emulated_symptom(
            program, self._numbers, self._recorded, self._manner, sought=sought, original=self._original
        )
        return OracleVerdict(bool(found.kind), found.words)


class EmulatedScript(BackendScript):
    """One search for what the arithmetic of `numbers` does to `target`; the other arguments are those of backends."""

    manners = (Manner(), Manner(backward=True))

    def __init__(
        self,
        target: BuiltTarget,
        numbers: Numbers,
        memo: Path | None,
        progress: Callable[..., None],
        keep: Callable[[Reproducer, str], None],
    ) -> None:
        super().__init__(target, known_to_torch(numbers.accelerator), memo, progress, keep)
        self._numbers = numbers
        self._called = f"the arithmetic of {numbers.accelerator}, emulated from its profile"

    def run(self, header: Header, name: str) -> Reproducer | None:
        """As of backends; the script says that no device is in it."""
        note = (
            f"{self._numbers.accelerator} is emulated from its profile, in the lines below: this shows what its number "
            "format does, not what a device did"
        )
        unseen = [f"the profile also has {self._numbers.unseen}"] if self._numbers.unseen else []
        return super().run(dataclasses.replace(header, notes=[*header.notes, note, *unseen]), name)

    def _whole(self, graph: CapturedGraph) -> Whole:
        whole = super()._whole(graph)
        if has_bodies(whole.program):
            raise UnprintableError("a higher-order operator, which no emulated arithmetic can run")
        return whole

    def _unprintable(
        self, graph: CapturedGraph, refusal: UnprintableError, header: Header, name: str
    ) -> Reproducer | None:
        why = f"the graph cannot be written as code because of {refusal}; it is exported instead"
        raise NotReproducibleError(why, export=exported(graph)) from refusal

    def _symptom(self, whole: Whole, manner: Manner) -> Symptom:
        return emulated_symptom(whole.program, self._numbers, whole.values, manner)

    def _words(self, symptom: Symptom) -> str:
        return symptom.message

    def _oracle(self, symptom: Symptom, whole: Whole, manner: Manner) -> EmulatedOracle:
        values = tensors_of(whole.program, whole.values)
        given = [values[item.name] for item in whole.program.arguments]
        original = lost_inputs(whole.program, given, self._numbers)
        return EmulatedOracle(self._numbers, symptom, whole.values, manner, original)

    def _check(self, symptom: Symptom, manner: Manner) -> ScriptCheck:
        return emulated_check(self._numbers, symptom.exception, manner)


def emulated_symptom(
    program: Program,
    numbers: Numbers,
    recorded: Mapping[str, torch.Tensor],
    manner: Manner,
    *,
    sought: str = "",
    original: frozenset[str] = frozenset(),
) -> Symptom:
    """What the arithmetic does to the program: `exception` is the kind of wrong number.

    Args:
        program: what is run.
        numbers: the arithmetic.
        recorded: the values of inputs that are not seeded.
        manner: with or without the backward pass.
        sought: the kind that counts, "" for every one.
        original: inputs that may hold values which the accelerator has not; looked at only where a kind is sought.

    Raises:
        NotReproducibleError: the program cannot be run so, and no kind is sought.
    """
    try:
        source = function_source(program)
    except UnprintableError:
        return Symptom("")
    inputs = [item.name for item in program.arguments]

    def given() -> list[Any]:
        values = tensors_of(program, recorded)
        return [values[name] for name in inputs]

    def work() -> dict[str, Any]:
        if sought and lost_inputs(program, given(), numbers) - original:
            return {"kind": ""}  # the wrong number came in with a value that the accelerator would have lost before
        wrong = list(_definitions(numbers, manner)["measured"](made(source), given))
        chosen = [item for item in wrong if not sought or item[1] == sought]
        chosen.sort(key=lambda item: _KINDS.index(item[1]))
        if not chosen:
            return {"kind": ""}
        _, kind, ideal, seen, error, allowed = chosen[0]
        return {
            "kind": "differs",
            "exception": kind,
            "message": f"{seen:.6g} instead of {ideal:.6g}",
            "error": min(error, 1e30),
            "bound": allowed,
        }

    found = attempt(work, timeout=ATTEMPT_SECONDS)
    if found.ending is not AttemptEnding.DONE and not sought:
        raise NotReproducibleError(f"the operations could not be run with emulated numbers: {found.detail}")
    return Symptom(**found.answer) if found.ending is AttemptEnding.DONE else Symptom("")


_KINDS = ("NaN", "infinity", "wrong numbers")
"""The worst first."""


def lost_inputs(program: Program, values: Sequence[Any], numbers: Numbers) -> frozenset[str]:
    """The inputs of which a value becomes zero or infinite as soon as the accelerator has it, by source."""
    rounded = _definitions(numbers, Manner())["rounded"]
    found = set()
    for item, value in zip(program.arguments, values, strict=True):
        if isinstance(value, torch.Tensor) and value.dtype.is_floating_point:
            held = rounded(value)
            if bool(((held.isfinite() != value.isfinite()) | ((held == 0) != (value == 0))).any()):
                found.add(item.source)
    return frozenset(found)


@functools.lru_cache(maxsize=8)
def _definitions(numbers: Numbers, manner: Manner) -> dict[str, Any]:
    """The functions as scripts have them."""
    namespace: dict[str, Any] = {
        "torch": torch, "TorchDispatchMode": TorchDispatchMode, "tree_leaves": tree_leaves, "tree_map": tree_map
    }  # fmt: skip
    exec(compile(arithmetic_text(numbers, manner), "<emulated>", "exec"), namespace)
    return namespace
