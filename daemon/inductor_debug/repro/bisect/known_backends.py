"""What is known of the backends of a climb before any is tried, and which versions each runs with.

Profiles and adapters are asked; an adapter that raises is asked nothing more, and says so when it is climbed.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch

from inductor_debug.accelerators.capabilities import CompilerStack
from inductor_debug.accelerators.guarded_adapter import GuardedAdapter, profile_of
from inductor_debug.accelerators.installed import AdapterError, installed_adapter
from inductor_debug.accelerators.profile import ProfileError
from inductor_debug.kerneldiff.emulation.backends import compiles, is_offered
from inductor_debug.repro.bisect.ladder import BackendRung, Backends

_TORCH_BACKENDS = "torch_dynamo_backends"
"""The group of entry points in which packages offer backends to torch."""


def known_backends(
    names: Iterable[str], accelerator: str | None, documents: Mapping[str, dict[str, Any]], file: ModuleType | None
) -> Backends:
    """What profiles and adapters say.

    Args:
        names: the backends that are named.
        accelerator: the accelerator that is climbed; None where none is.
        documents: accelerators' documents by name.
        file: the user's file, whose functions are backends, too.
    """
    wanted = [*names, *([accelerator] if accelerator is not None else [])]
    told = {name: _told(name, documents.get(name)) for name in [*documents, *wanted]}
    stacks = {name: stack for stacks in told.values() for name, stack in stacks.items()}
    beside = told.get(accelerator, {}) if accelerator is not None else {}
    return Backends(
        stacks,
        frozenset(name for name in wanted if _is_emulated(name, documents, file)),
        tuple(name for name in beside if name != accelerator and is_offered(name, file)),
    )


def versions_with(rung: BackendRung) -> dict[str, str]:
    """The versions that a rung runs with, by package: torch, what offers the backend, and what its parts are called."""
    found = {"torch": str(torch.__version__)}
    for package in (*_packages_offering(rung.backend), *(part.name for part in rung.parts)):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
            found.setdefault(package, importlib.metadata.version(package))
    return found


def _packages_offering(backend: str) -> Iterator[str]:
    adapter = installed_adapter(backend)
    if adapter is not None and adapter.distribution:
        yield adapter.distribution
    for entry in importlib.metadata.entry_points(group=_TORCH_BACKENDS):
        if entry.name == backend and entry.dist is not None:
            yield entry.dist.name


def _told(name: str, document: dict[str, Any] | None) -> dict[str, CompilerStack]:
    """What an accelerator says its backends are made of; nothing where there is none of that name, or it is broken."""
    installed = installed_adapter(name)
    try:
        if document is not None:
            return profile_of(document).backends
        return GuardedAdapter.of(installed).capabilities().backends if installed is not None else {}
    except (AdapterError, ProfileError):
        return {}


def _is_emulated(name: str, documents: Mapping[str, dict[str, Any]], file: ModuleType | None) -> bool:
    try:
        return (name in documents or is_offered(name, file)) and not compiles(name, file)
    except AdapterError:
        return False
