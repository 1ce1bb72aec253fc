"""What rules about memory in sticks have in common: when they apply, and how they note where a stick is cut through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inductor_debug_schema import CutSticks, Facts

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.roots import Root
from inductor_debug.rules.recording.ops import Size


class StickConstraint(Constraint):
    """A constraint of accelerators that have sticks."""

    def applies(self, profile: Profile) -> bool:
        """Whether the accelerator has sticks."""
        return profile.stick_bytes is not None


class StickCutConstraint(StickConstraint):
    """One that forbids to begin or end in the middle of a stick; its roots know where that happens."""

    def facts(self, found: Sequence[Root], profile: Profile) -> Facts:
        """Where sticks are cut, and how many elements they hold."""
        known = [root.facts for root in found if isinstance(root.facts, CutSticks)]
        return CutSticks([size for facts in known for size in facts.cut_at], known[0].elements_per_stick)


def cut_sticks(at: Iterable[Size], unit: int) -> CutSticks:
    """Sticks of `unit` elements that are cut at these sizes or offsets, symbols as they are written."""
    return CutSticks([size if isinstance(size, int) else str(size) for size in at], unit)
