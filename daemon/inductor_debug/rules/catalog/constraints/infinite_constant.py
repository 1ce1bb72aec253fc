"""The rule `infinite-constant`: infinities in the program that become something else on the accelerator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from inductor_debug.accelerators.execution import RunsOn
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots


class InfiniteConstantRule(Constraint):
    """Finds infinities that are written down in the program."""

    id = "infinite-constant"
    order = 6
    summary = "An infinity in the program is no infinity on the accelerator."
    what = """
        The accelerator's numbers have one pattern for infinities and for what is no number, and its compiler encodes an
        infinite constant as the latter. A mask of `-inf` is where that happens: `softmax` of it gives NaN, where zeros
        were meant. Told is every operation that is given an infinity as a number and runs on the device."""
    why = """
        One NaN in a row of attention makes the whole row NaN, and soon all of the model. On the CPU the same code is
        right, so that no test there finds it."""
    example = """
        ```python
        mask = torch.full((n, n), float("-inf")).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
        ```"""
    fix = """
        Use a number that is large enough: `torch.finfo(scores.dtype).min`, or -10000, of which `exp` gives 0 in float16
        as well. Better, give the mask to `F.scaled_dot_product_attention` as booleans, or say `is_causal=True`."""

    def applies(self, profile: Profile) -> bool:
        """Whether the accelerator has no infinite constants."""
        return profile.arithmetic is not None and not profile.arithmetic.infinite_constants

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Every operation with an infinite argument is a root."""
        for op in run.recording.ops:
            if op.index in run.attention:
                continue  # The accelerator's own attention makes its masks itself.
            infinite = [name for name, value in op.arguments.items() if _infinite(value)]
            floating = any(meta.dtype.startswith(("float", "bfloat")) for meta in op.outputs)
            if infinite and floating and run.execution.of(op).place is not RunsOn.CPU:
                root = roots.of_op(op, wording.operator(op.overload))
                root.detail = str(op.arguments[infinite[0]])
                root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What is given the infinity, and what becomes of it."""
        names = wording.listing(root.subject for root in found)
        are = wording.of_number(found, "is", "are")
        return (
            f"{names} {are} given the constant {found[0].detail}, which accelerator '{profile.name}' encodes as NaN; "
            "use a large finite number (torch.finfo(dtype).min)."
        )


def _infinite(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_infinite, value))
    return isinstance(value, float) and math.isinf(value)
