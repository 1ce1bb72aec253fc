"""Code that is broken off leaves nothing half done behind."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest
from inductor_debug.capture.inference.values.guarded_execution import TooLongError, at_most

pytestmark = pytest.mark.torch


def _busy(done: list[str], seconds: float = 0.2) -> None:
    """What keeps an operation busy for far longer than it may take, however busy the machine is, and then ends it."""
    until = time.process_time() + seconds
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
    module = {"__name__": "torch._subclasses.fake_tensor", "time": time}
    operation = FunctionType(_busy.__code__, module, argdefs=(0.2,))
    done: list[str] = []
    with pytest.raises(TooLongError), at_most(0.01):
        _run(operation, done)
    assert done[-1] == "ended"


@pytest.mark.parametrize("module", ["torch._library.simple_registry", "contextlib", "torch.jit._recursive"])
def test_what_torch_calls_where_nothing_may_be_raised_comes_to_its_end(module: str) -> None:
    """An exception in the lookup of an operation's rule ends the process; one in `__exit__` leaves a mode behind.

    A class that TorchScript has compiled by half cannot be compiled again ("Can't redefine method", torch 2.13).
    """
    ordered = FunctionType(_busy.__code__, {"__name__": module, "time": time}, argdefs=(0.2,))
    done: list[str] = []

    def user() -> None:
        ordered(done)
        _busy(done, 20.0)

    with pytest.raises(TooLongError), at_most(0.01):
        user()
    assert done == ["begun", "ended", "begun"]


def test_other_code_is_broken_off_at_once() -> None:
    done: list[str] = []
    with pytest.raises(TooLongError), at_most(0.01):
        _busy(done, 20.0)
    assert done == ["begun"]


_SLOW_LIBRARY = """
import time
until = time.process_time() + 0.3
while time.process_time() < until:
    pass
READY = True
"""


def test_a_library_that_is_imported_meanwhile_is_imported_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A constructor that made numba compile librosa was broken off in it, again and again, and its model was lost."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "slow_library.py").write_text(_SLOW_LIBRARY)
    monkeypatch.syspath_prepend(str(folder))
    with at_most(0.1):
        library = importlib.import_module("slow_library")
    assert library.READY
    done: list[str] = []
    with pytest.raises(TooLongError), at_most(0.01):
        _busy(done, 20.0)
    assert done == ["begun"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_a_callback_without_a_caller_swallows_is_raised_again() -> None:
    """Weak references of a fake mode have such callbacks: a constructor of many operations was never broken off."""

    class Held:
        pass

    done: list[str] = []
    held = [Held()]
    kept = weakref.ref(held[0], lambda _: _busy(done, 20.0))

    def let_go() -> None:
        held.clear()
        _busy(done, 20.0)

    with pytest.raises(TooLongError), at_most(0.01):
        let_go()
    assert kept() is None
    assert done == ["begun", "begun"]


_RINGS_WHILE_IT_IS_LEFT = """
import itertools, random, time
from inductor_debug.capture.inference.values import guarded_execution

others_ran = itertools.count(1)
guarded_execution._waited = lambda: next(others_ran) * 0.002
random.seed(0)
for _ in range(2000):
    until = time.perf_counter() + 0.001 + random.uniform(-0.0002, 0.0002)
    try:
        with guarded_execution.at_most(0.001):
            while time.perf_counter() < until:
                pass
    except guarded_execution.TooLongError:
        pass
time.sleep(0.1)
print("alive")
"""


def test_an_alarm_that_rings_while_the_code_is_left_ends_no_process() -> None:
    """Put off for a busy machine, it rang when nobody waited for it any more: the system ends the process then."""
    ended = subprocess.run([sys.executable, "-c", _RINGS_WHILE_IT_IS_LEFT], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "alive\n")
