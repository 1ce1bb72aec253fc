"""Where torch's random numbers stand, on the CPU and on an accelerator in use, so that sides draw the same ones.

No device is started for it. Nothing is drawn here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class RandomState:
    """The state of the CPU's generator and of those of each device of an accelerator."""

    host: torch.Tensor
    devices: tuple[tuple[Any, tuple[int, ...], torch.Tensor], ...] = ()
    """A device's module of torch, the index it is asked with, and the state."""

    @classmethod
    def now(cls) -> RandomState:
        """As it is."""
        return cls(torch.get_rng_state(), tuple(_device_states()))

    def restore(self) -> None:
        """Goes on from here."""
        torch.set_rng_state(self.host)
        for module, index, state in self.devices:
            module.set_rng_state(state, *index)


@contextlib.contextmanager
def random_state_kept() -> Iterator[RandomState]:
    """Random numbers go on afterwards as if nothing had been drawn."""
    state = RandomState.now()
    try:
        yield state
    finally:
        state.restore()


def _device_states() -> Iterator[tuple[Any, tuple[int, ...], torch.Tensor]]:
    device = torch.accelerator.current_accelerator()
    if device is None:
        return
    try:
        module = torch.get_device_module(device)
    except RuntimeError:  # an accelerator's name without its package
        return
    started = getattr(module, "is_initialized", None)
    if not hasattr(module, "get_rng_state") or (started is not None and not started()):
        return
    # Apple's only GPU is asked for without an index.
    indices: list[tuple[int, ...]] = [()] if device.type == "mps" else [(n,) for n in range(module.device_count())]
    for index in indices:
        yield module, index, module.get_rng_state(*index)
