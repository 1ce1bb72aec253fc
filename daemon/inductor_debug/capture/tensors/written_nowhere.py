"""What a target writes while it is looked at goes nowhere: a checkpoint, a log, a folder for results.

It is run for what it computes. Refusing what it writes would end it in the middle, and blame its author for it; writing
is not allowed. So folders that may not be made count as made, files that may not be written are written to the null
device, and `torch.save`, which opens its file without Python's knowing, saves nothing, unless in memory. Whoever asks
for the file that was written finds none. Likewise `torch._dynamo.reset` would end what looks at the target, and throws
nothing away.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo import decorators

from inductor_debug.capture.runtime.audit import DeedRefusedError
from inductor_debug.capture.tensors.saving import holds_no_values, is_in_memory

_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class WrittenNowhere:
    """A context in which refused writes are passed over; what is allowed is written as ever.

    Dynamo takes the functions of Python and torch that it knows for others while theirs are replaced, so it is
    suspended where Dynamo looks.

    Args:
        when: whether a write is the target's, where other code runs in between.
    """

    def __init__(self, when: Callable[[], bool] = lambda: True) -> None:
        self._when = when
        self._originals: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> WrittenNowhere:
        self.resume()
        return self

    def __exit__(self, *_: object) -> None:
        self.suspend()

    def resume(self) -> None:
        """Passes writes over from here on."""
        if self._originals:
            return
        for owner, name, made in (
            (builtins, "open", _opening),
            (io, "open", _opening),
            (os, "mkdir", _making),
            (torch, "save", lambda save, _: _saving(save)),
            (torch._dynamo, "reset", _keeping),
        ):
            original = getattr(owner, name)
            self._originals.append((owner, name, original))
            setattr(owner, name, _uncompiled(made(original, self._when)))

    def suspend(self) -> None:
        """Has all be as it was."""
        while self._originals:
            owner, name, original = self._originals.pop()
            setattr(owner, name, original)


def _uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, which Dynamo does not compile (`decorators.skip`; private, torch 2.11 to 2.15)."""
    skip = getattr(decorators, "skip", None)
    return function if skip is None else skip(function)


def _opening(original: Callable[..., Any], when: Callable[[], bool]) -> Callable[..., Any]:
    def open_file(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        try:
            return original(file, mode, *args, **kwargs)
        except DeedRefusedError:
            if not when():
                raise
        return original(os.devnull, mode.replace("x", "w"), *args, **kwargs)

    return open_file


def _making(original: Callable[..., None], when: Callable[[], bool]) -> Callable[..., Any]:
    def make(*args: Any, **kwargs: Any) -> None:
        try:
            original(*args, **kwargs)
        except DeedRefusedError:
            if not when():
                raise

    return make


def _keeping(original: Callable[[], None], when: Callable[[], bool]) -> Callable[..., Any]:
    def reset() -> None:
        if not when():
            original()

    return reset


def _saving(original: Callable[..., None]) -> Callable[..., Any]:
    def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        try:
            if isinstance(f, str | os.PathLike):
                sys.audit("open", f, "wb", _WRITING)
        except DeedRefusedError:
            return
        if is_in_memory(f) or not holds_no_values(obj):
            original(obj, f, *args, **kwargs)

    return save
