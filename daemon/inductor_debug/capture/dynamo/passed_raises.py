"""What Dynamo meets behind an expression that raises: it traces some of what Python refuses as if nothing had happened.

A tensor that requires gradients and is asked for its NumPy array, an `autograd.Function` of old: an eager run ends
there, and nobody is ever hindered by what breaks a graph further on. Nothing is read off the order of lines: a loop may
have come to a line before. Dynamo is behind once its trace has completed that instruction as often as the run began it.

`step` of `torch._dynamo.symbolic_convert.InstructionTranslatorBase`, with its `instructions` and `instruction_pointer`,
is private and was read in torch 2.11 to 2.13; where it is gone, nothing counts as behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from inductor_debug.capture.dynamo.dynamo_positions import chain_of
from inductor_debug.capture.running.raising import Raising


@dataclass
class PassedRaise:
    """Whether what Dynamo traces stands behind the place where a run ends.

    `times` is how often the run began the instruction, 0 where that is not known.
    """

    raising: Raising | None
    times: int
    _root: object = None
    _completed: int = 0
    _went_on: bool = False

    @property
    def is_behind(self) -> bool:
        """Whether the running trace, or one that it carries on, has come past the place."""
        return self._went_on or 0 < self.times <= self._completed

    def breaks_off(self, *, gives_up: bool) -> None:
        """Takes in that a graph breaks: what comes next carries on from there, unless all runs eagerly again."""
        self._went_on = self._went_on or (self.is_behind and not gives_up)
        self._completed = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follows each trace while it is entered."""
        from torch._dynamo import symbolic_convert

        translator: Any = getattr(symbolic_convert, "InstructionTranslatorBase", None)
        original = getattr(translator, "step", None)
        if original is None or self.raising is None or not self.times:
            yield
            return
        translator.step = self._watched(original, self.raising)
        try:
            yield
        finally:
            translator.step = original

    def _watched(self, original: Callable[[Any], bool], raising: Raising) -> Callable[[Any], bool]:
        def step(translator: Any) -> bool:
            if not raising.is_in(translator.f_code):
                return original(translator)
            *_, root = chain_of(translator)
            if root is not self._root:  # each attempt begins anew
                self._root, self._completed = root, 0
            at = translator.instruction_pointer
            more = original(translator)
            # What is raised and caught leads elsewhere.
            went_through = at is not None and translator.instruction_pointer == at + 1
            if went_through and translator.instructions[at].offset == raising.offset:
                self._completed += 1
            return more

        return step
