"""Backends that a user's file has: registered with torch when it was loaded, or functions that it passes on.

Finds what a name means, and says how a script can name the same (`backend_source`). Private: `lookup_backend` of
`torch._dynamo.backends.registry`, torch 2.11 to 2.13.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import torch

from inductor_debug.accelerators.guarded_adapter import GuardedAdapter
from inductor_debug.accelerators.installed import installed_adapter
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.targets.target_builder import Load
from inductor_debug.kerneldiff.emulation.backends import backend_in
from inductor_debug.repro.backend.backend_oracle import Compiler
from inductor_debug.repro.script.backend_source import BackendSource, carried, known_to_torch, of_adapter


def function_in(load: Load, name: str) -> Compiler | None:
    """The backend that torch does not know: something to call in the loaded file, or an installed adapter's compiler.

    Raises:
        AdapterError: it is an adapter that raised.
    """
    if name in torch._dynamo.list_backends(exclude_tags=None):
        return None
    own = backend_in(load.module, name)
    installed = installed_adapter(name) if own is None else None
    return GuardedAdapter.of(installed).compiler() if installed is not None else own


def named_in_script(name: str, own: Compiler | None, load: Load, sources: SourceMap) -> BackendSource:
    """How a script names the backend. `own` is the function, where torch does not know the name."""
    installed = installed_adapter(name) if backend_in(load.module, name) is None else None
    if own is not None and installed is not None:
        return of_adapter(installed)
    backend = own if own is not None else _registered(name)
    home = getattr(backend, "__module__", None) or type(backend).__module__
    module = sys.modules.get(home)
    path = getattr(module, "__file__", None) or ""
    if backend is None or (path and not sources.in_project(path)):
        module = load.module
        if backend is None or module is None or all(value is not backend for value in vars(module).values()):
            return known_to_torch(name, _library(home))
        path = module.__file__ or ""
    text = sources.text(os.path.abspath(path)) if path else None
    if module is None or text is None:
        return known_to_torch(name)
    return carried(name, backend, vars(module), "\n".join(text.lines))


def _registered(name: str) -> Any:
    try:
        from torch._dynamo.backends.registry import lookup_backend

        return lookup_backend(name)
    except (ImportError, LookupError, RuntimeError):
        return None


def _library(home: str) -> str:
    root = home.split(".")[0]
    return "" if root in ("torch", "builtins") else root
