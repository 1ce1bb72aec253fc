"""An adapter as the rest of the tool meets it: each hook is called here, and what one raises is noted and left out.

`AdapterProfile` is a profile that knows its adapter, so that whoever is given a profile, rules and layouts among them,
asks the accelerator itself. Workers make one with `profile_of`; the daemon has the profile alone and runs no hook.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, TypeVar

from inductor_debug_schema import DeviceLayout

from inductor_debug.accelerators.adapter import (
    CompilationResult,
    Compiler,
    CompilerArtifact,
    own_hooks,
)
from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.constraints import AcceleratorConstraint, OperationSeen
from inductor_debug.accelerators.execution import Execution
from inductor_debug.accelerators.installed import (
    AdapterError,
    InstalledAdapter,
    asked,
    capitalised,
    installed_adapter,
    load,
)
from inductor_debug.accelerators.profile import read_profile

T = TypeVar("T")


class GuardedAdapter:
    """Calls an adapter's hooks. `problems` has a sentence for each hook that raised, which is not called again."""

    @staticmethod
    @cache
    def of(installed: InstalledAdapter) -> GuardedAdapter:
        """The adapter, loaded once in this process: what it sets up, a device of torch perhaps, it sets up once.

        Raises:
            AdapterError: it cannot be loaded.
        """
        return GuardedAdapter(installed)

    def __init__(self, installed: InstalledAdapter) -> None:
        """Loads the adapter.

        Raises:
            AdapterError: it cannot be loaded.
        """
        self.installed = installed
        self.problems: list[str] = []
        self._adapter = load(installed)
        self._own = frozenset(asked(installed.shown, "loaded", lambda: own_hooks(self._adapter)))
        self._broken: set[str] = set()
        self._compiler: list[Compiler | None] = []
        self._layouts: dict[tuple[object, ...], DeviceLayout | None] = {}

    @property
    def name(self) -> str:
        """What users call it: the entry point's name."""
        return self.installed.name

    @property
    def hooks(self) -> list[str]:
        """Those that it has of its own, in the order of the documentation."""
        return own_hooks(self._adapter)

    def capabilities(self) -> Profile:
        """What it can do, under its own name.

        Raises:
            AdapterError: it raised, or gave something else.
        """
        found = asked(self.installed.shown, "asked for its capabilities", lambda: self._adapter.capabilities)
        if not isinstance(found, Profile):
            raise AdapterError(
                f"{capitalised(self.installed.shown)} cannot be used: its capabilities are no "
                f"`AcceleratorCapabilities` but {found!r:.80}."
            )
        on_host = self.cpu_fallbacks()
        if not on_host:
            return dataclasses.replace(found, name=self.name)
        # What is not said to run on the host runs on the device, where the capabilities have no list of their own.
        known = found.execution or Execution(device=("*",))
        return dataclasses.replace(
            found, name=self.name, execution=dataclasses.replace(known, cpu=(*on_host, *known.cpu))
        )

    def compiler(self) -> Compiler | None:
        """Its backend for `torch.compile`, None where it has none.

        Raises:
            AdapterError: it raised; another backend in its place would compare something else.
        """
        if not self._compiler:
            self._compiler.append(asked(self.installed.shown, "asked for its compiler", self._adapter.compiler))
        return self._compiler[0]

    def arithmetic(self) -> Any:
        """Its operations, None where they are to be emulated.

        Raises:
            AdapterError: it raised; emulated ones in their place would compare something else.
        """
        return asked(self.installed.shown, "asked for its arithmetic", self._adapter.arithmetic)

    def has(self, hook: str) -> bool:
        """Whether it has a hook of its own that has not raised yet."""
        return hook in self._own and hook not in self._broken

    def layout(
        self, shape: Sequence[int], stride: Sequence[int], dtype: str, element_bytes: int
    ) -> DeviceLayout | None:
        """Its layout of a tensor, asked once for each kind of tensor; None where it has none, or the hook raised."""
        key = (*shape, None, *stride, dtype, element_bytes)
        if key not in self._layouts:
            call = partial(self._adapter.layout, shape, stride, dtype, element_bytes)
            self._layouts[key] = self._hook("layout", lambda: _required(call(), DeviceLayout), None)
        return self._layouts[key]

    def constraints(self) -> tuple[AcceleratorConstraint, ...]:
        """Its own rules."""
        return self._hook("constraints", lambda: tuple(self._adapter.constraints()), ())

    def broken_by(self, constraint: AcceleratorConstraint, operation: OperationSeen) -> str | None:
        """What one of its rules says of an operation."""
        key = f"constraints: {constraint.id}"
        return self._hook(key, lambda: constraint.broken_by(operation), None)

    def decompositions(self) -> dict[Any, Callable[..., Any]]:
        """What its compiler takes apart."""
        return self._hook("decompositions", lambda: dict(self._adapter.decompositions()), {})

    def cpu_fallbacks(self) -> tuple[str, ...]:
        """What runs on the host."""
        return self._hook("cpu_fallbacks", lambda: tuple(map(str, self._adapter.cpu_fallbacks())), ())

    def artifacts(self, result: CompilationResult) -> list[CompilerArtifact]:
        """What its compiler left of a graph."""
        return self._hook("artifacts", lambda: list(self._adapter.artifacts(result)), [])

    def versions(self) -> dict[str, str]:
        """Versions for a bug report."""
        return self._hook("versions", lambda: _texts(self._adapter.versions()), {})

    def logs(self) -> dict[str, str]:
        """Texts for a bug report."""
        return self._hook("logs", lambda: _texts(self._adapter.logs()), {})

    def _hook(self, name: str, call: Callable[[], T], otherwise: T) -> T:
        if name in self._broken:
            return otherwise
        try:
            return asked(self.installed.shown, f"asked for its {name}", call)
        except AdapterError as error:
            self._broken.add(name)
            self.problems.append(str(error))
            return otherwise


@dataclass(frozen=True)
class AdapterProfile(Profile):
    """The profile of an accelerator whose adapter is at hand."""

    adapter: GuardedAdapter | None = field(default=None, compare=False, repr=False)

    @property
    def has_layouts(self) -> bool:
        """Whether tensors lie there otherwise than on the host, in sticks or as the adapter says."""
        return self.stick_bytes is not None or (self.adapter is not None and self.adapter.has("layout"))

    def own_layout(
        self, shape: Sequence[int], stride: Sequence[int], dtype: str, element_bytes: int
    ) -> DeviceLayout | None:
        """What the adapter says, where it has the hook."""
        asks = self.adapter is not None and self.adapter.has("layout")
        return self.adapter.layout(shape, stride, dtype, element_bytes) if self.adapter and asks else None


def adapter_of(profile: Profile) -> GuardedAdapter | None:
    """The adapter of a profile; None where it has none, or where none can run here."""
    return profile.adapter if isinstance(profile, AdapterProfile) else None


def profile_of(document: Mapping[str, Any]) -> Profile:
    """In a worker: the profile of a document, with its adapter where it has one that can be loaded.

    Why one cannot was said when it was described, which the document knows (`problem`).

    Raises:
        ProfileError: the document is no profile.
    """
    profile = read_profile(dict(document))
    installed = installed_adapter(profile.name) if "capabilities" in document.get("source", {}) else None
    if installed is None:
        return profile
    try:
        return with_adapter(profile, GuardedAdapter.of(installed))
    except AdapterError:
        return profile


def with_adapter(profile: Profile, adapter: GuardedAdapter) -> AdapterProfile:
    """The profile, knowing its adapter. Of operators that its compiler takes apart, the parts are judged."""
    values = {each.name: getattr(profile, each.name) for each in dataclasses.fields(Profile)}
    values["allowed"] = (*profile.allowed, *map(str, adapter.decompositions()))
    return AdapterProfile(**values, adapter=adapter)


def problems_of(profile: Profile, document: Mapping[str, Any]) -> list[str]:
    """What hooks of the profile's adapter raised since it was loaded, but for what its description told already."""
    adapter = adapter_of(profile)
    told = document.get("source", {}).get("problem", "")
    return [problem for problem in adapter.problems if problem not in told] if adapter is not None else []


def _required(given: T | None, kind: type[T]) -> T | None:
    if given is not None and not isinstance(given, kind):
        raise TypeError(f"it gave {given!r:.80}, and not a {kind.__name__}")
    return given


def _texts(said: Mapping[str, str]) -> dict[str, str]:
    return {str(name): str(text) for name, text in said.items()}
