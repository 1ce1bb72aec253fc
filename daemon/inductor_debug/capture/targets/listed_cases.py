"""ParityBench's convention: a list `TESTCASES` of `(class, constructor's arguments, inputs, …)`, the two as functions.

Each of these functions gives `(args, kwargs)`. A list of that name that holds anything else is nobody's convention, and
nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.capture.running.target import Call
from inductor_debug.capture.runtime import foreign

LIST = "TESTCASES"


@dataclass(frozen=True, slots=True)
class ListedCase:
    """A class of models, and the functions of the user's that give what it is built and called with."""

    kind: type
    built_with: Callable[[], Any]
    called_with: Callable[[], Any]

    def build(self) -> Any:
        """The model."""
        args, kwargs = self.built_with()
        return self.kind(*args, **kwargs)

    def call(self) -> Call:
        """What it is called with."""
        args, kwargs = self.called_with()
        return tuple(args), dict(kwargs)


def listed_cases(value: Any) -> Iterator[ListedCase]:
    """The cases of a list as ParityBench writes it; none of anything else. Nothing of it is called."""
    if type(value) is not list or not all(type(case) is tuple and len(case) == 4 for case in value):
        return
    for kind, built_with, called_with, _ in value:
        is_model = foreign.is_a(kind, type) and issubclass(kind, torch.nn.Module)
        if is_model and callable(built_with) and callable(called_with):
            yield ListedCase(kind, built_with, called_with)
