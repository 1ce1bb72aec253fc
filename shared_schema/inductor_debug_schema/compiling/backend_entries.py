"""The backends of `torch.compile` that an interpreter knows, as they cross from it and are listed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

ALL_BACKENDS = "all backends"
"""Asked for in place of an adapter's name: the backends of `torch.compile` that are known there."""


class BackendKind(str, Enum):
    """What a backend of `torch.compile` is for."""

    COMPILER = "compiler"
    """It makes models faster, or compiles them for a device."""
    DEBUG = "debug"
    """It runs what a part of the compiler makes, so that faults can be told apart."""
    EXPERIMENTAL = "experimental"
    ACCELERATOR = "accelerator"
    """A profile or an adapter of ours, which comparisons take; `torch.compile` does not know its name."""


@dataclass(frozen=True, kw_only=True)
class BackendEntry:
    """One backend of the list.

    `distribution` and `version` are those of the package that offers it, "" for torch itself. `lacks` is what has to be
    there for it and is not: a module, or a device.
    """

    name: str
    backend_kind: BackendKind
    distribution: str = ""
    version: str = ""
    lacks: str = ""
