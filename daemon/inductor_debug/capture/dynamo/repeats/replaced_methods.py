"""Has a method of a class, or a function of a module, replaced for a while. Knows of none in particular."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(owner: Any, name: str, replacing: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """The owner has, while it is entered, what `replacing` makes of its own or inherited function."""
    own = name in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, replacing(original))
    try:
        yield
    finally:
        if own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)
