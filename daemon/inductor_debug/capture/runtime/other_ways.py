"""Other ways than `torch.compile` by which a file has torch capture a model: explained, optimised, exported, traced.

`torch._dynamo.explain(f)(x)` compiles `f`; `torch._dynamo.optimize("inductor")(f)` is what `torch.compile` was called
before; `torch.export.export(model, (x,))` captures a model whole; `torch.jit.trace(model, x)` records one run of it.
Each says what is captured and with which inputs, so it makes a target. They do here what they always do, once the call
was taken down: what a file goes on to do with an explanation or an exported program is its own. `torch.jit.trace` alone
gives the model itself, run once with the example: TorchScript's tracer takes no tensors without values, nor weights
that something watches ("Cannot insert a Tensor that requires grad as a constant", torch 2.13), and what it gives
computes the same. Those of `torch._dynamo` are private names of torch 2.11 to 2.13; where one is gone, it makes no
target.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import torch

from inductor_debug.capture.runtime import foreign

_SHOWN = ("graph", "inlined_graph", "code", "code_with_constants", "graph_for")
"""What a model shows of itself once TorchScript has traced it."""


@dataclass(frozen=True, slots=True)
class ExportAsked:
    """How a file exports a model: the arguments of `torch.export.export` after the model and its inputs.

    `draft` says that it asks for whatever comes of it, sound or not.
    """

    options: Mapping[str, Any]
    draft: bool = False


class Watcher(Protocol):
    """Takes calls down."""

    def compile(self, model: Any = None, **options: Any) -> Any:
        """What stands in for `torch.compile`."""

    def capture(
        self,
        model: Any,
        run: Callable[[], Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        asked: ExportAsked | None,
    ) -> Any:
        """Takes down that a model is captured with these arguments, and gives what `run` gives."""


@contextlib.contextmanager
def other_ways(watcher: Watcher) -> Iterator[None]:
    """Has the watcher told of them until it is left."""
    kept = _Kept()
    ways: list[tuple[ModuleType, str, Callable[[Any, Watcher], Any]]] = [
        (torch._dynamo, "explain", _explaining),
        (torch._dynamo, "optimize", _optimising),
        (torch.export, "export", functools.partial(_exporting, draft=False)),
        (torch.export, "draft_export", functools.partial(_exporting, draft=True)),
        (torch.jit, "trace", functools.partial(_tracing, kept=kept)),
        (torch.jit, "trace_module", functools.partial(_tracing_methods, kept=kept)),
        (torch.jit, "freeze", _on_scripted),
        (torch.jit, "optimize_for_inference", _on_scripted),
        (torch.jit, "save", _saving),
        (torch.jit, "load", functools.partial(_loading, kept=kept)),
    ]
    with contextlib.ExitStack() as stack:
        for owner, name, made in ways:
            original = getattr(owner, name, None)
            if original is not None:
                setattr(owner, name, functools.wraps(original)(made(original, watcher)))
                stack.callback(setattr, owner, name, original)
        yield


def _explaining(original: Callable[..., Any], watcher: Watcher) -> Any:
    def explain(model: Any, *early: Any, **named_early: Any) -> Any:
        def inner(*args: Any, **kwargs: Any) -> Any:
            return watcher.capture(model, lambda: original(model)(*args, **kwargs), args, kwargs, None)

        # As it was called before: with the arguments at once.
        return inner(*early, **named_early) if early or named_early else inner

    return explain


def _optimising(original: Callable[..., Any], watcher: Watcher) -> Any:
    def optimize(backend: Any = "inductor", *, nopython: bool = False, dynamic: bool | None = None, **more: Any) -> Any:
        disable = bool(more.get("disable"))
        return lambda model: watcher.compile(
            model, backend=backend, fullgraph=nopython, dynamic=dynamic, disable=disable
        )

    return optimize


def _exporting(original: Callable[..., Any], watcher: Watcher, *, draft: bool) -> Any:
    def export(mod: Any, args: Any = (), kwargs: Any = None, **options: Any) -> Any:
        def run() -> Any:
            return original(mod, args, kwargs, **options)

        named = {} if kwargs is None else kwargs
        if not foreign.is_a(mod, torch.nn.Module) or not isinstance(args, tuple) or not isinstance(named, Mapping):
            return run()  # torch refuses it
        asked = ExportAsked({name: _of_inputs(value, mod, args, kwargs) for name, value in options.items()}, draft)
        return watcher.capture(mod, run, args, dict(named), asked)

    return export


def _tracing(original: Callable[..., Any], watcher: Watcher, *, kept: _Kept) -> Any:
    def trace(func: Any, example_inputs: Any = None, *_: Any, example_kwarg_inputs: Any = None, **__: Any) -> Any:
        args = () if example_inputs is None else _as_arguments(example_inputs)
        kwargs = dict(example_kwarg_inputs) if isinstance(example_kwarg_inputs, Mapping) else {}
        watcher.capture(func, lambda: func(*args, **kwargs), args, kwargs, None)
        return _as_traced(func, kept)

    return trace


def _tracing_methods(original: Callable[..., Any], watcher: Watcher, *, kept: _Kept) -> Any:
    def trace_module(mod: Any, inputs: Any, *_: Any, **__: Any) -> Any:
        for name, example in inputs.items():
            method, args = getattr(mod, name), _as_arguments(example)
            model = mod if name == "forward" else method
            watcher.capture(model, functools.partial(model, *args), args, {}, None)
        return _as_traced(mod, kept)

    return trace_module


def _as_arguments(example: Any) -> tuple[Any, ...]:
    """The arguments that an example of inputs stands for: torch passes what is no tuple as the only one."""
    return tuple(example) if isinstance(example, tuple) else (example,)


def _on_scripted(original: Callable[..., Any], watcher: Watcher) -> Any:
    """What takes scripted modules alone: what was traced here is none, and is given back as it is."""

    def prepared(mod: Any, *args: Any, **kwargs: Any) -> Any:
        return original(mod, *args, **kwargs) if foreign.is_a(mod, torch.jit.ScriptModule) else mod

    return prepared


def _saving(original: Callable[..., Any], watcher: Watcher) -> Any:
    def save(m: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        own = foreign.attribute(m, "save")
        if foreign.is_a(own, _Save):
            own(f)
        else:
            original(m, f, *args, **kwargs)

    return save


def _loading(original: Callable[..., Any], watcher: Watcher, *, kept: _Kept) -> Any:
    def load(f: Any, *args: Any, **kwargs: Any) -> Any:
        found = kept.saved_as(f)
        return original(f, *args, **kwargs) if found is None else found

    return load


class _Kept:
    """The traced models that a file has saved, by where: nothing is written, and it loads them again from there."""

    def __init__(self) -> None:
        self._saved: list[tuple[Any, Any]] = []

    def save(self, model: Any, place: Any) -> None:
        """Notes where a model is saved: a path, or an open file."""
        self._saved.append((self._named(place), model))

    def saved_as(self, place: Any) -> Any:
        """What was saved there last; None where it was nothing that was traced."""
        place = self._named(place)
        found = (
            model for at, model in reversed(self._saved) if at is place or (isinstance(place, str) and at == place)
        )
        return next(found, None)

    def _named(self, place: Any) -> Any:
        return os.path.abspath(place) if isinstance(place, str | os.PathLike) else place


@dataclass(frozen=True, slots=True)
class _Save:
    """The `save` of a traced model."""

    model: Any
    kept: _Kept

    def __call__(self, f: Any, *_: Any, **__: Any) -> None:
        self.kept.save(self.model, f)


class _Nothing:
    """What TorchScript would show of a model, as `print(traced.graph)` does: nothing."""

    def __call__(self, *_: Any, **__: Any) -> _Nothing:
        return self

    def __getattr__(self, name: str) -> _Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __repr__(self) -> str:
        return ""


def _as_traced(traced: Any, kept: _Kept) -> Any:
    """The same; it and its parts have what a traced model has, and show nothing of it."""
    parts = traced.modules() if foreign.is_a(traced, torch.nn.Module) else (traced,)
    for part in parts:
        if not foreign.is_a(part, torch.jit.ScriptModule):
            for name, value in [*((name, _Nothing()) for name in _SHOWN), ("save", _Save(part, kept))]:
                if not hasattr(part, name):
                    with contextlib.suppress(AttributeError, TypeError):  # a built-in function, or a class with slots
                        object.__setattr__(part, name, value)
    return traced


def _of_inputs(value: Any, mod: Any, args: Any, kwargs: Any) -> Any:
    """An argument of an export; what says sizes by the very tensors says them by their places."""
    if isinstance(value, torch.export.ShapesCollection | torch.export.AdditionalInputs):
        with contextlib.suppress(Exception):  # which torch raises anew
            return value.dynamic_shapes(mod, args, kwargs)  # type: ignore[no-untyped-call]
    return value
