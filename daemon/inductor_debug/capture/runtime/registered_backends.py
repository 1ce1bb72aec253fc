"""Forgets what a file has registered with torch, so that it can be executed again: backends, and operators of its own.

A file is loaded once for each rung that its targets are built on, and torch refuses a name that it knows. Private names
of torch, read in 2.11 to 2.13: `torch._dynamo.backends.registry._COMPILER_FNS` and `_BACKENDS`, and `Library._destroy`.
Where they are gone nothing is forgotten, and the second load ends as torch has it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import torch

from inductor_debug.capture.runtime import foreign

_REGISTRY = "torch._dynamo.backends.registry"
_TABLES = ("_COMPILER_FNS", "_BACKENDS")


class RegisteredBackends:
    """The backends that are known when it is made: with torch's own, which it registers when first it is asked."""

    def __init__(self) -> None:
        if _REGISTRY in sys.modules:
            torch.compiler.list_backends()
        self._known = [frozenset(table) for table in _tables()]

    def forget_later(self, modules: Iterable[ModuleType] = ()) -> None:
        """Forgets backends that have been registered since then, and operators that `modules`, the user's own, define.

        Backends stay where torch loaded its registry meanwhile. Operators are known by the `torch.library.Library`
        that a module keeps; those of `torch.library.custom_op` torch takes back itself when they are defined again.
        """
        for table, known in zip(_tables(), self._known, strict=False):
            for name in [name for name in table if name not in known]:
                del table[name]
        library = getattr(sys.modules.get("torch.library"), "Library", None)
        held = [value for module in modules for value in foreign.namespace(module).values()]
        for kept in [value for value in held if type(value) is library]:
            with contextlib.suppress(AttributeError, RuntimeError):
                kept._destroy()


def _tables() -> list[dict[str, Any]]:
    registry = sys.modules.get(_REGISTRY)
    found = [getattr(registry, name, None) for name in _TABLES]
    return [table for table in found if isinstance(table, dict)] if None not in found else []
