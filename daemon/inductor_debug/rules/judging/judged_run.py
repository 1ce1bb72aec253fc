"""A recording as the rules of one accelerator see it, with the passes over it that several of them need.

Each pass is made when it is first asked for and kept for as long as the judgement lasts, so that a rule costs what it
alone looks at, and a profile that no rule asks about costs nothing.
"""

from __future__ import annotations

from functools import cached_property

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.costing.bounds import RunBounds, bounds_of
from inductor_debug.rules.judging.op_execution import OpExecution
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.liveness import Measure, on_device
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.stick_flow import StickFlow


class JudgedRun:
    """One run on one accelerator.

    Attributes:
        recording: the ops, which nobody changes while they are judged.
        profile: what the accelerator can do.
    """

    def __init__(self, recording: Recording, profile: Profile) -> None:
        self.recording = recording
        self.profile = profile

    @cached_property
    def attention(self) -> frozenset[int]:
        """The indexes of ops that are parts of an attention which torch has taken apart."""
        return operators.attention_calls(self.recording.ops)

    @cached_property
    def sticks(self) -> StickFlow:
        """How each tensor lies there."""
        return StickFlow(self.recording, self.profile, self.attention)

    @cached_property
    def execution(self) -> OpExecution:
        """Where each op runs."""
        sticks = None if self.profile.stick_bytes is None else self.sticks
        return OpExecution(self.recording, self.profile, self.attention, sticks)

    @cached_property
    def bounds(self) -> RunBounds:
        """What each op, and the run, takes at least."""
        return bounds_of(self.recording, self.profile, self.measure)

    @cached_property
    def measure(self) -> Measure:
        """The bytes of each storage there."""
        return on_device(self.profile, self.sticks if self.profile.has_layouts else None)
