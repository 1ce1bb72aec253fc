"""Installed libraries that a script of the project imports and the analysed file does not: imported if they matter.

`Model(torchvision.models.__dict__[args.arch])` in a script says what a class is built with, which only torchvision
knows. Files of the project are never imported here, and nothing is that no value is asked of.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.loading import is_installed


class LaterModule(ModuleType):
    """Stands for a module until a name of it is asked for."""

    def loaded(self) -> dict[str, Any]:
        """What the module holds; nothing where it cannot be imported."""
        return _held_by(self.__name__)

    def called(self) -> Any:
        """What is called by this name where that is no module: a class or a function of the one around it."""
        around, _, name = self.__name__.rpartition(".")
        return _held_by(around).get(name, self) if around else self


def later(name: str) -> LaterModule | None:
    """What stands for the installed module `name`; None where no installed library has one that is called so."""
    try:
        spec = find_spec(name.partition(".")[0])
    except (ImportError, ValueError):
        return None
    installed = spec is not None and spec.origin is not None and is_installed(spec.origin)
    return LaterModule(name) if installed else None


@lru_cache(maxsize=32)
def _held_by(name: str) -> dict[str, Any]:
    try:
        return foreign.namespace(importlib.import_module(name))
    except BaseException:  # a library may raise anything while it loads
        return {}
