"""The order for a profile of real steps, run here or recorded elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import ProfileRunTask

from inductor_debug.engine.orders.orders import Order

BACKENDS = ("inductor",)
"""What is profiled where nobody says."""
STEPS = 10
SECONDS = 2.0
_LONGEST = 600.0
"""Seconds of the whole order where nobody says: a large model is compiled for minutes."""


def profile_order(
    backends: Sequence[str] = BACKENDS,
    *,
    trace: str = "",
    training: bool | None = None,
    steps: int = STEPS,
    seconds: float = SECONDS,
    timeout: float | None = None,
) -> Order:
    """Profiles targets with each of `backends`, or reads the trace at `trace`; `timeout` is for the whole order."""
    return Order(ProfileRunTask(list(backends), steps, seconds, training, trace), timeout=timeout or _LONGEST)
