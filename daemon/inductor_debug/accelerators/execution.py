"""Where an accelerator runs each operator, as plain data: on the device, on the host, or not at all.

It is a list of what is known to run, so an operator that nobody wrote down is unknown, and neither fine nor refused.
Operators that the accelerator's compiler takes apart are as good as the worst of their parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase


class RunsOn(str, Enum):
    """Where an operator runs."""

    DEVICE = "device"
    """On the accelerator, compiled or not."""
    COMPILED = "compiled"
    """On the accelerator where it is compiled; called by itself it fails."""
    CPU = "cpu"
    """On the host: what it reads goes there and what it makes comes back."""
    REFUSED = "refused"
    """Nowhere: compiling it, or calling it, is an error."""
    UNKNOWN = "unknown"
    """Nobody has written it down."""


_BEST_FIRST = (
    RunsOn.DEVICE,
    RunsOn.COMPILED,
    RunsOn.UNKNOWN,
    RunsOn.CPU,
    RunsOn.REFUSED,
)


@dataclass(frozen=True, slots=True)
class Execution:
    """The operators of an accelerator.

    `device`, `compiled` and `cpu` are patterns as in `OperatorLimit.match`, in-place twins included; they hold for
    operators that no limit's conditions are true of. `parts` says what an operator is taken apart into. `computes`
    names for some dtypes the only operators that compute in them, beside those that merely move data; `conversions` for
    some dtypes those that the device can convert to (the host does the others).
    """

    device: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    cpu: tuple[str, ...] = ()
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    computes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    conversions: dict[str, frozenset[str]] = field(default_factory=dict)

    def place_of(self, overload: str) -> RunsOn:
        """Where the operator runs, whatever it is called with."""
        packet, _, kind = _functional(overload).rpartition(".")
        for place, patterns in (
            (RunsOn.CPU, self.cpu),
            (RunsOn.DEVICE, self.device),
            (RunsOn.COMPILED, self.compiled),
        ):
            if named(patterns, packet, kind):
                return place
        parts = self.parts.get(packet, ())
        return max((self.place_of(f"{part}.default") for part in parts), key=_BEST_FIRST.index, default=RunsOn.UNKNOWN)

    def part_on(self, place: RunsOn, overload: str) -> str | None:
        """The part of an operator that runs at `place`; None where it is not taken apart."""
        packet = _functional(overload).rpartition(".")[0]
        return next((part for part in self.parts.get(packet, ()) if self.place_of(f"{part}.default") is place), None)

    def cannot_compute(self, overload: str, dtype: str) -> str | None:
        """The operator, or the part of it, that does not compute in `dtype`; None where all of it does."""
        patterns = self.computes.get(dtype)
        if patterns is None:
            return None
        packet, _, kind = _functional(overload).rpartition(".")
        if named(patterns, packet, kind):
            return None
        parts = self.parts.get(packet)
        if parts is None:
            return packet
        return next((part for part in parts if self.cannot_compute(f"{part}.default", dtype) is not None), None)

    def converts(self, source: str, target: str) -> bool:
        """Whether the device converts tensors of `source` to `target` itself."""
        return not self.conversions or source == target or target in self.conversions.get(source, frozenset())


def named(patterns: tuple[str, ...], packet: str, kind: str) -> bool:
    """Whether a pattern means the operator: all its overloads (`aten.where`) or one (`aten.where.self`)."""
    return any(fnmatchcase(packet, pattern) or fnmatchcase(f"{packet}.{kind}", pattern) for pattern in patterns)


def _functional(overload: str) -> str:
    """The operator that does the same without writing in place, which functionalisation makes of it."""
    packet, _, kind = overload.rpartition(".")
    functional = packet[:-1] if packet.endswith("_") and not packet.endswith("__") else packet
    return f"{functional}.{kind}"
