"""The page of `accelerator-adapter`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class AcceleratorAdapterRule(RunRule):
    """Code of an accelerator's package raised."""

    id = "accelerator-adapter"
    summary = "The adapter of the chosen accelerator raised, so the analysis went on without what it was asked for."
    what = """
        The accelerator is an adapter that was installed with a package of its makers. Its code raised when it was
        loaded, or when one of its hooks was called. The message names the adapter, its package and version, what it
        was asked for, and what it raised. All else was judged as usual."""
    why = """
        What the hook would have said is missing: rules of the accelerator's own, its layouts, or, where the adapter
        could not be loaded at all, everything that is true for this accelerator alone."""
    example = """
        ```
        The adapter 'my_chip' of my-chip-debugging 1.2 raised ModuleNotFoundError: No module named 'my_chip_runtime'
        when it was loaded.
        ```"""
    fix = """
        `inductor-debug accelerators` lists all that are installed, where each was found, and what is wrong with it.
        Install what is missing, or tell the makers of the adapter: it is their code that raised."""
