"""The rule `unsupported-op`: operators the accelerator cannot run, always or under conditions."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import Severity

from inductor_debug.accelerators.execution import RunsOn
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.op_execution import Executed
from inductor_debug.rules.judging.roots import Root, Roots


class UnsupportedOpRule(Constraint):
    """Finds operators that the profile denies."""

    id = "unsupported-op"
    order = 6
    summary = "The accelerator cannot run an operator, or cannot run it with these arguments."
    what = """
        The profile of the accelerator denies operators by name, by overload or by pattern, and may add conditions: an
        argument (`transposed=True`), the rank of the input (3-d convolution), the dtype of the input (`rsqrt` on
        float32). Names are those of ATen, the operators that torch itself is made of; one line of Python may run
        several. One operator is told once a file, with the places and the number of times that it runs.

        In-place operators are judged as a compiler sees them: functionalisation turns them into ordinary ones, unless
        they write into an input, a parameter or a buffer."""
    why = """
        Backends differ in what they do with an operator they lack: an error while compiling, a slow and silent detour
        over the CPU, or wrong numbers. All three are cheaper to meet in the editor."""
    example = """
        ```python
        self.act = nn.PReLU()                   # aten.prelu: denied by the mock accelerator
        self.up = nn.ConvTranspose2d(64, 32, 2) # aten.convolution with transposed=True

        def forward(self, x):
            x = F.relu(x, inplace=True)         # aten.relu_ on an input: the write outlives the graph
        ```"""
    fix = """
        Use what the message suggests. If nothing is suggested, express the operator through others, or move it out of
        the compiled function. For an op that is denied for one dtype only, convert its input."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile denies anything."""
        return bool(profile.operators) or profile.execution is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Every op that runs neither on the device nor on the host is a root of its own."""
        for op in run.recording.ops:
            found = run.execution.of(op)
            if found.place is RunsOn.REFUSED or (found.limit is not None and found.limit.runs is RunsOn.DEVICE):
                root = roots.of_op(op, found.subject, found.severity)
                root.detail = _advice(found)
                root.cover(op)

    def cause(self, found: Sequence[Root]) -> str:
        """The operators: what an accelerator lacks is one thing to learn, wherever it is used."""
        return ", ".join(sorted({root.subject for root in found}))

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """Which operators are denied, why, and what to use instead."""
        subject = found[0].subject
        others = [root.subject for root in found if root.subject != subject]
        count = len(set[int]().union(*(root.covers for root in found if root.subject == subject)))
        times = f" ({count} times here)" if count > 1 else ""
        more = f"; the same expression also runs {wording.listing(others)}" if others else ""
        does = "is not supported by" if found[0].severity is not Severity.INFORMATION else "has conditions on"
        return f"{subject} {does} accelerator '{profile.name}'{times}{found[0].detail}{more}."


def _advice(found: Executed) -> str:
    reason = f": {found.reason}" if found.reason else ""
    return reason + (f"; instead, use {found.limit.instead}" if found.limit is not None and found.limit.instead else "")
