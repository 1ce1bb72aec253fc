"""The rule `host-tensor`: tensors that a forward pass makes on the CPU, whatever device the model is on."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import in_bytes, in_seconds
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.gpu_rule import GpuConstraint, gpu_of
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording.ops import Op, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least


class HostTensorRule(GpuConstraint):
    """Finds factories in the code that runs which name no device."""

    id = "host-tensor"
    summary = "A tensor is made on the CPU in every run, though the model is on the GPU."
    spoken = Constraint.spoken
    what = """
        `torch.arange(n)`, `torch.zeros(...)`, `torch.tensor([...])` without `device=`, or with `device="cpu"`, and
        `torch.FloatTensor(...)` make their tensor on the CPU wherever the model is. Beside tensors of the GPU torch
        then refuses it, which nobody sees who writes the code on a machine without one; or the code copies it there
        (`.to(x.device)`) in every run.

        Told at the expression, with the bytes. Of tensors without dimensions, which go along with those of any device,
        only what is copied at once is told (`torch.tensor(0.5).to(x.device)`). Nothing is said of factories in
        libraries, or of what takes its device from another tensor (`zeros_like`, `x.new_zeros`). Where a script sets a
        default device (`torch.set_default_device`), there is nothing to mend."""
    why = """
        The copy comes from pageable memory, so the host waits for it, and a compiled graph with a tensor of the CPU in
        it is not recorded as a CUDA graph: `mode="reduce-overhead"` quietly does nothing."""
    example = """
        ```python
        positions = torch.arange(x.shape[1])                  # on the CPU
        return x + self.table(positions.to(x.device))         # copied there in every run
        ```"""
    fix = """
        `torch.arange(x.shape[1], device=x.device)`. What does not depend on the inputs belongs into a buffer
        (`self.register_buffer("positions", torch.arange(n), persistent=False)`), which moves with the model."""

    def applies(self, profile: Profile) -> bool:
        """Whether it is a GPU, of which nothing else must be known."""
        return profile.gpu is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Each expression that makes such tensors."""
        for op in run.recording.ops:
            if op.index in run.recording.on_host:
                size = sum(at_least(meta.storage_bytes) for meta in op.outputs)
                roots.of_op(op, in_bytes(size), Severity.INFORMATION).cover(op)

    def cause(self, found: Sequence[Root]) -> str:
        """One thing to learn for a file, wherever it is done there."""
        return self.id

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """Where it is made, how much it is, and what mends that."""
        sizes = wording.listing(root.subject for root in found)
        gpu = gpu_of(profile)
        amount = sum(at_least(meta.storage_bytes) for root in found for meta in _made_by(root))
        price = (
            f" (at least {in_seconds(amount / gpu.host_bytes_per_second)} from pageable memory)"
            if gpu.host_bytes_per_second
            else ""
        )
        return (
            f"made on the CPU ({sizes}) wherever the model is: on '{gpu.platform.device_type}' (accelerator "
            f"'{profile.name}') it is copied there in every run{price}, or refused beside tensors of that device; say "
            "`device=` here."
        )


def _made_by(root: Root) -> Sequence[TensorMeta]:
    return root.cause.outputs if isinstance(root.cause, Op) else ()
