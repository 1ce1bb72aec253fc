"""The accelerators that there are, and what an installed adapter says of itself, as it crosses from its interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Union

from inductor_debug_schema.compiling.backend_entries import BackendEntry


class AcceleratorKind(str, Enum):
    """Where an accelerator comes from."""

    BUILT_IN = "built-in"
    """A profile that comes with the tool."""
    INSTALLED = "installed"
    """An adapter, in a package that is installed beside torch."""
    FILE = "file"
    """A profile of the user's own."""


@dataclass(frozen=True, kw_only=True)
class AcceleratorEntry:
    """One accelerator of the list.

    `place` is the file that it was found in, `distribution` and `version` are those of the package that offers it.
    `problem` says in a sentence what of it cannot be used, and why; "" where all can. `hooks` are those that its
    adapter has of its own, `rules` the summaries of its rules by id. `computes` says whether numbers can be had:
    emulated, or by its compiler. `gpu` says that it is a GPU, of which one is chosen among many.
    """

    name: str
    title: str = ""
    kind: AcceleratorKind = AcceleratorKind.BUILT_IN
    place: str = ""
    distribution: str = ""
    version: str = ""
    problem: str = ""
    hooks: list[str] = field(default_factory=list)
    rules: dict[str, str] = field(default_factory=dict)
    computes: bool = False
    gpu: bool = False


@dataclass(frozen=True, kw_only=True)
class AcceleratorList:
    """`inductorDebug.accelerators`: what can be chosen where `interpreter` runs the models.

    `backends` are the names that a comparison may be offered with: torch.compile's own, the usual one first, and the
    accelerators of which numbers can be had. `chosen` is the one that the file of the request is checked for, however
    the setting is written: a name, "none", or a profile's path.
    """

    interpreter: str
    accelerators: list[AcceleratorEntry]
    backends: list[str]
    chosen: str = ""


@dataclass(frozen=True, kw_only=True)
class AdapterDescription:
    """What an adapter said when it was asked in its own interpreter.

    `capabilities` is its profile on the wire, None where it has a problem. `files` are the sources that it was made
    of: once one of them has changed, it may say something else. `versions` and `logs`, by file name, are for bug
    reports, and there where one is made.
    """

    entry: AcceleratorEntry
    capabilities: Union[dict[str, Any], None] = None
    files: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)


THIS_MACHINE = "this machine"
"""Asked for in place of an adapter's name: which devices torch sees."""


@dataclass(frozen=True, kw_only=True)
class DeviceSeen:
    """A GPU that torch can use: `platform` is "cuda", "hip" or "mps", `architecture` as compilers name it (`sm_89`)."""

    platform: str
    device_name: str = ""
    architecture: str = ""
    memory_bytes: Union[int, None] = None


@dataclass(frozen=True, kw_only=True)
class AdaptersFound:
    """What an interpreter answers: `folders` are those in which it looks for packages, in order.

    `devices` and `backends`, with the version of `torch`, are told where these were asked for.
    """

    folders: list[str]
    adapters: list[AdapterDescription]
    devices: list[DeviceSeen] = field(default_factory=list)
    backends: list[BackendEntry] = field(default_factory=list)
    torch: str = ""
