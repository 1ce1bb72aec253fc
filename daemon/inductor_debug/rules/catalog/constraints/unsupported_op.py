"""The rule `unsupported-op`: operators the accelerator cannot run, always or under conditions."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from inductor_debug.accelerators.capabilities import OperatorLimit
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording.ops import Op, Recording


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
        return bool(profile.operators)

    def inspect(self, recording: Recording, profile: Profile, roots: Roots) -> None:
        """Every op that a limit names and whose conditions hold is a root of its own."""
        limits: dict[str, tuple[OperatorLimit, ...]] = {}
        outside = _outside(recording)
        for op in recording.ops:
            candidates = limits.get(op.overload)
            if candidates is None:
                candidates = limits[op.overload] = profile.limits_on(op.overload)
            for limit in candidates:
                if _holds(limit, op, outside):
                    root = roots.of_op(op, _subject(limit, op), limit.severity)
                    root.detail = _advice(limit)
                    root.cover(op)
                    break

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
        return f"{subject} is not supported by accelerator '{profile.name}'{times}{found[0].detail}{more}."


def _outside(recording: Recording) -> set[int]:
    """The memory that was there before any op ran: writes into it are seen after the graph."""
    return {origin.meta.storage for origin in recording.origins.values() if origin.name}


def _holds(limit: OperatorLimit, op: Op, outside: set[int]) -> bool:
    """Whether every condition of `limit` is true of `op`."""
    if limit.mutates_inputs and not any(meta.storage in outside for meta in op.inputs if meta.value in op.mutates):
        return False
    if limit.dtypes and not any(meta.dtype in limit.dtypes for meta in op.inputs):
        return False
    if limit.input_ranks and not (op.inputs and len(op.inputs[0].shape) in limit.input_ranks):
        return False
    if limit.output_ranks and not (op.outputs and len(op.outputs[0].shape) in limit.output_ranks):
        return False
    if limit.autograd and not any(fnmatchcase(op.autograd_node, pattern) for pattern in limit.autograd):
        return False
    return all(name in op.arguments and _same(op.arguments[name], wanted) for name, wanted in limit.arguments.items())


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, (list, tuple)) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(_same, value, wanted))
    return type(value) is type(wanted) and bool(value == wanted)


def _subject(limit: OperatorLimit, op: Op) -> str:
    conditions = [f"{name}={value}" for name, value in limit.arguments.items()]
    if limit.dtypes:
        conditions.append(wording.listing(meta.dtype for meta in op.inputs if meta.dtype in limit.dtypes) + " input")
    if limit.input_ranks:
        conditions.append(f"a {len(op.inputs[0].shape)}-dimensional input")
    if limit.output_ranks:
        conditions.append(f"a {len(op.outputs[0].shape)}-dimensional result")
    if limit.mutates_inputs:
        conditions.append("a write into an input, a parameter or a buffer")
    given = f" with {' and '.join(conditions)}" if conditions else ""
    inside = f" in {op.autograd_node}" if limit.autograd else ""
    return wording.operator(op.overload) + inside + given


def _advice(limit: OperatorLimit) -> str:
    reason = f": {limit.reason}" if limit.reason else ""
    return reason + (f"; instead, use {limit.instead}" if limit.instead else "")
