"""What the code of a target calls the arguments of a call. Runs nothing."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from inductor_debug.capture.running.target import BuiltTarget


def signature_of(target: BuiltTarget) -> inspect.Signature | None:
    """The signature of what the user wrote, for a module that of its `forward`; None where Python knows none."""
    function = target.function.forward if isinstance(target.function, torch.nn.Module) else target.function
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def named_arguments(target: BuiltTarget, unnamed: str) -> dict[str, Any]:
    """The arguments of a target's first call by their names, those of `*rest` by `rest[0]` and so on.

    Where Python knows no signature they are called `unnamed`, with a number.
    """
    signature = signature_of(target)
    names: list[str] = []
    for parameter in signature.parameters.values() if signature is not None else ():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{index}]" for index in range(len(target.args) - len(names))]
        else:
            names.append(parameter.name)
    names += [unnamed.format(index) for index in range(len(names), len(target.args))]
    return {**dict(zip(names, target.args, strict=False)), **target.kwargs}
