"""What rules of GPUs have in common: when they apply, what is worth telling, and how a price is worded.

A price is a difference of lower bounds (`rules.costing`), never a prediction.
"""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import Facts

from inductor_debug.accelerators.gpu import Gpu
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import in_seconds
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root
from inductor_debug.rules.recording import operators

LEAST_GAIN = 0.01
"""The part of a run's bound that must be to be had; what buys less is not told."""


class GpuConstraint(Constraint):
    """A constraint of GPUs whose speed is known: advice, for those who chose one.

    `order` puts these behind what does not run at all.
    """

    order = 8
    spoken = "It speaks only where an accelerator was chosen, and that is a GPU (`--accelerator h100`)."

    def applies(self, profile: Profile) -> bool:
        """Whether somebody chose a GPU, and it is known how fast it is."""
        return profile.gpu is not None and profile.speed is not None and profile.chosen

    def facts(self, found: Sequence[Root], profile: Profile) -> Facts | None:
        """What the rule noted at its one root."""
        return found[0].facts


def gpu_of(profile: Profile) -> Gpu:
    """The GPU of a profile that a rule of GPUs applies to."""
    assert profile.gpu is not None
    return profile.gpu


def multiplied_in(dtype: str, run: JudgedRun) -> bool:
    """Whether the run has a product of that dtype: quickly known, so that bounds are worked out only where needed."""
    return any(
        operators.computes_product(op.packet) and any(meta.dtype == dtype for meta in op.inputs)
        for op in run.recording.ops
    )


def is_worth(saved: float, run: JudgedRun) -> bool:
    """Whether so many seconds are a part of the run's bound that somebody would want to have."""
    return bool(run.bounds.seconds) and saved >= LEAST_GAIN * (run.bounds.seconds or 0.0)


def less_of(saved: float, run: JudgedRun) -> float:
    """How much lower a run's bound becomes where its products take `saved` seconds less.

    Memory and launches hold the run back all the same.
    """
    bounds, speed = run.bounds, run.profile.speed
    bandwidth = speed.bytes_per_second if speed is not None else None
    moving = bounds.moved_bytes / bandwidth if bandwidth is not None else 0.0
    products = sum(operators.computes_product(op.packet) for op in run.recording.ops)
    floor = max(moving, products * (gpu_of(run.profile).launch_seconds or 0.0))
    return max(min(saved, (bounds.seconds or 0.0) - floor), 0.0)


def bounded(seconds: float) -> str:
    """`a run of at least 2.1 ms`."""
    return f"a run of at least {in_seconds(seconds)}"


def copies(amount: int, profile: Profile) -> float:
    """The seconds in which so many bytes are read and written again, at the memory's full bandwidth."""
    bandwidth = profile.speed.bytes_per_second if profile.speed is not None else None
    return 2 * amount / bandwidth if bandwidth is not None else 0.0
