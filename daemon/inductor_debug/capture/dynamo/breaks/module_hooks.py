"""Backward hooks of a model's modules: torch's own code around a call breaks the graph for them, wherever that is.

Private names read in torch 2.11 to 2.14: `Module._backward_hooks`, `Module._backward_pre_hooks`. Where they are gone,
no hook is known, and the break is told where the module is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

from torch import nn

from inductor_debug.capture.runtime import foreign

_CALLING = "torch.nn.modules.module"
"""Where the code is that calls modules, and hooks around that."""
_TABLES = ("_backward_hooks", "_backward_pre_hooks")


def is_for_hooks(modules: Sequence[str]) -> bool:
    """Whether nothing but the call of a module was being traced, which does more than call it for hooks alone.

    Args:
        modules: the names of the modules of the frames below the user's, innermost first.
    """
    return bool(modules) and all(name == _CALLING for name in modules)


def backward_hooks(model: Any) -> Iterator[CodeType]:
    """The code of the backward hooks of a model and of its parts, each once."""
    seen: set[CodeType] = set()
    for part in model.modules() if isinstance(model, nn.Module) else ():
        held = foreign.namespace(part)
        for hook in (hook for table in _TABLES for hook in dict(held.get(table) or {}).values()):
            code = foreign.code_of(hook)
            if code is not None and code not in seen:
                seen.add(code)
                yield code
