"""What tests need that a machine may lack, by one rule: in a run that must be whole, its absence is a failure.

Whole are runs in CI and of `npm test`, whose set-up brings every library; elsewhere such a test is skipped and says
what is missing. What a version of Python or torch, or a system, does not have is no lack: tests say that themselves.
Other people's editors are no libraries, and no set-up of ours brings them: whole in them are runs of `npm run editors`.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

WHOLE = bool(os.environ.get("CI")) or os.environ.get("npm_lifecycle_event") == "test"  # noqa: SIM112

WITH_EDITORS = os.environ.get("npm_lifecycle_event") == "editors"  # noqa: SIM112
"""Whether this run is there for what drives real editors."""


def lacking(what: str, *, whole: bool = WHOLE) -> NoReturn:
    """Ends the test: without `what` it cannot run."""
    if whole:
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


def editor(program: str, oldest: tuple[int, int]) -> str:
    """An editor's program, of a version that README's recipe is written for."""
    path = shutil.which(program)
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout if path else ""
    version = re.search(r"(\d+)\.(\d+)", said)
    if path is None or version is None or (int(version[1]), int(version[2])) < oldest:
        wanted = ".".join(map(str, oldest))
        lacking(f"there is no {program} of {wanted} or newer on the path", whole=WITH_EDITORS)
    return path
