"""Forgets the backends that a file has registered with `torch.compile`, so that it can be executed again.

A file is loaded once for each rung that its targets are built on, and torch refuses a name that it knows. Private names
of torch, read in 2.11 to 2.13: `torch._dynamo.backends.registry._COMPILER_FNS` and `_BACKENDS`. Where they are gone
nothing is forgotten, and the second load ends as torch has it.
"""

from __future__ import annotations

import sys
from typing import Any

_REGISTRY = "torch._dynamo.backends.registry"
_TABLES = ("_COMPILER_FNS", "_BACKENDS")


class RegisteredBackends:
    """The backends that are known when it is made."""

    def __init__(self) -> None:
        self._known = [frozenset(table) for table in _tables()]

    def forget_later(self) -> None:
        """Forgets what has been registered since then, unless torch loaded the registry meanwhile."""
        for table, known in zip(_tables(), self._known, strict=False):
            for name in [name for name in table if name not in known]:
                del table[name]


def _tables() -> list[dict[str, Any]]:
    registry = sys.modules.get(_REGISTRY)
    found = [getattr(registry, name, None) for name in _TABLES]
    return [table for table in found if isinstance(table, dict)] if None not in found else []
