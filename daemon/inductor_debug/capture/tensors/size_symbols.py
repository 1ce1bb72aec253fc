"""What torch knows of the symbols that stand for sizes: their values in the example, and where their bounds end.

Private names, read against torch 2.11 to 2.13: `ShapeEnv.backed_var_to_val`, which was `var_to_val` before.
"""

from __future__ import annotations

from typing import Any

_UNBOUNDED = 1 << 48
"""Bounds past this are torch's ways of saying infinity."""


def example_values(environment: Any) -> dict[Any, Any]:
    """The size in the call that each of torch's symbols stands for."""
    return dict(getattr(environment, "backed_var_to_val", None) or getattr(environment, "var_to_val", None) or {})


def finite(bound: Any) -> int | None:
    """A bound as a number; None where there is none."""
    try:
        number = int(bound)
    except (AttributeError, TypeError, ValueError, OverflowError):
        # torch's integer infinity has no int.
        return None
    return number if abs(number) < _UNBOUNDED else None
