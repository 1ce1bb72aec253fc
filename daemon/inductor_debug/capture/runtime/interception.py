"""Takes down what a script passes to `torch.compile` while it is loaded, and lets it run eagerly.

What `torch.compile` returns here calls the original at once; the arguments of its first call become a target's inputs,
and other calls after it tell what would be compiled again. No backend is ever called. Dynamo sees through these objects
later (`_torchdynamo_inline`, read in torch 2.11 to 2.13; without it Dynamo traces our wrapper, which does the same).
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.containment import TORCH_FOLDER
from inductor_debug.capture.runtime.iterators import own_iterator
from inductor_debug.capture.runtime.later_calls import CallsAgain, LaterCall, conditions_of
from inductor_debug.capture.runtime.loading import run_user_code
from inductor_debug.capture.runtime.other_ways import ExportAsked, other_ways
from inductor_debug.capture.runtime.reset_watch import ResetWatch
from inductor_debug.rules.recording.ops import Frame

PATIENCE = 16
"""Calls of targets already known after which a script is stopped: it has begun to work in earnest (a training loop)."""

_INLINE = "_torchdynamo_inline"
_MARKS = "_dynamo_"
"""What the attributes begin with in which `mark_dynamic` and its like keep what they are told of a tensor."""


class LoadStopped(BaseException):
    """Ends a script that has shown all it will show. Not an `Exception`, so that scripts let it pass."""


@dataclass(slots=True)
class CompiledCall:
    """Something passed to `torch.compile`, and the first call of what came back (`kwargs` is None until then)."""

    function: Callable[..., Any]
    module: torch.nn.Module | None
    name: str
    dynamic: bool | None
    fullgraph: bool
    compiled_at: tuple[Frame, ...]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] | None = None
    called_at: tuple[Frame, ...] = ()
    training: bool = False
    gradients: bool = True
    again: CallsAgain | None = None
    """How it was called after that."""
    backend: Any = None
    options: str = ""
    """All else that `torch.compile` was given for it; backends that are made of the same code are written the same."""
    followed: bool = False
    """It was not given to `torch.compile`: the main program called it, and nobody knows what it will be given to."""
    exported: ExportAsked | None = None
    """How the file exports it, in place of compiling it."""

    @property
    def same(self) -> tuple[object, ...]:
        """What two of them have in common that would be compiled to the same."""
        subject = id(self.module) if self.module is not None else foreign.code_of(self.function)
        return (subject, self.dynamic, self.fullgraph, self.options)


class Interceptor:
    """Replaces `torch.compile` while user code is loaded.

    Args:
        sources: tells where the calls stand, and which of them the user wrote.
        stop_at: number of calls to take down before the script is stopped (it does not run the last); 0 for no limit.
        patience: number of further calls of known targets after which the script is stopped.
    """

    def __init__(self, sources: SourceMap, stop_at: int = 0, patience: int = PATIENCE) -> None:
        self.offered: list[CompiledCall] = []
        self.calls: list[CompiledCall] = []
        self.failures: list[BaseException] = []
        """What recorded calls raised, of which a notebook may go on to others: the targets' stages will meet it too."""
        self._sources = sources
        self._stop_at = stop_at
        self._patience = patience
        self._recording = False
        self._running = threading.local()
        self.resets = ResetWatch(sources)
        self.on_stop: Callable[[], None] = lambda: None
        """Told before the script is stopped, in the thread that stops it."""

    @property
    def running(self) -> bool:
        """Whether a call that is, or was, taken down goes on in this thread."""
        return getattr(self._running, "now", False)

    @property
    def failure(self) -> BaseException | None:
        """What the last recorded call that failed raised."""
        return self.failures[-1] if self.failures else None

    @contextlib.contextmanager
    def active(self, *, recording: bool) -> Iterator[None]:
        """Replaces `torch.compile`; calls of compiled objects are taken down only when `recording`."""
        original, before = torch.compile, self._recording
        torch.compile, self._recording = self.compile, recording
        try:
            with self.resets.watching() if recording else contextlib.nullcontext(), other_ways(self):
                yield
        finally:
            torch.compile, self._recording = original, before

    def compile(
        self,
        model: Any = None,
        *,
        fullgraph: bool = False,
        dynamic: bool | None = None,
        disable: bool = False,
        **options: Any,
    ) -> Any:
        """Stands in for `torch.compile`."""
        if model is None:
            return functools.partial(self.compile, fullgraph=fullgraph, dynamic=dynamic, disable=disable, **options)
        if disable or not callable(model) or isinstance(model, type):
            return model
        frames = self._sources.stack(sys._getframe(1), run_user_code.__code__)
        candidate = None
        if frames and frames[0].in_project and not _is_torchs_own(model, sys._getframe(1)):
            candidate = CompiledCall(*_subject(model), dynamic, fullgraph, frames)
            candidate.backend, candidate.options = options.get("backend"), _written(options)
            self.offered.append(candidate)
        run = _wrapper(self, model, candidate)
        return EagerModule(model, run) if isinstance(model, torch.nn.Module) else run

    def capture(
        self,
        model: Any,
        run: Callable[[], Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        asked: ExportAsked | None,
    ) -> Any:
        """Takes down that a model is captured with these arguments in another way, and gives what `run` gives."""
        frames = self._sources.stack(sys._getframe(2), run_user_code.__code__)
        if not self._recording or self.running or not callable(model) or not frames or not frames[0].in_project:
            return run()
        candidate = CompiledCall(*_subject(model), None, False, frames, exported=asked)
        return self.call(candidate, lambda *_, **__: run(), candidate, args, kwargs)

    def call(self, run: Any, model: Any, candidate: CompiledCall | None, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Calls `model` eagerly and takes the call down, unless it happens inside another one."""
        if not self._recording or self.running or candidate is None:
            return model(*args, **kwargs)
        self.resets.called(candidate.same)
        if candidate.kwargs is None:
            self._take_down(candidate, run, args, kwargs)
            if self._stop_at and len(self.calls) >= self._stop_at:
                self._stop("all targets are known")
        else:
            self._patience -= 1
            if self._patience < 0:
                self._stop(f"{candidate.name} was called again and again")
            self._take_down_again(candidate, run, args, kwargs)
        self._running.now = True
        try:
            return model(*args, **kwargs)
        except BaseException as error:
            self.failures.append(error)
            raise
        finally:
            self._running.now = False

    def _stop(self, why: str) -> None:
        self.on_stop()
        raise LoadStopped(why)

    def _take_down(self, candidate: CompiledCall, run: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if _is_method(run, args):
            _bind(candidate, args[0])
            args = args[1:]
        candidate.args, candidate.kwargs = _snapshot((args, kwargs), {})
        candidate.called_at = self._sources.stack(sys._getframe(3), run_user_code.__code__)
        candidate.training = candidate.module is not None and candidate.module.training
        candidate.gradients = torch.is_grad_enabled()
        candidate.again = CallsAgain(conditions_of(candidate.function, candidate.module, args, kwargs))
        candidate.again.is_new(args, kwargs, candidate.again.first)
        self.calls.append(candidate)

    def _take_down_again(
        self, candidate: CompiledCall, run: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Takes a further call down, unless it is like one before, or that of another object."""
        if _is_method(run, args):
            if foreign.attribute(candidate.function, "__self__") is not args[0]:
                return
            args = args[1:]
        conditions = conditions_of(candidate.function, candidate.module, args, kwargs)
        if candidate.again is not None and candidate.again.is_new(args, kwargs, conditions):
            frames = self._sources.stack(sys._getframe(3), run_user_code.__code__)
            given, named = _snapshot((args, kwargs), {})
            candidate.again.later.append(LaterCall(given, named, conditions, frames))


def _is_torchs_own(model: Any, caller: types.FrameType) -> bool:
    """Whether torch compiles a function of its own, as the eager `torch.cond` does: that is nobody's target."""
    if not foreign.is_a(model, types.FunctionType):
        return False  # `Module.compile()` passes a method of the module
    return all(file.startswith(TORCH_FOLDER) for file in (model.__code__.co_filename, caller.f_code.co_filename))


def _is_method(run: Any, args: tuple[Any, ...]) -> bool:
    """Whether a compiled function is called as a method of its first argument."""
    return bool(args) and getattr(type(args[0]), getattr(run, "__name__", ""), None) is run


class EagerModule(torch.nn.Module):
    """What `torch.compile(module)` returns here: the module itself in a thin coat, as torch's own `OptimizedModule`."""

    def __init__(self, original: torch.nn.Module, run: Callable[..., Any]) -> None:
        super().__init__()
        object.__setattr__(self, "_run", run)
        super().__setattr__("_orig_mod", original)
        self.training = original.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the module as the script asked."""
        return self._run(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "training" or "_modules" not in self.__dict__ or "_orig_mod" not in self._modules:
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)


def unwrap(value: Any) -> Any:
    """The original of something that came from an intercepted `torch.compile`; anything else as it is."""
    while True:
        if foreign.is_a(value, EagerModule):
            value = value._modules["_orig_mod"]
        elif foreign.is_a(value, types.FunctionType) and _INLINE in value.__dict__:
            value = value.__dict__[_INLINE]
        else:
            return value


def _written(options: dict[str, Any]) -> str:
    backend = options.get("backend")
    kind = (foreign.code_of(backend) or type(backend).__name__) if callable(backend) else backend
    return repr(sorted({**options, "backend": kind}.items()))


def is_compiled(value: Any) -> bool:
    """Whether something came from an intercepted `torch.compile`."""
    return unwrap(value) is not value


def _wrapper(interceptor: Interceptor, model: Any, candidate: CompiledCall | None) -> Callable[..., Any]:
    # A plain function, so that it binds `self` when it decorates a method.
    def run(*args: Any, **kwargs: Any) -> Any:
        return interceptor.call(run, model, candidate, args, kwargs)

    if not isinstance(model, torch.nn.Module):
        foreign.dress(run, model)
    whole = candidate is not None and candidate.fullgraph and not isinstance(model, torch.nn.Module)
    # Called within what is compiled, it takes no breaks either.
    setattr(run, _INLINE, torch._dynamo.error_on_graph_break(True)(model) if whole else model)
    return run


def _subject(model: Any) -> tuple[Callable[..., Any], torch.nn.Module | None, str]:
    """What is compiled: the callable, the module it belongs to, and its name."""
    model = unwrap(model)
    if isinstance(model, torch.nn.Module):
        return model, model, type(model).__name__
    owner = foreign.attribute(model, "__self__")
    if foreign.is_a(owner, torch.nn.Module):
        if foreign.name_of(model) in ("_call_impl", "forward", "__call__"):  # `Module.compile()` passes `_call_impl`
            return owner, owner, type(owner).__name__
        return model, owner, f"{type(owner).__name__}.{foreign.name_of(model)}"
    return model, None, foreign.name_of(model)


def _bind(candidate: CompiledCall, owner: Any) -> None:
    """Makes the candidate of a decorated method one of the object it was called on."""
    candidate.function, candidate.module, candidate.name = _subject(types.MethodType(candidate.function, owner))
    if candidate.module is None:
        candidate.name = f"{type(owner).__name__}.{candidate.name}"


def _snapshot(value: Any, made_of: dict[int, torch.Tensor]) -> Any:
    """Containers and iterators are copied and tensors detached, so that the script cannot change what it passed.

    A tensor that is passed twice stays one: `made_of` has what was made of each.
    """
    if type(value) is tuple:
        return tuple(_snapshot(item, made_of) for item in value)
    if type(value) is list:
        return [_snapshot(item, made_of) for item in value]
    if type(value) is dict:
        return {key: _snapshot(item, made_of) for key, item in value.items()}
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        if id(value) in made_of:
            return made_of[id(value)]
        made = made_of[id(value)] = _untransformed(value)
        vars(made).update({name: kept for name, kept in vars(value).items() if name.startswith(_MARKS)})
        return made
    return own_iterator(value)


def _untransformed(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without its history, and without the transforms (`torch.func.grad`) that a call may stand in."""
    made = torch.func.debug_unwrap(tensor.detach())
    if made.shape != tensor.shape:  # `vmap`, which the call sees nothing of
        made = torch.func.debug_unwrap(tensor.new_zeros(tensor.shape))
    with contextlib.suppress(RuntimeError):  # which transforms do not allow
        made.requires_grad_(tensor.requires_grad)
    return made
