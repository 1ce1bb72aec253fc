"""Runs of one target with a clock: a step, many steps of two sides in turn, and the memory that a step adds.

Two sides take turns, so that a machine that slows down slows both. What is warmed up is not counted.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from inductor_debug.capture.running.target import BuiltTarget

Step = Callable[[], None]
_WARM_UPS = 3
_MOST_RUNS = 400


@dataclass
class SideTimes:
    """The seconds of each run of one side."""

    seconds: list[float] = field(default_factory=list)


def step_of(target: BuiltTarget, function: Callable[..., Any], *, training: bool) -> Step:
    """One step of a target with its first inputs: the call, and where it trains the backward pass of all outputs."""

    def infer() -> None:
        with torch.no_grad():
            function(*target.args, **target.kwargs)

    def train() -> None:
        outputs = pytree.tree_leaves(function(*target.args, **target.kwargs))
        losses = [output.sum() for output in outputs if isinstance(output, torch.Tensor) and output.requires_grad]
        if not losses:
            raise RuntimeError("no output of it needs a gradient, so there is no backward pass to measure")
        torch.autograd.backward([loss.real if loss.is_complex() else loss for loss in losses])
        for parameter in target.module.parameters() if target.module is not None else ():
            parameter.grad = None

    return train if training else infer


def warmed_up(*steps: Step) -> None:
    """Runs steps that nobody counts."""
    for _ in range(_WARM_UPS):
        for step in steps:
            step()


def in_turn(steps: Sequence[Step], device: torch.device, *, repeats: int, seconds: float) -> list[SideTimes]:
    """The times of several sides: each at least `repeats` times, and more while there are `seconds` left for it."""
    times = [SideTimes() for _ in steps]
    warmed_up(*steps)
    settle(device)
    began = time.perf_counter()
    while len(times[0].seconds) < _MOST_RUNS:
        if len(times[0].seconds) >= repeats and time.perf_counter() - began > seconds * len(steps):
            break
        for step, side in zip(steps, times, strict=True):
            start = time.perf_counter()
            step()
            settle(device)
            side.seconds.append(round(time.perf_counter() - start, 9))
    return times


def added_bytes(step: Step, device: torch.device) -> int | None:
    """What one more step adds at its peak to the memory that there is; None where nobody can say."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        step()
        settle(device)
        return torch.cuda.max_memory_allocated(device) - before
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # What earlier steps have given back the C library keeps, so that one more would add nothing (glibc).
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as stream:
            stream.write("5")  # the kernel begins anew to look for the largest resident size
        before = _resident("VmRSS")
        step()
        return max(_resident("VmHWM") - before, 0)
    return None


def device_of(target: BuiltTarget) -> torch.device:
    """Where the target runs: the device of the first tensor that lies on no CPU, else the CPU."""
    return next((tensor.device for tensor in _tensors(target) if tensor.device.type != "cpu"), torch.device("cpu"))


def threads() -> int:
    """How many threads torch computes with."""
    return min(torch.get_num_threads(), os.cpu_count() or 1)


def _tensors(target: BuiltTarget) -> Iterator[torch.Tensor]:
    if target.module is not None:
        yield from target.module.parameters()
        yield from target.module.buffers()
    yield from (leaf for leaf in pytree.tree_leaves((target.args, target.kwargs)) if isinstance(leaf, torch.Tensor))


def settle(device: torch.device) -> None:
    """Waits until the device has done all that it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def _resident(name: str) -> int:
    with open("/proc/self/status") as stream:
        line = next(line for line in stream if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024
