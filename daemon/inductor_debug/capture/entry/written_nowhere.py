"""What a main program that is followed would write goes nowhere: a folder for its results, a log, a table of losses.

It is followed for its models. Refusing what it writes would end it before it has made one; writing is not allowed. So
folders that may not be made count as made, and files that may not be written are written to the null device.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import os
from collections.abc import Callable, Iterator
from typing import Any

from inductor_debug.capture.runtime.containment import RefusableDeed, RefusedError


@contextlib.contextmanager
def written_nowhere() -> Iterator[None]:
    """Meanwhile refused writes are passed over; what is allowed is written as ever."""
    replaced = [
        (builtins, "open", builtins.open, _opening(builtins.open)),
        (io, "open", io.open, _opening(io.open)),
        (os, "mkdir", os.mkdir, _making(os.mkdir)),
    ]
    for owner, name, _, changed in replaced:
        setattr(owner, name, changed)
    try:
        yield
    finally:
        for owner, name, original, _ in replaced:
            setattr(owner, name, original)


def _opening(original: Callable[..., Any]) -> Callable[..., Any]:
    def open_file(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        try:
            return original(file, mode, *args, **kwargs)
        except RefusedError as refusal:
            if refusal.deed is not RefusableDeed.WRITE:
                raise
        return original(os.devnull, mode.replace("x", "w"), *args, **kwargs)

    return open_file


def _making(original: Callable[..., None]) -> Callable[..., None]:
    def make(*args: Any, **kwargs: Any) -> None:
        with contextlib.suppress(RefusedError):
            original(*args, **kwargs)

    return make
