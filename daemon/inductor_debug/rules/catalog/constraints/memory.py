"""The rule `memory`: tensors too big for the accelerator."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import OversizedTensor, OversizedTensors

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import in_bytes
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, Trouble, fold_inherited
from inductor_debug.rules.recording.ops import TensorMeta, as_written
from inductor_debug.rules.recording.symbolic_sizes import at_least


class MemoryRule(Constraint):
    """Finds tensors whose memory is larger than one tensor may have."""

    id = "memory"
    order = 4
    summary = "A tensor needs more memory than the accelerator allows one tensor to have."
    what = """
        The accelerator bounds the size of a single allocation. What counts is the memory that a tensor really holds:
        a view counts as nothing new, `expand` as the memory it repeats. The finding stands where the memory first
        grows beyond the bound; ops that make more of the same size from it are counted, not reported again.

        Sizes that are not known (dynamic shapes) count with the smallest value they can have, so a finding is never
        a guess."""
    why = """
        Such a tensor cannot be allocated, however empty the device is. Models usually get there by an intermediate
        nobody thinks of: the scores of attention written by hand grow with the square of the sequence length."""
    example = """
        ```python
        # 32 heads, 32 768 tokens, float32: 128 GiB for one layer's scores
        scores = q @ k.transpose(-2, -1)
        ```"""
    fix = """
        Use the fused operator that never makes the intermediate (`F.scaled_dot_product_attention`), work in chunks,
        use a narrower dtype, or broadcast instead of `repeat`. For a parameter, shard the layer. The bound can be
        changed for an experiment with `MOCK_MAX_MEMORY` (bytes, mock accelerator)."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile bounds memory."""
        return profile.tensor_bytes is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Folds tensors whose storage is certainly too big."""
        limit = run.profile.tensor_bytes or 0

        def trouble_of(meta: TensorMeta) -> Trouble | None:
            size = meta.storage_bytes
            if (size if isinstance(size, int) else at_least(size)) <= limit:
                return None
            tensor = OversizedTensor(as_written(meta), meta.dtype, at_least(size))
            return Trouble(_words(tensor), facts=OversizedTensors([tensor], limit))

        fold_inherited(run.recording, roots, trouble_of)

    def facts(self, found: Sequence[Root], profile: Profile) -> OversizedTensors:
        """The tensors, each once."""
        known = {
            root.subject: tensor
            for root in found
            if isinstance(root.facts, OversizedTensors)
            for tensor in root.facts.oversized_tensors
        }
        return OversizedTensors(list(known.values()), profile.tensor_bytes or 0)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How big the tensor is and who makes it."""
        facts = self.facts(found, profile)
        names = [_words(tensor) for tensor in facts.oversized_tensors]
        bound = f"more than the {in_bytes(facts.bytes_allowed)} that accelerator '{profile.name}' allows"
        return f"{wording.listing(names)} {'is' if len(names) == 1 else 'are'} {bound}; {wording.whereabouts(found)}."


def _words(tensor: OversizedTensor) -> str:
    return f"{in_bytes(tensor.storage_bytes)} in one tensor of shape ({', '.join(map(str, tensor.shape))})"
