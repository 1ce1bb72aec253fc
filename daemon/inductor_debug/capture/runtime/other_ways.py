"""Other ways than `torch.compile` by which a file has torch capture a model: explained, optimised, exported.

`torch._dynamo.explain(f)(x)` compiles `f`; `torch._dynamo.optimize("inductor")(f)` is what `torch.compile` was called
before; `torch.export.export(model, (x,))` captures a model whole. Each says what is captured and with which inputs, so
it makes a target. They do here what they always do, once the call was taken down: what a file goes on to do with an
explanation or an exported program is its own. Those of `torch._dynamo` are private names of torch 2.11 to 2.13; where
one is gone, it makes no target.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import torch

from inductor_debug.capture.runtime import foreign


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
    ways: list[tuple[ModuleType, str, Callable[[Any, Watcher], Any]]] = [
        (torch._dynamo, "explain", _explaining),
        (torch._dynamo, "optimize", _optimising),
        (torch.export, "export", functools.partial(_exporting, draft=False)),
        (torch.export, "draft_export", functools.partial(_exporting, draft=True)),
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


def _of_inputs(value: Any, mod: Any, args: Any, kwargs: Any) -> Any:
    """An argument of an export; what says sizes by the very tensors says them by their places."""
    if isinstance(value, torch.export.ShapesCollection | torch.export.AdditionalInputs):
        with contextlib.suppress(Exception):  # which torch raises anew
            return value.dynamic_shapes(mod, args, kwargs)  # type: ignore[no-untyped-call]
    return value
