"""Makes a target out of a candidate: runs its recipes and brings what they give to one form.

Runs inside the modes that the target builder has set up (rung, devices, interception); it sets up none itself. What
user code raises comes out as a `BuildError`, wrapped, never handled here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.failures.set_up import NotSetUpError, check_set_up
from inductor_debug.capture.running.target import BuildMode, BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.interception import unwrap
from inductor_debug.capture.runtime.later_calls import LaterCall
from inductor_debug.capture.runtime.loading import run_user_code
from inductor_debug.capture.targets.candidates import Candidate, Recipe
from inductor_debug.capture.targets.parameter_declarations import Declarations
from inductor_debug.capture.tensors.fake_mode import is_fake, to_fake
from inductor_debug.system.torch_names import refuse


class BuildError(Exception):
    """User code raised while a target was made; `location` is where to point for want of a frame of the user's."""

    def __init__(self, cause: BaseException, recipe: Recipe) -> None:
        super().__init__(f"{recipe.what} raised {describe(cause).rstrip('.')}")
        self.cause, self.what, self.location = cause, recipe.what, recipe.location


def build_target(
    candidate: Candidate, mode: BuildMode, fake_mode: FakeTensorMode | None, declarations: Declarations
) -> BuiltTarget:
    """Builds the model and the inputs of `offer`.

    Args:
        candidate: what the file proposes.
        mode: the rung that is set up.
        fake_mode: its fake mode, None for real tensors.
        declarations: what has been taken down of registrations, and goes on being taken down.

    Raises:
        BuildError: user code raised, or its inputs do not fit its signature.
    """
    function = unwrap(_run(candidate.model))
    args, kwargs = _run(candidate.inputs)
    module = _module_of(function, args)
    if module is not None:
        _run(replace(candidate.model, run=lambda: check_set_up(module)))
    more = candidate.more()
    for call in ((args, kwargs), *more):
        _check_call(candidate, function, *call)
    again = candidate.again
    if fake_mode is not None:
        args, kwargs = _all_fake((args, kwargs), fake_mode)
        more = _all_fake(more, fake_mode)
        if again is not None:
            again = replace(again, later=[_faked(call, fake_mode) for call in again.later])
        if module is not None:
            _make_fake(module, fake_mode)
    if module is not None and candidate.training is not None:
        module.train(candidate.training)
    return BuiltTarget(
        name=candidate.name,
        line=candidate.location.range.start.line,
        origin=candidate.origin.value,
        function=function,
        args=args,
        kwargs=kwargs,
        mode=mode,
        fake_mode=fake_mode,
        module=module,
        training=module is not None and module.training,
        dynamic=candidate.dynamic,
        declarations=declarations.of(module) if module is not None else {},
        input_frames=candidate.inputs.frames,
        location=candidate.location,
        fullgraph=candidate.fullgraph,
        gradients=candidate.gradients,
        notes=_notes_on(candidate),
        more=more,
        again=again,
        exported=candidate.exported,
        inference=candidate.inference,
    )


_PREPARED = "{} is not ready to run when it is built, so this was done before its run: {}."
_WITHOUT_GRADIENTS = "The call in the file stands where torch records no gradients, so it is captured without them."


def _notes_on(candidate: Candidate) -> list[str]:
    notes = [] if candidate.gradients else [_WITHOUT_GRADIENTS]
    if candidate.inference is None:
        return notes
    written, calls = candidate.inference.configuration, candidate.inference.prepared
    notes += [] if written is None else [f"{candidate.name} was built with {written.shown}."]
    notes += [_PREPARED.format(candidate.name, ", then ".join(f"`{call}`" for call in calls))] if calls else []
    return notes


def _run(recipe: Recipe) -> Any:
    try:
        return run_user_code(recipe.run)
    except BaseException as error:
        refuse(error)
        raised = error.__cause__ if isinstance(error.__cause__, NotSetUpError) else error
        where = raised.location if isinstance(raised, NotSetUpError) else None
        raise BuildError(error, recipe if where is None else replace(recipe, location=where)) from error


def _check_call(candidate: Candidate, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Inputs that do not fit the signature are told where they are written, not where they are called."""
    called = function.forward if isinstance(function, torch.nn.Module) else function
    signature = foreign.signature_of(called)
    if signature is None:
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise BuildError(
            TypeError(f"{candidate.name}{signature} cannot be called so: {error}"), candidate.inputs
        ) from error


def _module_of(function: Callable[..., Any], args: tuple[Any, ...]) -> torch.nn.Module | None:
    """The module that a callable is, belongs to, is given or (being the only one) closes over."""
    if foreign.is_a(function, torch.nn.Module):
        return function
    owner = foreign.attribute(function, "__self__")
    if foreign.is_a(owner, torch.nn.Module):
        return owner
    code, names = foreign.code_of(function), foreign.globals_of(function)
    near = [*args, *(names.get(name) for name in (code.co_names if code is not None else ()))]
    for cell in foreign.attribute(function, "__closure__") or ():
        with contextlib.suppress(ValueError):  # a cell that was never filled
            near.append(cell.cell_contents)
    modules = {id(value): value for value in map(unwrap, near) if foreign.is_a(value, torch.nn.Module)}
    return next(iter(modules.values())) if len(modules) == 1 else None


def _all_fake(value: Any, fake_mode: FakeTensorMode) -> Any:
    """Replaces real tensors in the usual containers; others meet the mode when they are used."""
    if isinstance(value, torch.Tensor):
        return value if is_fake(value) else to_fake(fake_mode, value)
    if type(value) in (tuple, list):
        return type(value)(_all_fake(item, fake_mode) for item in value)
    if type(value) is dict:
        return {key: _all_fake(item, fake_mode) for key, item in value.items()}
    return value


def _faked(call: LaterCall, fake_mode: FakeTensorMode) -> LaterCall:
    args, kwargs = _all_fake((call.args, call.kwargs), fake_mode)
    return replace(call, args=args, kwargs=kwargs)


def _make_fake(module: torch.nn.Module, fake_mode: FakeTensorMode) -> None:
    for part in foreign.parts_of(module):
        for tensors in (part._parameters, part._buffers):
            for name, tensor in tensors.items():
                if tensor is not None and not is_fake(tensor):
                    tensors[name] = to_fake(fake_mode, tensor)  # type: ignore[assignment]


def bytes_of(target: BuiltTarget) -> int:
    """What the parameters, buffers and inputs take, or would if they were real; lazy parameters take nothing."""
    tensors: dict[int, torch.Tensor] = {}
    if target.module is not None:
        tensors.update((id(tensor), tensor) for tensor in (*target.module.parameters(), *target.module.buffers()))
    tensors.update((id(tensor), tensor) for tensor in _tensors(target.calls))
    there = (
        tensor for tensor in tensors.values() if not isinstance(tensor, (UninitializedParameter, UninitializedBuffer))
    )
    return sum(tensor.numel() * tensor.element_size() for tensor in there)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
