"""Entries: expressions that build what only they can build (`build_model(Cfg())`), from a directive or from outside.

An entry is evaluated once for each time the file is loaded, right after it, as its last line would be. What it raises
is kept, so that the target is told as one that could not be built. Nothing here evaluates or builds by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.capture.running.target import Call
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.interception import unwrap
from inductor_debug.capture.targets.candidates import Candidate, CandidateOrigin, Recipe, as_calls
from inductor_debug.capture.targets.declared_targets import DeclaredTarget
from inductor_debug.capture.targets.object_kinds import identity_of, is_function
from inductor_debug.system.torch_names import refuse

Evaluate = Callable[[Recipe], Any]
"""Runs a recipe as the file itself is run; raises what it raises."""


class NoModelError(Exception):
    """What an entry gives is nothing that could be compiled."""


@dataclass(frozen=True)
class Entered:
    """What came of one entry.

    `subject` is what is called, `calls` the inputs that came with it; `error` is there where there is no subject.
    """

    declared: DeclaredTarget
    subject: Any = None
    calls: tuple[Call, ...] = ()
    error: BaseException | None = None

    @property
    def name(self) -> str:
        """What the target is called: as the user wrote it."""
        return self.declared.name

    @property
    def what(self) -> str:
        """How a message calls it."""
        return f"the entry `{self.declared.name}`"

    def candidate(self, module: str) -> Candidate | None:
        """The candidate; None where nobody gave inputs, so that they have to be inferred.

        Args:
            module: the name of the module that the file is.
        """
        declared = self.declared
        if self.error is None and not (self.calls or declared.inputs or self._needs_no_inputs()):
            return None
        calls = list(self.calls)

        def inputs() -> Call:
            if declared.inputs is not None:
                calls[:] = as_calls(declared.inputs.run())
            return calls[0] if calls else ((), {})

        given = declared.inputs or declared.entry
        assert given is not None
        return Candidate(
            name=self.name,
            origin=CandidateOrigin.ENTRY,
            location=declared.location,
            model=Recipe(self._model, declared.location, self.what),
            inputs=Recipe(inputs, given.location, f"the inputs of {self.what}", given.frames),
            identity=identity_of(self.subject, module) if self.error is None else (),
            training=declared.training,
            dynamic=declared.dynamic,
            fullgraph=declared.fullgraph,
            more=lambda: calls[1:],
        )

    def _model(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.subject

    def _needs_no_inputs(self) -> bool:
        return is_function(self.subject) and foreign.needs_no_arguments(self.subject)


def entered(declared: DeclaredTarget, evaluate: Evaluate) -> Entered:
    """Evaluates the entry of a declared target, and takes apart what it gives."""
    assert declared.entry is not None
    try:
        value = unwrap(evaluate(declared.entry))
    except BaseException as error:
        refuse(error)
        return Entered(declared, error=error)
    subject, calls = value, tuple[Call, ...]()
    if type(value) in (tuple, list) and len(value) == 2 and _can_be_compiled(unwrap(value[0])):
        subject, calls = unwrap(value[0]), tuple(as_calls(value[1]))
    if _can_be_compiled(subject):
        return Entered(declared, subject, calls)
    kind = f"the class {foreign.name_of(subject)}" if foreign.is_a(subject, type) else f"a {type(subject).__name__}"
    words = f"it gives {kind}, which cannot be called with inputs"
    hint = "write a call of it" if foreign.is_a(subject, type) else "give a module, a function, or (model, inputs)"
    return Entered(declared, error=NoModelError(f"{words}: {hint}"))


def _can_be_compiled(value: Any) -> bool:
    return foreign.is_a(value, torch.nn.Module) or is_function(value)
