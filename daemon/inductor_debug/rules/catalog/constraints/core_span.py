"""The rule `core-span`: tensors of which one core would have to reach more than it can."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import in_bytes
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, Trouble, fold_inherited
from inductor_debug.rules.recording.ops import TensorMeta


class CoreSpanRule(Constraint):
    """Finds tensors whose share of a core is longer than a core's addresses reach."""

    id = "core-span"
    order = 4
    summary = "Divided among all cores, a tensor is still more than one core can address."
    what = """
        The cores share an operation, and each works on one contiguous piece of every tensor, which may have only so
        many bytes. Told are tensors of which even the smallest piece, the tensor divided by all cores,
        is larger. The compiler then has to cut the operation into several, which it does not always manage: not along a
        dimension that is summed up, and not where nothing divides the sizes."""
    why = """
        Where it does not manage, compiling fails late, with an error about addresses."""
    example = """
        ```python
        logits = x @ embedding.t()      # (64, 4096, 32000) in float16: 15.6 GiB
        ```"""
    fix = """
        Work in chunks of the batch or the sequence, so that each tensor is smaller, or compute less of it: logits of
        the last token alone."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile bounds what a core reaches."""
        return profile.span_bytes is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Folds tensors that are too large for all cores."""
        limit = (run.profile.span_bytes or 0) * (run.profile.cores or 1)

        def trouble_of(meta: TensorMeta) -> Trouble | None:
            if isinstance(meta.storage_bytes, int) and meta.storage_bytes * 4 < limit:
                return None
            layout = run.sticks.layout_of(meta)
            return None if layout is None or layout.bytes <= limit else Trouble(in_bytes(layout.bytes))

        fold_inherited(run.recording, roots, trouble_of)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How large the tensor is, and what a core reaches."""
        sizes = wording.listing(root.subject for root in found)
        reach = f"{in_bytes(profile.span_bytes or 0)} that each of the {profile.cores or 1} cores reaches"
        where = wording.whereabouts(found)
        return f"a tensor of {sizes} is more than the {reach} on accelerator '{profile.name}'; {where}."
