"""Builds targets: loads the file and runs its recipes on the highest rung of the ladder that carries.

The rungs (`BuildMode`) make tensors more real, and dearer, from one to the next. User code is executed once for each
rung that is tried; the user's modules of an earlier rung are forgotten first, so that no tensor of one rung meets those
of another. What user code raises while a target is made comes out as a `BuildError`; what it raises while the file is
loaded is kept in the `Load`, because targets seen before it are targets still.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from inductor_debug_schema import JobRequest
from torch._subclasses.fake_tensor import FakeTensorMode

from inductor_debug.capture import loading
from inductor_debug.capture.conversions import fake_conversions
from inductor_debug.capture.declarations import Declarations
from inductor_debug.capture.devices import Redirector
from inductor_debug.capture.discovery import discover
from inductor_debug.capture.failures import describe
from inductor_debug.capture.fake_mode import (
    MemoryBoundError,
    building,
    is_fake,
    is_limitation,
    new_fake_mode,
    to_fake,
    without_modes,
)
from inductor_debug.capture.interception import PATIENCE, Interceptor, LoadStopped, unwrap
from inductor_debug.capture.offers import Discovered, Offer, Recipe
from inductor_debug.capture.spans import SourceMap
from inductor_debug.capture.target import BuildMode, BuiltTarget

LADDER = tuple(BuildMode)
_IMPATIENT = 1
"""Repeated calls after which a script is stopped whose tensors are real, and whose work takes real time."""


class BuildError(Exception):
    """User code raised while a target was made; `location` is where to point for want of a frame of the user's."""

    def __init__(self, cause: BaseException, recipe: Recipe) -> None:
        super().__init__(f"{recipe.what} raised {describe(cause)}")
        self.cause, self.what, self.location = cause, recipe.what, recipe.location


@dataclass
class Load:
    """The file, executed on one rung. `module` holds what was executed of it, None where nothing was."""

    mode: BuildMode
    fake_mode: FakeTensorMode | None
    interceptor: Interceptor
    declarations: Declarations
    module: ModuleType | None = None
    error: BaseException | None = None
    modules: loading.LoadedModules = field(default_factory=loading.LoadedModules)
    discovered: Discovered = field(default_factory=Discovered)
    notes: list[str] = field(default_factory=list)


class Workshop:
    """Loads one file and builds its targets.

    Args:
        request: the file and its settings.
        sources: turns places into frames.
        memory_bound: bytes that real tensors may take.
    """

    def __init__(self, request: JobRequest, sources: SourceMap, memory_bound: int) -> None:
        self._request, self._sources, self._memory_bound = request, sources, memory_bound
        self._text = request.text.removeprefix("\ufeff")
        self._place = loading.place_of(request.path)
        self._overlay: loading.Overlay | None = None
        self._loads: dict[BuildMode, Load] = {}
        self._before: dict[str, ModuleType] = {}
        self.devices = Redirector()

    @contextlib.contextmanager
    def open(self) -> Iterator[Workshop]:
        """Everything else happens inside: meanwhile the file can be imported, and libraries load undisturbed."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(loading.search_path(self._place, self._request.project_root))
            self._overlay = stack.enter_context(loading.overlay(self._place, self._text))
            stack.enter_context(loading.library_imports(without_modes))
            self._before = dict(sys.modules)
            yield self

    def load(self) -> Load:
        """The file on the first rung that carries it, or what the most telling rung met."""
        first = load = self._load_on(LADDER[0])
        for mode in LADDER[1:]:
            if first.error is None or load.error is None or not is_limitation(load.error):
                break
            load = self._load_on(mode)
            load.notes.append(f"The file could not be loaded with {first.mode.value} tensors: {describe(first.error)}.")
        # What stops only because its tensors are real says less than what the first rung met.
        return first if isinstance(load.error, MemoryBoundError) else load

    def build(self, offer: Offer, load: Load) -> BuiltTarget:
        """Makes a target, on the rung of `load` or on a lower one.

        Raises:
            BuildError: user code raised for reasons of its own, or on every rung.
        """
        first: BuildError | None = None
        for mode in LADDER[LADDER.index(load.mode) :]:
            current = load if mode is load.mode else self._load_on(mode, len(load.interceptor.calls))
            found = _same(offer, current)
            if found is None:
                break
            try:
                target = self._build_on(found, current)
            except BuildError as error:
                if first is not None and isinstance(error.cause, MemoryBoundError):
                    break
                if not is_limitation(error.cause):
                    raise
                first = first or error
            else:
                if first is not None:
                    target.notes.append(f"{offer.name} was built with {mode.value} tensors: {first}.")
                return target
        assert first is not None
        raise first

    def rebuild_real(self, offer: Offer, load: Load, fake: BuiltTarget) -> BuiltTarget | str:
        """The same target with real tensors, or the reason why there is none."""
        needed = _bytes_of(fake)
        if needed > self._memory_bound:
            return (
                f"{offer.name} looks at values and was not run with real tensors, which would take "
                f"{needed >> 20} MiB (the bound is {self._memory_bound >> 20} MiB)."
            )
        real = self._load_on(BuildMode.REAL, len(load.interceptor.calls))
        found = _same(offer, real)
        if found is None:
            return f"{offer.name} could not be found again when the file was loaded with real tensors."
        try:
            target = self._build_on(found, real)
        except BuildError as error:
            return f"{offer.name} could not be built with real tensors: {error}."
        target.notes.append("The code looks at values, so it was run with real tensors.")
        return target

    def dependencies(self) -> list[str]:
        """The user's other files that were imported on any rung so far."""
        found = set(loading.loaded_since(self._before).dependencies(self._request.path))
        for load in self._loads.values():
            found.update(load.modules.dependencies(self._request.path))
        return sorted(found)

    def eagerly(self) -> contextlib.AbstractContextManager[Any]:
        """For running a target's code eagerly: devices are redirected and `torch.compile` does nothing."""
        stack = contextlib.ExitStack()
        stack.enter_context(self.devices.active())
        stack.enter_context(fake_conversions())
        stack.enter_context(Interceptor(self._sources).active(recording=False))
        return stack

    def traced(self) -> contextlib.AbstractContextManager[Any]:
        """For tracing a target's code with Dynamo, which would trace what `eagerly` does: devices are redirected."""
        return self.devices.traced()

    def _load_on(self, mode: BuildMode, stop_at: int = 0) -> Load:
        """Executes the file on one rung, the first time it is asked for."""
        if mode in self._loads:
            return self._loads[mode]
        for earlier in self._loads.values():
            loading.unload(earlier.modules)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        real = mode is BuildMode.REAL
        interceptor = Interceptor(self._sources, stop_at if real else 0, _IMPATIENT if real else PATIENCE)
        load = Load(mode, None if real else new_fake_mode(), interceptor, Declarations(self._sources))
        self._loads[mode] = load
        self._execute(load)
        if load.module is not None:
            load.discovered = discover(
                load.module, self._request.path, self._text, self._request.targets, interceptor, self._sources
            )
        return load

    def _execute(self, load: Load) -> None:
        assert self._overlay is not None, "the workshop is not open"
        with self._user_code(load, recording=True):
            try:
                loading.run_user_code(self._overlay.execute)
            except LoadStopped as stop:
                load.notes.append(f"The rest of the file was not run: {stop}.")
            except BaseException as error:
                self._on_error(load, error)
        load.module = self._overlay.module
        load.modules = loading.loaded_since(self._before)

    def _on_error(self, load: Load, error: BaseException) -> None:
        """Keeps the error, unless the stages of a target that is known already will meet it themselves."""
        if error is load.interceptor.failure:
            load.notes.append("The rest of the file was not run: a compiled call raised.")
        elif load.interceptor.calls and load.fake_mode is not None and is_limitation(error):
            load.notes.append("The rest of the file was not run: it looks at values, and fake tensors have none.")
        else:
            load.error = error

    @contextlib.contextmanager
    def _user_code(self, load: Load, *, recording: bool) -> Iterator[None]:
        with (
            self.devices.active(),
            load.interceptor.active(recording=recording),
            load.declarations.recording(),
            fake_conversions(),
            building(load.mode, load.fake_mode, self._memory_bound),
        ):
            yield

    def _build_on(self, offer: Offer, load: Load) -> BuiltTarget:
        load.modules.activate()
        with self._user_code(load, recording=False):
            function = unwrap(_run(offer.model))
            args, kwargs = _run(offer.inputs)
            module = _module_of(function, args)
            _check_call(offer, function, args, kwargs)
            if load.fake_mode is not None:
                args, kwargs = _all_fake((args, kwargs), load.fake_mode)
                if module is not None:
                    _make_fake(module, load.fake_mode)
            if module is not None and offer.training is not None:
                module.train(offer.training)
        return BuiltTarget(
            name=offer.name,
            line=offer.location.range.start.line,
            origin=offer.origin.value,
            function=function,
            args=args,
            kwargs=kwargs,
            mode=load.mode,
            fake_mode=load.fake_mode,
            module=module,
            training=module is not None and module.training,
            dynamic=offer.dynamic,
            declarations=load.declarations.of(module) if module is not None else {},
            input_frames=offer.inputs.frames,
            location=offer.location,
            fullgraph=offer.fullgraph,
        )


def _run(recipe: Recipe) -> Any:
    try:
        return loading.run_user_code(recipe.run)
    except BaseException as error:
        raise BuildError(error, recipe) from error


def _check_call(offer: Offer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Inputs that do not fit the signature are told where they are written, not where they are called."""
    called = function.forward if isinstance(function, torch.nn.Module) else function
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise BuildError(TypeError(f"{offer.name}{signature} cannot be called so: {error}"), offer.inputs) from error


def _same(offer: Offer, load: Load) -> Offer | None:
    return next((found for found in load.discovered.offers if found.key == offer.key), None)


def _module_of(function: Callable[..., Any], args: tuple[Any, ...]) -> torch.nn.Module | None:
    """The module that a callable is, belongs to, is given or (being the only one) closes over."""
    if isinstance(function, torch.nn.Module):
        return function
    owner = getattr(function, "__self__", None)
    if isinstance(owner, torch.nn.Module):
        return owner
    code = getattr(function, "__code__", None)
    names = getattr(function, "__globals__", {})
    near = [*args, *(names.get(name) for name in (code.co_names if code is not None else ()))]
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # a cell that was never filled
            near.append(cell.cell_contents)
    modules = {id(value): value for value in map(unwrap, near) if isinstance(value, torch.nn.Module)}
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


def _make_fake(module: torch.nn.Module, fake_mode: FakeTensorMode) -> None:
    for part in module.modules():
        for tensors in (part._parameters, part._buffers):
            for name, tensor in tensors.items():
                if tensor is not None and not is_fake(tensor):
                    tensors[name] = to_fake(fake_mode, tensor)  # type: ignore[assignment]


def _bytes_of(target: BuiltTarget) -> int:
    tensors: dict[int, torch.Tensor] = {}
    if target.module is not None:
        tensors.update((id(tensor), tensor) for tensor in (*target.module.parameters(), *target.module.buffers()))
    tensors.update((id(tensor), tensor) for tensor in _tensors((target.args, target.kwargs)))
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
