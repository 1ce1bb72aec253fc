"""The orders behind `bisect` and `transfers`, for the command line and the language server alike."""

from __future__ import annotations

from inductor_debug_schema import BisectOptions, BisectTask, TransfersTask

from inductor_debug.accelerators.profile import NO_ACCELERATOR, built_in_names, load_document
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.settings.accelerator_registry import backend_meant
from inductor_debug.engine.settings.settings import Settings

BISECT_SECONDS = 900.0
"""How long a bisection may take; Inductor builds a kernel for each thing that it is asked to leave out."""
MOST_VALUES = 1000
"""Of one tensor; a document has those of every tensor that crosses."""
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
        ProfileError: an accelerator's file is missing or wrong, or a name may be one of several.
    """
    name = str(settings.profile.get("name") or "")
    profiles = {name: settings.profile}

    def known(said: str) -> str:
        backend = backend_meant(said)
        if backend in profiles or not (backend in built_in_names() or backend.endswith(".toml")):
            return backend
        document = load_document(backend)
        own = str(document.get("name", backend))
        profiles[own] = document
        return own

    seconds = timeout or BISECT_SECONDS
    task = BisectTask(
        passes=options.passes is not False,
        reference=known(options.reference or "eager"),
        backends=[known(backend) for backend in options.backends or ()],
        accelerator=options.accelerator or (name if name not in (NO_ACCELERATOR, "mock") else None),
        gradients=options.gradients,
        inject=options.inject or [],
        profiles=profiles,
        time_limit=max(seconds - _SPARE_SECONDS, 1.0),
    )
    return Order(task, seed=options.seed or 0, timeout=seconds)


def transfers_order(*, values: int = 0, timeout: float | None = None) -> Order:
    """The order for a log of what crosses to the accelerator and back: to `mock` where the settings choose none.

    Args:
        values: how many of a tensor's first and last elements, and of those that differ, are told.
        timeout: seconds for the whole order.

    Raises:
        ValueError: `values` is no number from 0 to `MOST_VALUES`.
    """
    if not 0 <= values <= MOST_VALUES:
        raise ValueError(f"values: expected a number from 0 to {MOST_VALUES}, got {values}")
    return Order(TransfersTask(load_document("mock"), values), timeout=timeout)
