"""What keeps Dynamo from looking at a target at all: a mark on its code, a setting, a variable of the environment.

Private names, read against torch 2.11 to 2.14: `_torchdynamo_disable` and `_torchdynamo_orig_callable` on functions
that are marked, `torch._dynamo.config.disable`. Where one is gone, nothing is said of it.
"""

from __future__ import annotations

import os
from types import CodeType
from typing import Any

import torch
from inductor_debug_schema import NoGraph

from inductor_debug.capture.runtime import foreign

_VARIABLES = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")


def kept_from(function: Any) -> tuple[NoGraph, str, CodeType | None] | None:
    """What keeps Dynamo from a module or function, what that is called, and the code that is marked.

    None where nothing is known to. `torch.compile` takes a mark on the very function that it is given off, but not one
    on the `forward` of a module.
    """
    for variable in _VARIABLES:
        if os.environ.get(variable) == "1":
            return NoGraph.VARIABLE, f"{variable}=1", None
    if getattr(torch._dynamo.config, "disable", False):
        return NoGraph.SETTING, "torch._dynamo.config.disable", None
    if not foreign.is_a(function, torch.nn.Module):
        return None
    forward = foreign.attribute(type(function), "forward")
    if foreign.attribute(forward, "_torchdynamo_disable") is not True:
        return None
    marked = foreign.attribute(forward, "_torchdynamo_orig_callable") or forward
    return NoGraph.MARK, f"{type(function).__name__}.forward", foreign.code_of(marked)
