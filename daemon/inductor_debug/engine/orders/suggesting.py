"""The order for ways to run a target otherwise."""

from __future__ import annotations

from inductor_debug_schema import SuggestTask

from inductor_debug.engine.orders.orders import Order

LEAST_GAIN = 0.01
"""The part of the seconds, or of the memory, that a way must save to be offered."""


def suggest_order(timeout: float | None = None) -> Order:
    """What makes a target faster, or need less; `timeout` is in seconds, for the whole order."""
    return Order(SuggestTask(LEAST_GAIN), timeout=timeout)
