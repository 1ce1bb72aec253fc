"""The rule `channels-last`: weights of convolutions in half precision that are laid out anew in every run."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import PricedRun, Severity

from inductor_debug.accelerators.gpu import GpuPlatform
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_seconds
from inductor_debug.rules.judging.gpu_rule import GpuConstraint, bounded, copies, gpu_of, is_worth
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording import operators, strides
from inductor_debug.rules.recording.ops import Op, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least

_HALF = frozenset({"float16", "bfloat16"})
_WEIGHT = 1
"""Where a convolution has its weight: (out, in / groups, height, width)."""


class ChannelsLastRule(GpuConstraint):
    """Finds what it costs that weights of convolutions are not channels-last."""

    id = "channels-last"
    summary = "Weights of convolutions in half precision are copied in every run, because they are not channels-last."
    what = """
        Tensor cores take images with the channels innermost. `torch.compile` lays images out like that by itself (its
        `layout_optimization`) and wants the same of weights: those that lie row by row are copied in every run. Counted
        are the bytes of these copies, there and back; kernels of 1 by 1, which lie the same either way, cost nothing.

        Told once for a target, and only where the copies are a hundredth of what the run takes at least or more: with
        small batches, mostly."""
    why = """
        The copies compute nothing. In eager mode it is worse: images themselves are turned around before and after
        each convolution."""
    example = """
        ```python
        model = ResNet50().half()
        model(images.half())                 # (8, 3, 224, 224), row by row, and so are all weights
        ```"""
    fix = """
        `model = model.to(memory_format=torch.channels_last)` once, and the images as well:
        `images.to(memory_format=torch.channels_last)`. Results are the same."""

    def applies(self, profile: Profile) -> bool:
        """Whether it is a GPU of NVIDIA's: what is known of the copies is known of those."""
        return super().applies(profile) and gpu_of(profile).platform is GpuPlatform.CUDA

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Adds up the bytes of weights that lie row by row, each once."""
        copied: dict[int, int] = {}
        ops: list[Op] = []
        for op in run.recording.ops:
            if operators.convolves(op.packet) and not op.autograd_node and len(op.inputs) > _WEIGHT:
                weight = op.inputs[_WEIGHT]
                if _lies_by_rows(weight):
                    copied[weight.storage] = at_least(weight.storage_bytes)
                    ops.append(op)
        saved = copies(sum(copied.values()), run.profile)
        if ops and is_worth(saved, run):
            root = roots.of_target(ops[0], "channels_last", Severity.INFORMATION)
            root.facts = PricedRun(run.bounds.seconds or 0.0, saved)
            for op in ops:
                root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How many weights, and what not copying them saves."""
        root = found[0]
        assert isinstance(root.facts, PricedRun)
        return (
            f"the weights of {counted(len(root.covers), 'convolution')} are laid out as channels-last in every run on "
            f"accelerator '{profile.name}'; `.to(memory_format=torch.channels_last)` on the model does it once: "
            f"{in_seconds(root.facts.saved_seconds)} of copies beside {bounded(root.facts.bound_seconds)}."
        )


def _lies_by_rows(weight: TensorMeta) -> bool:
    """Whether a weight in half precision has its columns innermost, and a window that makes this another layout."""
    if weight.dtype not in _HALF or len(weight.shape) != 4 or at_least(weight.shape[1]) == 1:
        return False
    window = at_least(weight.shape[2]) * at_least(weight.shape[3])
    return window > 1 and strides.innermost(weight) in (2, 3)
