"""Gives a call that runs without values the dtypes that torch takes where there are values.

What a name suggests (`time` as whole numbers) is a guess, and kernels without values take any dtype: a linear layer is
given whole numbers and nothing is raised. Where torch would refuse that, other dtypes are tried; where all are
refused the call stays as it was, and what the class does with it is told as its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch

from inductor_debug.capture.inference.guessing.precision import precision_of
from inductor_debug.capture.inference.search.dtype_watch import DtypeWatch
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.spec_changes import replaced
from inductor_debug.capture.inference.specs.specs import Guess, TensorSpec
from inductor_debug.capture.tensors.real_check import lacks_kernel
from inductor_debug.rules.recording import operators

_MOST_OTHERS = 16
_HALVES = ("bfloat16", "float16")


def with_agreeing_dtypes(trials: Trials, guess: Guess, plan: Callable[[], CallPlan]) -> Guess:
    """A call like `guess`, which runs, that torch does not refuse for its dtypes; `guess` where there is none."""
    if not guess.tensors() or not _is_refused(trials, guess):
        return guess
    for number, other in enumerate(_others(guess, precision_of(trials.subject))):
        if number >= _MOST_OTHERS:
            break
        if plan().allows(other) and trials.run(other).error is None and not _is_refused(trials, other):
            return other
    return guess


def _is_refused(trials: Trials, guess: Guess) -> bool:
    watch = _KernelWatch()
    trials.watched(guess, lambda args, kwargs: watch)
    return watch.is_refused


def _others(guess: Guess, precision: str) -> Iterator[Guess]:
    """The call with other dtypes: floating ones for all that have others, for each, and the other way round."""
    specs = dict.fromkeys(guess.tensors())
    whole = [item for item in specs if "float" not in item[1].dtype]
    if len(whole) > 1:
        yield _changed(guess, dict.fromkeys(whole, precision))
    yield from (_changed(guess, {item: precision}) for item in whole)
    yield from (_changed(guess, {item: "int64"}) for item in specs if item[1].dtype != "int64")
    yield from in_half_precision(guess)


def in_half_precision(guess: Guess) -> Iterator[Guess]:
    """The call as models are given it that are trained in half precision: some convert their weights while they run."""
    floats = [item for item in dict.fromkeys(guess.tensors()) if "float" in item[1].dtype]
    yield from (_changed(guess, dict.fromkeys(floats, dtype)) for dtype in _HALVES if floats)


def _changed(guess: Guess, dtypes: dict[tuple[str, TensorSpec], str]) -> Guess:
    for (name, old), dtype in dtypes.items():
        guess = replaced(guess, name, old, replace(old, dtype=dtype, filled=""))
    return guess


class _KernelWatch(DtypeWatch):  # type: ignore[no-untyped-call]
    """Notes also convolutions of other dtypes than their weights, and what torch has no kernel of whole numbers for."""

    def __init__(self) -> None:
        super().__init__()
        self._refused = False

    @property
    def is_refused(self) -> bool:
        """Whether torch would refuse some operation for the dtypes that it was given."""
        return self.mixed or self._refused

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        floats = [value.is_floating_point() or value.is_complex() for value in args if isinstance(value, torch.Tensor)]
        if floats and not all(floats) and not self.is_refused:
            mixing = operators.convolves(str(getattr(func, "overloadpacket", ""))) and any(floats)
            self._refused = mixing or (not any(floats) and lacks_kernel(func, args, kwargs or {}))
        return super().__torch_dispatch__(func, types, args, kwargs)
