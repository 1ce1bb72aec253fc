"""Orders for KernelDiff: one place that turns what a command or an editor asks for into an order for a worker."""

from __future__ import annotations

from typing import Any

from inductor_debug_schema import DiffOptions, Task, to_wire

from inductor_debug.accelerators.profile import built_in_names, load_document
from inductor_debug.engine.orders.orders import Order


def diff_order(options: DiffOptions, *, target: str = "", timeout: float | None = None) -> Order:
    """The order for a comparison. Accelerators are looked up here: workers read no TOML.

    Args:
        options: what is compared, and how.
        target: the target's name, "" for all.
        timeout: seconds for the whole order.

    Raises:
        ProfileError: the backend is an accelerator whose file is missing or wrong.
    """
    said: dict[str, Any] = {name: value for name, value in to_wire(options).items() if value is not None}
    backend = options.backend or ""
    if backend in built_in_names() or backend.endswith(".toml"):
        document = load_document(backend)
        said["profile"], said["backend"] = document, document.get("name", backend)
    return Order(Task.DIFF, target, said, timeout=timeout)
