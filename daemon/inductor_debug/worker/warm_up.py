"""What is done before any job, so that no job has to do it: import torch and ourselves, and analyse a model of our own.

Analysing `rehearsal_broad`, once, in the fork server, fills the tables that torch builds lazily. In a freshly forked
worker that waits for its job, analysing `rehearsal_small` makes the kernel copy ahead of time the memory pages that any
analysis writes to: together they take a third off a small model's time. All this works on fake tensors, starts no
thread, asks no device anything and leaves the process as it found it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import platform
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from inductor_debug_schema import Event, JobRequest, Stage

from inductor_debug.capture.runtime import foreign
from inductor_debug.system.torch_names import TorchDiffersError, told_apart
from inductor_debug.system.tried_versions import TORCH
from inductor_debug.worker.bootstrap import fail

BROAD = Path(__file__).with_name("rehearsal_broad.py")
"""A model that goes through what most models go through."""
SMALL = Path(__file__).with_name("rehearsal_small.py")
"""A model that is analysed in no time."""
_PROFILE = {"name": "rehearsal", "dtypes": {"supported": ["float32", "int64", "bool"]}}

_MALLOPT = {-1: 256 << 20, -2: 16 << 20, -3: 128 << 20}
"""glibc: M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD, in bytes."""


def warm_up() -> dict[str, Any]:
    """Imports torch and our modules and rehearses; returns what READY tells.

    Ends the process with a message for the user when there is no usable torch.
    """
    greeting = load()
    for model in (BROAD, SMALL):
        analyze_and_forget(model, (Stage.PREVIEW, Stage.MOCK))
    return greeting


def load() -> dict[str, Any]:
    """The same without a rehearsal, which costs more than it saves where one job is all that comes."""
    _prepare_process()
    with _nothing_collected():
        return _load()


def _load() -> dict[str, Any]:
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            fail(f"torch cannot be imported in {sys.executable}: {error}. Repair its installation.")
        fail(
            f"torch is not installed in {sys.executable}: install it there (`{sys.executable} -m pip install torch`) "
            "or name the interpreter that has it, with --python or, in an editor, its setting `interpreter`."
        )
    except Exception as error:
        remedy = "Correct TORCH_LOGS" if "Invalid log settings" in str(error) else "Repair its installation"
        fail(f"torch cannot be imported in {sys.executable}: {type(error).__name__}: {error}. {remedy}.")
    try:
        with told_apart():
            importlib.import_module("inductor_debug.capture.session")
            importlib.import_module("inductor_debug.capture.runtime.memoised").listen()
            importlib.import_module("inductor_debug.capture.dynamo.guard_timing").leave_out()
    except TorchDiffersError as differs:
        fail(f"{differs}: it works with torch {TORCH[0]} to {TORCH[-1]}. Choose an interpreter that has one of these.")
    return {"python": platform.python_version(), "torch": str(torch.__version__)}


@contextlib.contextmanager
def _nothing_collected() -> Iterator[None]:
    """Modules live on: looking for garbage while they are imported finds none, and takes a fifth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _prepare_process() -> None:
    """Settings that libraries read when they are loaded, unless the user made them."""
    # Asks the driver's management library instead of starting CUDA, which a forked child could not use any more.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    # A pool of arithmetic threads would not survive the fork, and tracing does no arithmetic.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Freed memory stays with the process: what a rehearsal has touched, the job uses without a page fault.
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        for option, value in _MALLOPT.items():
            libc.mallopt(option, value)


class _JobArrivedError(BaseException):
    """Ends a rehearsal; not an `Exception`, so that nothing on the way takes it for a fault of the model."""


def rehearse(job_arrived: Callable[[], bool]) -> None:
    """What a worker does while it waits for its job; cut short after any step once `job_arrived`."""

    def look_up(_event: Event) -> None:
        if job_arrived():
            raise _JobArrivedError

    with contextlib.suppress(_JobArrivedError):
        analyze_and_forget(SMALL, (Stage.PREVIEW, Stage.MOCK), look_up)


def analyze_and_forget(
    model: Path, stages: Sequence[Stage], emit: Callable[[Event], None] = lambda _event: None
) -> None:
    """Analyses a model and leaves nothing behind but what torch keeps for the next analysis.

    A failure is told in the log and is no reason not to serve: the first job is then slower, or fails for itself.
    """
    analyze: Callable[[JobRequest, Callable[[Event], None]], None]
    analyze = importlib.import_module("inductor_debug.capture.session").analyze
    request = JobRequest(
        job=0,
        path=str(model),
        text=model.read_text(encoding="utf-8"),
        project_root=str(model.parent),
        stages=list(stages),
        profile=_PROFILE,
    )
    with _process_left_as_found(model):
        try:
            analyze(request, emit)
        except Exception:
            traceback.print_exc()
    importlib.import_module("torch._dynamo").reset()
    gc.collect()


@contextlib.contextmanager
def _process_left_as_found(model: Path) -> Iterator[None]:
    """Undoes what an analysis does to a process that it expects to end with it."""
    path, environment, folder = list(sys.path), dict(os.environ), os.getcwd()
    try:
        with warnings.catch_warnings():
            yield
    finally:
        _restore(model, path, environment, folder)


def _restore(model: Path, path: list[str], environment: dict[str, str], folder: str) -> None:
    sys.path[:] = path
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)
    os.chdir(folder)
    own = [name for name, module in list(sys.modules.items()) if foreign.file_of(module) == str(model)]
    for name in own:
        del sys.modules[name]
