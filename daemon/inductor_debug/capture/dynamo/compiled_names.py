"""What Dynamo leaves in the modules of compiled functions: their graphs, under names of its own.

It removes them when the code is no more, which may be never; a graph holds the backend's function, and that all which
the backend knows, models with their weights among it. Names are those that torch 2.11 to 2.14 give and show in their
logs; others are left.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

import torch

_GRAPH = "__compiled_fn"


def forget_compiled(modules: Iterable[ModuleType]) -> None:
    """Forgets all that is compiled, and the graphs that were left in `modules`."""
    torch._dynamo.reset()
    for module in modules:
        names = object.__getattribute__(module, "__dict__")
        for name in [name for name in names if type(name) is str and name.startswith(_GRAPH)]:
            del names[name]
