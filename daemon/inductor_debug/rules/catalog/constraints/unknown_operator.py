"""The rule `unknown-operator`: operators of which nobody has written down where they run."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import Severity

from inductor_debug.accelerators.execution import RunsOn
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots


class UnknownOperatorRule(Constraint):
    """Finds operators that the profile's list does not have."""

    id = "unknown-operator"
    order = 6
    summary = "The accelerator's profile does not say whether an operator runs there."
    what = """
        The profile lists the operators that are known to run on the device, on the host, or not at all. This one is in
        none of these lists, so nothing can be promised: it may run, it may run on the CPU, or it may be refused."""
    why = """
        Silence would read as "this is fine". Real devices gain operators every week, and a list is always behind."""
    example = """
        ```python
        return torch.special.i0(x)      # in no list of accelerator 'spyre'
        ```"""
    fix = """
        Try it on the device. If it runs there, add it to a profile of your own (`extends = "spyre"` and
        `execution.device`); if not, express it through operators that are listed."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile lists what runs."""
        return profile.execution is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Every such operator is a root of its own."""
        for op in run.recording.ops:
            found = run.execution.of(op)
            if found.place is RunsOn.UNKNOWN:
                roots.of_op(op, found.subject, Severity.INFORMATION).cover(op)

    def cause(self, found: Sequence[Root]) -> str:
        """The operators: what is unknown is one thing to find out, wherever it is used."""
        return ", ".join(sorted({root.subject for root in found}))

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """Which operators they are."""
        names = wording.listing(root.subject for root in found)
        return f"whether accelerator '{profile.name}' runs {names} is not known: its profile does not list it."
