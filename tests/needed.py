"""What tests need that a machine may lack, by one rule: in a run that must be whole, its absence is a failure.

Whole are runs in CI and of `npm test`, whose set-up brings every library; elsewhere such a test is skipped and says
what is missing. What a version of Python or torch, or a system, does not have is no lack: tests say that themselves.
"""

from __future__ import annotations

import importlib
import os
import shutil
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
