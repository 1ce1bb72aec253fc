"""What an installed adapter says of itself, as data: made where it is installed, read by the daemon.

A description becomes the document that settings and orders carry, as a profile's TOML does.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from typing import Any

from inductor_debug_schema import AcceleratorEntry, AcceleratorKind, AdapterDescription, to_wire

from inductor_debug.accelerators.constraints import RULE_MARK
from inductor_debug.accelerators.guarded_adapter import GuardedAdapter
from inductor_debug.accelerators.installed import AdapterError, InstalledAdapter


def entry_of(adapter: InstalledAdapter) -> AcceleratorEntry:
    """What is known of an adapter that nobody has loaded."""
    return AcceleratorEntry(
        name=adapter.name,
        kind=AcceleratorKind.INSTALLED,
        place=adapter.place(),
        distribution=adapter.distribution,
        version=adapter.version,
    )


def described(adapter: InstalledAdapter, *, report: bool = False) -> AdapterDescription:
    """Loads an adapter and asks it what it can do, and for a bug report what else it knows.

    What it raises is the entry's `problem`.
    """
    entry = entry_of(adapter)
    try:
        guarded = GuardedAdapter(adapter)
        profile = guarded.capabilities()
        capabilities = to_wire(profile)
        versions, logs = (guarded.versions(), guarded.logs()) if report else ({}, {})
        rules = {f"{adapter.name}{RULE_MARK}{rule.id}": rule.summary for rule in guarded.constraints()}
    except AdapterError as error:
        return AdapterDescription(entry=dataclasses.replace(entry, problem=str(error)), files=_sources(adapter))
    entry = dataclasses.replace(
        entry,
        title=profile.title,
        hooks=guarded.hooks,
        rules=rules,
        gpu=profile.gpu is not None,
        computes=profile.arithmetic is not None or bool({"compiler", "arithmetic"} & {*guarded.hooks}),
        problem=" ".join(guarded.problems),
    )
    return AdapterDescription(
        entry=entry, capabilities=capabilities, files=_sources(adapter), versions=versions, logs=logs
    )


def _sources(adapter: InstalledAdapter) -> list[str]:
    """The files of the adapter's package that were imported for it."""
    package = adapter.package
    modules = [module for name, module in [*sys.modules.items()] if name == package or name.startswith(f"{package}.")]
    files = {getattr(module, "__file__", None) for module in modules} | {adapter.place() or None}
    return sorted(os.path.abspath(file) for file in files if file)


def awaited_document(name: str) -> dict[str, Any]:
    """In place of the document of an accelerator of which nobody knows yet what it can do."""
    return {"schema": 1, "name": name, "source": {"awaited": True}}


def document_of(description: AdapterDescription, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The accelerator's document; where its adapter cannot be used `problem` says why.

    Args:
        description: what the adapter said.
        known: what is known of the accelerator without it, which then holds; None for nothing, so without limits.
    """
    entry = description.entry
    if description.capabilities is None and known is not None:
        return {**known, "source": {**known["source"], "problem": entry.problem}}
    source: dict[str, Any] = {"path": entry.place, "adapter": to_wire(entry), "problem": entry.problem}
    if description.capabilities is not None:
        source["capabilities"] = description.capabilities
    return {"schema": 1, "name": entry.name, "title": entry.title, "source": source}
