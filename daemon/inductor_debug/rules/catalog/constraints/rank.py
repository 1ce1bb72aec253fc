"""The rule `rank`: tensors with more dimensions than the accelerator can address."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, Trouble, fold_inherited
from inductor_debug.rules.recording.ops import TensorMeta


class RankRule(Constraint):
    """Finds tensors of too many dimensions."""

    id = "rank"
    order = 5
    summary = "A tensor has more dimensions than the accelerator supports."
    what = """
        Accelerators address tensors with a fixed number of loop counters. A tensor with more dimensions than that has
        no layout there. The finding stands at the expression that adds the dimension too many; the ops that work on
        such tensors afterwards are counted. Only profiles that set a maximum rank have this rule; the built-in ones
        do not."""
    why = """
        The backend rejects the tensor, or falls back to the CPU. It is a limit of shape, not of size, so it also
        strikes tiny models."""
    example = """
        ```python
        # batch, heads, blocks, block, blocks, block: six dimensions
        scores = scores.view(b, h, n, 64, n, 64)
        ```

        A profile of your own sets the limit with `[rank]` and `maximum = 5`."""
    fix = """
        Merge neighbouring dimensions that the computation treats alike (`flatten(0, 1)` for batch and heads), and split
        them again at the end. `einops` patterns and `unfold` are the usual places where dimensions pile up."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile bounds the rank."""
        return profile.max_rank is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Folds tensors of more dimensions than allowed."""
        maximum = run.profile.max_rank or 0

        def trouble_of(meta: TensorMeta) -> Trouble | None:
            rank = len(meta.shape)
            return Trouble(f"{rank} dimensions") if rank > maximum else None

        fold_inherited(run.recording, roots, trouble_of)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How many dimensions there are and who adds them."""
        what = wording.listing(root.subject for root in found)
        bound = f"more than the {profile.max_rank} that accelerator '{profile.name}' supports"
        return f"a tensor with {what} has {bound}; {wording.whereabouts(found)}."
