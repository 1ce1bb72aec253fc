"""What to say of a name that nobody knows: the one that was probably meant, or those that there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def unknown(name: str, known: Iterable[str], noun: str = "value") -> str:
    """`unknown command 'chekc'; did you mean 'check'?`, or `unknown stage 'x'; there are aot, mock`."""
    names = sorted(known)
    near = nearest(name, names)
    return f"unknown {noun} {name!r}; " + (f"did you mean {near!r}?" if near else f"there are {', '.join(names)}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant; None where none is like it."""
    names = sorted(known)
    near = difflib.get_close_matches(name.lower(), names, n=1) or difflib.get_close_matches(name, names, n=1)
    return near[0] if near else None
