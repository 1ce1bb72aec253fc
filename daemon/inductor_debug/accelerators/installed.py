"""Adapters of accelerators that are installed: which there are, and calling one without trusting it.

An adapter is somebody else's code. Names are read from the metadata of packages, which runs none of it; an adapter is
loaded only where models run, and whatever it raises becomes an `AdapterError` that names it, so that the work goes on.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from inductor_debug.accelerators.adapter import AcceleratorAdapter
from inductor_debug.system.own_files import trust

ENTRY_POINTS = "inductor_debug.accelerators"
"""The group of entry points that packages offer their adapters in."""
_SPOKEN_FOR = (("torch_spyre", "spyre", "inductor_debug.accelerators.torch_spyre:TorchSpyre"),)
"""Packages of accelerators' makers that offer no adapter: whose they are, and the adapter of ours that reads them."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class InstalledAdapter:
    """An adapter as the metadata of its package has it; `value` is its `package.module:attribute`.

    `speaks_for` is the package that decides on what it says, where that is not the adapter's own.
    """

    name: str
    value: str
    distribution: str = ""
    version: str = ""
    speaks_for: str = ""

    @property
    def shown(self) -> str:
        """The adapter and its package, for messages."""
        package = f" of {self.distribution} {self.version}".rstrip() if self.distribution else ""
        return f"the adapter {self.name!r}{package}"

    @property
    def package(self) -> str:
        """The package whose files decide on what the adapter says."""
        return self.speaks_for or self.value.partition(":")[0].partition(".")[0].strip()

    def place(self) -> str:
        """The file of its package; "" where there is none. Nothing is imported."""
        return _origin(self.package)


class AdapterError(Exception):
    """An adapter cannot be used, or raised; the message is a sentence that names it and what it was asked for."""


def installed_adapters() -> list[InstalledAdapter]:
    """All adapters that this interpreter's packages offer, each name once: the first on the path is the one.

    A package for which we have an adapter is offered like those that bring their own.
    """
    importlib.invalidate_caches()  # a package may have been installed since the interpreter started
    found: dict[str, InstalledAdapter] = {}
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        package = entry.dist
        distribution, version = (package.name, package.version) if package is not None else ("", "")
        found.setdefault(entry.name, InstalledAdapter(entry.name, entry.value, distribution, version))
    for speaks_for, name, value in _SPOKEN_FOR:
        if name not in found and _origin(speaks_for):
            found[name] = InstalledAdapter(name, value, speaks_for, _version(speaks_for), speaks_for)
    return list(found.values())


def _origin(package: str) -> str:
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return ""
    return (found.origin or "") if found is not None else ""


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def installed_adapter(name: str) -> InstalledAdapter | None:
    """The adapter of that name; None where none is installed."""
    return next((adapter for adapter in installed_adapters() if adapter.name == name), None)


def load(adapter: InstalledAdapter) -> AcceleratorAdapter:
    """Imports an adapter and makes it. Its package may then do what compilers do, as its user has chosen it.

    Raises:
        AdapterError: its module, or its constructor, raised; or it is no adapter.
    """
    place = adapter.place()
    if place:
        trust(os.path.dirname(place) if os.path.basename(place) == "__init__.py" else place)

    def made() -> object:
        found: object = importlib.metadata.EntryPoint(adapter.name, adapter.value, ENTRY_POINTS).load()
        return found() if isinstance(found, type) else found

    result = asked(adapter.shown, "loaded", made)
    if not isinstance(result, AcceleratorAdapter):
        raise AdapterError(
            f"{capitalised(adapter.shown)} cannot be used: {adapter.value} is no `AcceleratorAdapter` "
            f"but {result!r:.80}."
        )
    return result


def asked(shown: str, what: str, call: Callable[[], T]) -> T:
    """What somebody else's code returns.

    Args:
        shown: whose code it is.
        what: what it was doing, as in "raised ValueError when it was …".
        call: runs it.

    Raises:
        AdapterError: it raised anything but an interruption by the user.
    """
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also SystemExit: no adapter ends our process
        said = " ".join(str(error).split())
        how = f"{type(error).__name__}: {said:.300}" if said else type(error).__name__
        raise AdapterError(f"{capitalised(shown)} raised {how} when it was {what}.") from error


def capitalised(words: str) -> str:
    """With a capital first letter, as sentences have."""
    return words[:1].upper() + words[1:]
