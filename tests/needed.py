"""What tests need that a machine may lack, by one rule: in a run that must be whole, its absence is a failure.

Whole are runs in CI and of `npm test`, whose set-up brings every library; elsewhere such a test is skipped and says
what is missing. What a version of Python or torch, or a system, does not have is no lack: tests say that themselves.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

WHOLE = bool(os.environ.get("CI")) or os.environ.get("npm_lifecycle_event") == "test"  # noqa: SIM112


def lacking(what: str) -> NoReturn:
    """Ends the test: without `what` it cannot run."""
    if WHOLE:
        pytest.fail(f"{what}: this run must be whole (tests/needed.py)")
    pytest.skip(what)


def library(name: str) -> ModuleType:
    """A library that is among our extras `models` and `dev`, or comes with one of them."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        lacking(f"{name} cannot be imported: {error}")


def compiler() -> str:
    """The C++ compiler that Inductor would use."""
    return shutil.which("g++") or shutil.which("clang++") or lacking("there is no C++ compiler")


def triton_folder() -> str:
    """The folder that Triton is imported from: beside the environment, or "" where it is in the environment itself.

    Triton is for Linux alone.
    """
    if importlib.util.find_spec("triton") is not None:
        return ""
    folder = Path(sys.prefix) / "triton"
    if (folder / "triton").is_dir():
        return str(folder)
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("our set-up has Triton on Linux and x86-64 alone")
    lacking("Triton is neither in the environment nor beside it (.ci/tasks.mjs)")
