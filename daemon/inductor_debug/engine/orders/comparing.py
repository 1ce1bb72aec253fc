"""Orders for KernelDiff: one place that turns what a command or an editor asks for into an order for a worker."""

from __future__ import annotations

from typing import Any

from inductor_debug_schema import Task

from inductor_debug.accelerators.profile import built_in_names, load_document
from inductor_debug.engine.orders.orders import Order

OPTIONS: dict[str, tuple[type, ...]] = {
    "reference": (str,),
    "backend": (str,),
    "atol": (int, float),
    "rtol": (int, float),
    "seed": (int,),
    "runs": (int,),
    "gradients": (bool,),
    "inject": (list,),
    "nodes": (bool,),
    "plots": (bool,),
    "maps": (bool,),
    "time_limit": (int, float),
}
"""What may be asked for, and what types it has."""


def diff_order(options: dict[str, Any], *, target: str = "", timeout: float | None = None) -> Order:
    """The order for a comparison. Accelerators are looked up here: workers read no TOML.

    Args:
        options: any of `OPTIONS`; None is as good as left out.
        target: the target's name, "" for all.
        timeout: seconds for the whole order.

    Raises:
        ProfileError: the backend is an accelerator whose file is missing or wrong.
    """
    said = {name: options[name] for name in OPTIONS if options.get(name) is not None}
    backend = said.get("backend", "")
    if backend in built_in_names() or str(backend).endswith(".toml"):
        document = load_document(str(backend))
        said["profile"], said["backend"] = document, document.get("name", backend)
    return Order(Task.DIFF, target, said, timeout=timeout)
