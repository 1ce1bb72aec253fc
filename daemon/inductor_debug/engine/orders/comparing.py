"""Orders for KernelDiff: one place that turns what a command or an editor asks for into an order for a worker."""

from __future__ import annotations

from inductor_debug_schema import DiffDocument, DiffOptions, DiffTask, DiffVerdict

from inductor_debug.accelerators.profile import built_in_names, load_document
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.outcomes import failure
from inductor_debug.engine.settings.accelerator_registry import backend_meant


def diff_order(options: DiffOptions, *, target: str = "", timeout: float | None = None) -> Order:
    """The order for a comparison. Accelerators are looked up here: workers read no TOML.

    Args:
        options: what is compared, and how.
        target: the target's name, "" for all.
        timeout: seconds for the whole order.

    Raises:
        ProfileError: the backend is an accelerator whose file is missing or wrong, or may be one of several.
    """
    backend, profile = backend_meant(options.backend or "inductor"), None
    if backend in built_in_names() or backend.endswith(".toml"):
        profile = load_document(backend)
        backend = str(profile.get("name", backend))
    task = DiffTask(
        backend=backend,
        reference=options.reference or "eager",
        profile=profile,
        atol=options.atol,
        rtol=options.rtol,
        runs=options.runs or 1,
        gradients=options.gradients is True,
        inject=options.inject or [],
        nodes=options.nodes is not False,
        plots=options.plots is True,
        maps=options.maps is True,
        time_limit=options.time_limit or 120.0,
    )
    return Order(task, target, options.seed or 0, timeout=timeout)


def no_comparison(target: str, backend: str, performed: Performed) -> DiffDocument:
    """What stands for a comparison of which no answer came: failed, and why."""
    return DiffDocument(
        schema=1,
        target=target,
        reference="eager",
        backend=backend,
        verdict=DiffVerdict.FAILED,
        why=failure(performed) or "the worker gave no answer",
        outputs=[],
        gradients=[],
        nodes=[],
        segments=[],
        blame=[],
        faults=[],
        first_divergent=None,
        largest_growth=None,
        deterministic=None,
        seed=0,
        runs=0,
        weights="",
        notes=[],
        seconds={},
        partial=True,
    )
