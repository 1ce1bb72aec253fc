"""The orders behind `bisect` and `transfers`, for the command line and the language server alike."""

from __future__ import annotations

from typing import Any

from inductor_debug_schema import BisectOptions, Task, to_wire

from inductor_debug.accelerators.profile import NO_ACCELERATOR, built_in_names, load_document
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.settings.settings import Settings

BISECT_SECONDS = 900.0
"""How long a bisection may take; Inductor builds a kernel for each thing that it is asked to leave out."""
_SPARE_SECONDS = 30.0
"""Kept back from that for the answer, so that a long search ends with one."""


def bisect_order(options: BisectOptions, settings: Settings, *, timeout: float | None = None) -> Order:
    """The order for a bisection; the accelerator of the settings is climbed last, if one was chosen.

    The accelerator `mock` computes as eager does and is left out, unless the options name it.

    Args:
        options: what is climbed. Accelerators among `backends` and `reference` are looked up
            here: workers read no TOML.
        settings: the file's.
        timeout: seconds for the whole order.

    Raises:
        ProfileError: an accelerator's file is missing or wrong.
    """
    said: dict[str, Any] = {name: value for name, value in to_wire(options).items() if value is not None}
    name = str(settings.profile.get("name") or "")
    profiles = {name: settings.profile}

    def known(backend: str) -> str:
        if backend in profiles or not (backend in built_in_names() or backend.endswith(".toml")):
            return backend
        document = load_document(backend)
        own = str(document.get("name", backend))
        profiles[own] = document
        return own

    if "backends" in said:
        said["backends"] = [known(backend) for backend in said["backends"]]
    if "reference" in said:
        said["reference"] = known(said["reference"])
    seconds = timeout or BISECT_SECONDS
    said |= {"profiles": profiles, "time_limit": max(seconds - _SPARE_SECONDS, 1.0)}
    said.setdefault("accelerator", name if name not in (NO_ACCELERATOR, "mock") else None)
    return Order(Task.BISECT, options=said, timeout=seconds)


def transfers_order(*, timeout: float | None = None) -> Order:
    """The order for a log of what crosses to the accelerator and back: to `mock` where the settings choose none."""
    return Order(Task.TRANSFERS, options={"otherwise": load_document("mock")}, timeout=timeout)
