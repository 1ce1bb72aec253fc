"""What a model and the process are like before a run, put back after it: every side starts from the same.

Attributes, buffers and inputs are `capture.running.modules.Snapshot`'s business; here are gradients, modes, random
numbers and, where a run may write to them, parameters.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import torch

from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.seeding import seed_host
from inductor_debug.kerneldiff.execution.random_numbers import RandomState


class RunState:
    """A target's state when this was made; `restore` may be called many times.

    Args:
        target: its module's buffers, attributes, gradients, modes and its inputs are remembered.
        parameters: remember the parameters' values as well, which costs their memory once more.
    """

    def __init__(self, target: BuiltTarget, *, parameters: bool) -> None:
        self._snapshot = Snapshot(target)
        self._random = _random_state()
        self._default = torch.get_default_dtype()
        module = target.module
        self._modes = [] if module is None else [(part, part.training) for part in foreign.parts_of(module)]
        found = [] if module is None else list(module.parameters())
        self._gradients = [(parameter, parameter.grad, parameter.requires_grad) for parameter in found]
        self._values = [
            (parameter, parameter._version, parameter.detach().clone() if parameters else None) for parameter in found
        ]

    def restore(self) -> None:
        """Puts everything back."""
        self._snapshot.restore()
        torch.set_default_dtype(self._default)
        for part, training in self._modes:
            part.training = training
        for parameter, gradient, requires in self._gradients:
            parameter.grad = gradient
            if parameter.is_leaf:
                parameter.requires_grad_(requires)
        with torch.no_grad():
            for parameter, version, values in self._values:
                if values is not None and parameter._version != version:
                    parameter.copy_(values)

    def finish(self) -> None:
        """Puts everything back for good, random numbers included."""
        self.restore()
        _restore_random(self._random)


def seed_everything(seed: int) -> None:
    """Starts torch's, Python's and (where it is loaded) numpy's random numbers from `seed`."""
    torch.manual_seed(seed)
    seed_host(seed)


def _random_state() -> tuple[Any, ...]:
    numpy = sys.modules.get("numpy")
    return RandomState.now(), random.getstate(), numpy.random.get_state() if numpy is not None else None


def _restore_random(state: tuple[Any, ...]) -> None:
    tensors, python, other = state
    tensors.restore()
    random.setstate(python)
    if other is not None:
        sys.modules["numpy"].random.set_state(other)
