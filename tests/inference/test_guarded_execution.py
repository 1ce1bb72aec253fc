"""Code that is broken off leaves nothing half done behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import FunctionType

import pytest
from inductor_debug.capture.inference.values.guarded_execution import TooLongError, at_most

pytestmark = pytest.mark.torch


def _busy(done: list[str]) -> None:
    """What keeps an operation busy for far longer than it may take, however busy the machine is, and then ends it."""
    until = time.process_time() + 0.2
    done.append("begun")
    while time.process_time() < until:
        pass
    done.append("ended")


def _run(operation: Callable[[list[str]], None], done: list[str]) -> None:
    operation(done)
    while True:
        pass


def test_an_operation_on_tensors_without_values_is_ended_before_the_code_around_it_is_broken_off() -> None:
    """A fake mode that is left in the middle of one (`in_kernel_invocation`) refuses every later operation."""
    operation = FunctionType(_busy.__code__, {"__name__": "torch._subclasses.fake_tensor", "time": time})
    done: list[str] = []
    with pytest.raises(TooLongError), at_most(0.01):
        _run(operation, done)
    assert done[-1] == "ended"


def test_other_code_is_broken_off_at_once() -> None:
    done: list[str] = []
    with pytest.raises(TooLongError), at_most(0.01):
        _busy(done)
    assert done == ["begun"]
