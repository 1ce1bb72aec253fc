"""Values as Python source: what stands between the parentheses of a line of a reproducer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from inductor_debug.repro.program.program import Body, CodeText, Ref


class UnprintableError(ValueError):
    """Something has no form as ordinary Python code; the message says what."""


def source_of(value: Any, name: Callable[[str], str] = str) -> str:
    """The source of a literal, reference or nesting of them.

    Args:
        value: what to print.
        name: gives the name under which a value is known there.

    Raises:
        UnprintableError: it is none of these.
    """
    if isinstance(value, (Ref, Body)):
        return name(value.name)
    if isinstance(value, CodeText):
        return value.text
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return repr(value) if not isinstance(value, str) else _quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(source_of(item, name) for item in value)}]"
    if isinstance(value, tuple):
        inner = ", ".join(source_of(item, name) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{source_of(k)}: {source_of(v, name)}" for k, v in value.items()) + "}"
    raise UnprintableError(f"a {type(value).__name__} among the arguments")


def arguments(args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...], name: Callable[[str], str] = str) -> str:
    """The inside of a call's parentheses."""
    return ", ".join(
        [*(source_of(item, name) for item in args), *(f"{key}={source_of(item, name)}" for key, item in kwargs)]
    )


def _quoted(text: str) -> str:
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in shown else shown
