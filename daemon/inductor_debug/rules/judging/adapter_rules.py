"""Rules that the adapter of an accelerator brings along, as the judge asks them.

A constraint of an adapter looks at one operation; that an operation breaks it is the trouble, and where it is shown,
how often it is told and what silences it is as for all rules. What a constraint raises is noted by its adapter.
"""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.constraints import RULE_MARK, AcceleratorConstraint, OperationSeen, TensorSeen
from inductor_debug.accelerators.guarded_adapter import GuardedAdapter, adapter_of
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording.ops import Op, Size, TensorMeta


class AdapterConstraintRule(Constraint):
    """One constraint of an adapter."""

    order = 150
    what = why = example = fix = ""

    def __init__(self, adapter: GuardedAdapter, constraint: AcceleratorConstraint) -> None:
        self.id = f"{adapter.name}{RULE_MARK}{constraint.id}"
        self.summary = constraint.summary
        self._adapter, self._constraint = adapter, constraint

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Asks the constraint about each operation that it looks at."""
        for op in run.recording.ops:
            if self._constraint.looks_at(op.overload):
                broken = self._adapter.broken_by(self._constraint, seen(op))
                if broken:
                    roots.of_op(op, f"{wording.operator(op.overload)}: {broken}", self._constraint.severity).cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What the accelerator asks, what is wrong, and what to do instead."""
        asked = self.summary.rstrip(".")
        instead = f"; {self._constraint.fix.rstrip('.')}" if self._constraint.fix else ""
        return f"{asked} (accelerator '{profile.name}'): {wording.listing(root.subject for root in found)}{instead}."


def adapter_rules(profile: Profile) -> tuple[Constraint, ...]:
    """The rules of a profile's adapter; none where it has none, or where it cannot run here."""
    adapter = adapter_of(profile)
    if adapter is None or not adapter.has("constraints"):
        return ()
    return tuple(AdapterConstraintRule(adapter, constraint) for constraint in adapter.constraints())


def seen(op: Op) -> OperationSeen:
    """An operation as constraints see it."""
    return OperationSeen(op.overload, tuple(map(_tensor, op.inputs)), tuple(map(_tensor, op.outputs)), op.arguments)


def _tensor(meta: TensorMeta) -> TensorSeen:
    return TensorSeen(_known(meta.shape), _known(meta.stride), meta.dtype, meta.element_bytes)


def _known(sizes: Sequence[Size]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in sizes)
