"""Modules that break the graph wherever they are called, in torch's code around the call: for hooks, or as scripts.

Private names read in torch 2.11 to 2.14: `Module._backward_hooks`, `Module._backward_pre_hooks`. Where they are gone,
no hook is known, and the break is told where the module is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.dynamo.dynamo_positions import TracedStack
from inductor_debug.capture.runtime import foreign

_CALLING = "torch.nn.modules.module"
"""Where the code is that calls modules, and hooks around that."""
_TABLES = ("_backward_hooks", "_backward_pre_hooks")


def breaks_around_a_call(stack: TracedStack, modules: Sequence[str]) -> bool:
    """Whether torch's code that calls modules was being traced, and nothing that it calls.

    Args:
        stack: the traced frames, innermost first.
        modules: the names of the modules that they belong to.
    """
    # Other methods of `nn.Module` are there, too: `requires_grad_`.
    return bool(stack and modules) and modules[0] == _CALLING and "call_impl" in stack[0].function


def is_scripted(model: Any) -> bool:
    """Whether `torch.jit` compiles a part of a model."""
    parts = foreign.parts_of(model) if isinstance(model, nn.Module) else ()
    return any(isinstance(part, torch.jit.ScriptModule) for part in parts)


def backward_hooks(model: Any) -> Iterator[CodeType]:
    """The code of the backward hooks of a model and of its parts, each once."""
    seen: set[CodeType] = set()
    for part in foreign.parts_of(model) if isinstance(model, nn.Module) else ():
        held = foreign.namespace(part)
        for hook in (hook for table in _TABLES for hook in dict(held.get(table) or {}).values()):
            code = foreign.code_of(hook)
            if code is not None and code not in seen:
                seen.add(code)
                yield code
