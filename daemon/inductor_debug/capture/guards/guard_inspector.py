"""`GuardInspector`: graphs, breaks, guards and recompilations of a model, for scripts of one's own.

    report = GuardInspector(model).inspect((torch.randn(8, 64),), (torch.randn(9, 64),))
    print(report.summary())

The model is compiled by Dynamo with a backend that runs the graphs as they are: no code is generated. It is really
called, with the tensors given; afterwards its attributes and buffers are what they were, and what torch has compiled in
this process is forgotten.
"""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Callable
from typing import Any

import torch
from inductor_debug_schema import Location

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.guards.guards import run_guards
from inductor_debug.capture.targets.candidates import as_call
from inductor_debug.capture.targets.script_target import target_of
from inductor_debug.rules.recording.guard_facts import GuardReport
from inductor_debug.source.source_text import SourceText

__all__ = ["GuardInspector", "GuardReport"]


class GuardInspector:
    """Looks at what `torch.compile` makes of a model or function.

    Args:
        model: an `nn.Module` or a function.
        dynamic: as for `torch.compile`.
        project_root: files below it count as the user's own; by default the working directory.
    """

    def __init__(
        self, model: Callable[..., Any], *, dynamic: bool | None = None, project_root: str | None = None
    ) -> None:
        self._model = model
        self._dynamic = dynamic
        self._sources = SourceMap(project_root or os.getcwd())

    def inspect(self, *inputs: Any) -> GuardReport:
        """Calls the compiled model with each set of inputs in turn; a single set is used three times.

        Args:
            inputs: sets of inputs: a tuple or list of positional arguments, a dict of keyword arguments, or the only
                argument.

        Returns:
            What was captured. An exception of the model ends the run and is a note of the report.

        Raises:
            TypeError: no inputs were given.
        """
        if not inputs:
            raise TypeError("inspect() needs at least one set of inputs")
        location = _definition(self._model)
        target = target_of(self._model, inputs[0], dynamic=self._dynamic, location=location)
        buffers = list(self._model.buffers()) if isinstance(self._model, torch.nn.Module) else []
        before = [buffer.detach().clone() for buffer in buffers]
        try:
            outcome = run_guards(target, self._sources, [as_call(given) for given in inputs[1:]])
        finally:
            torch._dynamo.reset()
            gc.unfreeze()
            with torch.no_grad():
                # Batch normalisation writes its statistics without autograd's knowledge, so a snapshot misses them.
                for buffer, value in zip(buffers, before, strict=True):
                    buffer.copy_(value)
        return outcome.report


def _definition(model: Callable[..., Any]) -> Location:
    """Where a model's class or a function is defined; the beginning of nothing where no source is known."""
    defined: Any = type(model) if isinstance(model, torch.nn.Module) else inspect.unwrap(model)
    try:
        path = inspect.getsourcefile(defined) or "<unknown>"
        line = inspect.getsourcelines(defined)[1] - 1
    except (OSError, TypeError):
        return Location("<unknown>", SourceText("").line_range(0))
    text = SourceText.read(path)
    return Location(path, (text or SourceText("")).line_range(line if text is not None else 0))
