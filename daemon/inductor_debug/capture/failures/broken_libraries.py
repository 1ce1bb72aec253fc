"""Tells what a machine lacks from a mistake of the user's, and what to do: libraries that are broken, CUDA's toolkit.

A binary that was built for another torch, or that lacks a shared object, raises inside of the library's own modules
while they are imported. A module that is not there at all is another matter. Reads metadata of installed packages.
"""

from __future__ import annotations

import linecache
import re
import sys
from importlib import metadata

import torch

from inductor_debug.capture.failures.failed_statement import users_steps
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.runtime.loading import is_installed, is_standard

_EXACT_TORCH = re.compile(r"torch\s*\(?==\s*([0-9][0-9.]*)")


def broken_library(error: BaseException) -> str | None:
    """What to tell of an exception that an installed library raised while it was imported; None for any other."""
    if isinstance(error, ModuleNotFoundError) or not isinstance(error, Exception):
        return None
    name = imported_library(error)
    if name is None:
        return None
    words = f"{_with_version(name)} is installed and cannot be imported: {describe(error).rstrip('.')}."
    wanted = _wanted_torch(name)
    if wanted is not None and wanted != torch.__version__.partition("+")[0]:
        return f"{words} It was built for torch {wanted} and this is {torch.__version__}: install those that fit."
    build = f"torch {torch.__version__}"
    if "+" in torch.__version__:
        build += " (from the package index that this torch came from)"
    return f"{words} Install it anew for this Python and {build}, or choose another interpreter."


def missing_toolkit(error: BaseException) -> str | None:
    """What to tell of code that asks for CUDA where there is none; None for any other exception.

    `torch.utils.cpp_extension.CUDA_HOME` is None without its toolkit, and code that builds extensions makes paths of it
    unseen. `torch.version.cuda` is None in builds of torch without CUDA, and code reads versions from it.
    """
    extensions = sys.modules.get("torch.utils.cpp_extension")
    steps = ((step.tb_frame.f_code.co_filename, step.tb_lineno) for step in users_steps(error))
    lines = [linecache.getline(file, line) for file, line in steps]
    raises = f", and raises {describe(error).rstrip('.')}."
    if extensions is not None and extensions.CUDA_HOME is None and any("CUDA_HOME" in line for line in lines):
        return (
            "This asks for CUDA's toolkit, which this machine does not have (`torch.utils.cpp_extension.CUDA_HOME` is "
            f"None){raises}"
        )
    if torch.version.cuda is None and any("torch.version.cuda" in line for line in _before_the_end(error)):
        return (
            "This asks for the CUDA that torch was built with, and this one was built without "
            f"(`torch.version.cuda` is None){raises}"
        )
    return None


def _before_the_end(error: BaseException) -> list[str]:
    """The line that raised, and those above it where it is a function's."""
    steps = list(users_steps(error))
    if not steps:
        return []
    code, last = steps[-1].tb_frame.f_code, steps[-1].tb_lineno
    first = last if code.co_name == "<module>" else code.co_firstlineno
    return [linecache.getline(code.co_filename, line) for line in range(first, last + 1)]


def imported_library(error: BaseException) -> str | None:
    """The top-level name of the library whose module was being executed when the error was raised in it.

    Of libraries that import each other it is the last that is not there now: those that it kept from being imported
    have nothing wrong with them.
    """
    traceback, libraries = error.__traceback__, list[str]()
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_installed(code.co_filename):
            if code.co_name == "<module>":
                libraries.append(str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0])
        elif not code.co_filename.startswith("<frozen importlib") and not is_standard(code.co_filename):
            libraries.clear()
        traceback = traceback.tb_next
    absent = [name for name in libraries if name not in sys.modules]
    return next(filter(None, (*absent[-1:], *libraries)), None)


def _distribution(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def _with_version(name: str) -> str:
    found = _distribution(name)
    return name if found is None else f"{name} {found.version}"


def _wanted_torch(name: str) -> str | None:
    """The one version of torch that a package says it needs; None where it does not say so."""
    found = _distribution(name)
    requirements = found.requires if found is not None else None
    matches = (_EXACT_TORCH.match(line) for line in requirements or ())
    return next((match[1] for match in matches if match is not None), None)
