"""The rule `core-span`: tensors of which one core would have to reach more than it can."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import CoreSpan

from inductor_debug.accelerators.profile import Profile
from inductor_debug.accelerators.sticks import least_span
from inductor_debug.rules.amounts import in_bytes
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, Trouble, fold_inherited
from inductor_debug.rules.recording.ops import TensorMeta, as_written


class CoreSpanRule(Constraint):
    """Finds tensors whose share of a core is longer than a core's addresses reach."""

    id = "core-span"
    order = 4
    summary = "However a tensor is divided among the cores, one of them has to reach more than it can."
    what = """
        The cores share an operation, and each works on one piece of every tensor, from its first to its last byte of
        which only so many may lie. The compiler divides dimensions into equal parts, of whole sticks, as many as there
        are cores at most. Told are tensors for which no such division is enough: they are too large for all cores
        together, or nothing divides the size of their outermost dimension on the device.

        Not counted is tiling, which runs an operation in several rounds. The compiler does that where it is asked to:
        by hints in the program, or with `SPYRE_INDUCTOR_IGNORE_SPAN_OVERFLOW_HINTS=0` wherever cutting the result into
        tiles is enough, which it is not along a dimension that is summed up."""
    why = """
        Without tiling, compiling such an operation ends with an error about the span of a core, or later with one about
        addresses."""
    example = """
        ```python
        logits = x @ embedding.t()              # (64, 4096, 32000) in float16: 15.6 GiB for 32 cores of 256 MiB
        y = torch.empty(1, 8191, 300, 64) + 1   # 8191 is prime: no two cores can share that dimension
        ```"""
    fix = """
        Work in chunks of the batch or the sequence, so that each tensor is smaller, or compute less of it: logits of
        the last token alone. Choose sizes that many small numbers divide."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile bounds what a core reaches."""
        return profile.span_bytes is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Folds tensors of which no division among the cores leaves pieces that are small enough."""
        limit, cores = run.profile.span_bytes or 0, run.profile.cores or 1
        # An element takes a whole stick at most.
        harmless = limit // (run.profile.stick_bytes or 1)

        def trouble_of(meta: TensorMeta) -> Trouble | None:
            if isinstance(meta.storage_bytes, int) and meta.storage_bytes <= harmless:
                return None
            layout = run.sticks.layout_of(meta)
            if layout is None or layout.bytes <= limit or least_span(layout, cores) <= limit:
                return None
            return Trouble(
                in_bytes(layout.bytes), facts=CoreSpan(as_written(meta), layout.size, least_span(layout, cores))
            )

        fold_inherited(run.recording, roots, trouble_of)

    def facts(self, found: Sequence[Root], profile: Profile) -> CoreSpan | None:
        """The first of the tensors."""
        return next((root.facts for root in found if isinstance(root.facts, CoreSpan)), None)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How large the tensor is, what a core would have to reach of it, and what it can."""
        sizes = wording.listing(root.subject for root in found)
        facts = self.facts(found, profile)
        assert facts is not None
        asked = f"one of the {profile.cores or 1} cores has to reach {in_bytes(facts.least_span_bytes)}"
        reach = f"it reaches {in_bytes(profile.span_bytes or 0)}"
        return (
            f"however a tensor of {sizes} is divided, {asked}, and on accelerator '{profile.name}' {reach}; "
            f"{wording.whereabouts(found)}."
        )
