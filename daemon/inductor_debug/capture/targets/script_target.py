"""A target made of a model and inputs that a script of the user's holds, outside of a worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from inductor_debug_schema import Location

from inductor_debug.capture.running.target import BuildMode, BuiltTarget
from inductor_debug.capture.targets.candidates import as_call
from inductor_debug.source.source_text import SourceText

NOWHERE = Location("", SourceText("").line_range(0))


def target_of(
    model: Callable[..., Any],
    example_inputs: Any,
    *,
    name: str = "",
    dynamic: bool | None = None,
    location: Location = NOWHERE,
) -> BuiltTarget:
    """The target, with real tensors and in the mode that its module is in.

    Args:
        model: a module, a method of one, or a function.
        example_inputs: the arguments of one call, as `as_call` reads them.
        name: what reports call it; by default the name of its class or function.
        dynamic: as for `torch.compile`.
        location: where it is defined.
    """
    args, kwargs = as_call(example_inputs)
    owner = model if isinstance(model, torch.nn.Module) else getattr(model, "__self__", None)
    module = owner if isinstance(owner, torch.nn.Module) else None
    return BuiltTarget(
        name=name or str(getattr(model, "__name__", type(model).__name__)),
        line=location.range.start.line,
        origin="script",
        function=model,
        args=args,
        kwargs=kwargs,
        mode=BuildMode.REAL,
        fake_mode=None,
        module=module,
        training=module is not None and module.training,
        dynamic=dynamic,
        declarations={},
        input_frames=(),
        location=location,
    )
