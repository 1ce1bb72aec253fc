"""The rule `launch-bound`: runs whose kernels are so small that starting them is most of the work."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import PricedRun, Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_seconds
from inductor_debug.rules.judging.gpu_rule import GpuConstraint, gpu_of
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op
from inductor_debug.rules.recording.symbolic_sizes import at_least

_MOST_WORK = 0.5
"""Of the time of the launches; beyond, the kernels themselves are worth more attention."""
_FEWEST_KERNELS = 16
"""Below, a graph of kernels saves less than what copying the inputs into it costs."""


class LaunchBoundRule(GpuConstraint):
    """Finds runs in which launches dominate."""

    id = "launch-bound"
    summary = "Launching the kernels takes longer than what they compute."
    what = """
        The host starts every kernel, and that takes some microseconds each. Counted are products of matrices,
        convolutions and attention, which are kernels of their own however well all else is fused into them; the real
        number is higher. What one expression does again and again with the same weight counts once: a layer such as
        `nn.LSTM` is a single call of a library. There must be sixteen or more, and starting them must take twice as
        long as all operations take that go from memory to memory, nothing fused. It is told once for a target.

        It rests on the sizes of the example inputs. Where the real ones are larger, it need not be so; nothing is said
        of inputs that were inferred."""
    why = """
        The GPU waits for the host most of the time, and a faster one changes nothing. Decoding a token at a time,
        small batches and deep, narrow networks are like that."""
    example = """
        ```python
        for layer in self.layers:          # 48 layers for one token of one sequence
            x = layer(x)
        ```"""
    fix = """
        `torch.compile(model, mode="reduce-overhead")` records all kernels as one CUDA graph, which is launched at once.
        Inputs must keep their sizes then. A larger batch does as well."""

    def applies(self, profile: Profile) -> bool:
        """Whether it is known how long a launch takes."""
        return super().applies(profile) and gpu_of(profile).launch_seconds is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Compares launches with what the kernels take; sizes that are symbols would count as small ones."""
        ops = list({_weight_at(op): op for op in run.recording.ops if operators.computes_product(op.packet)}.values())
        launching = len(ops) * (gpu_of(run.profile).launch_seconds or 0.0)
        most = _MOST_WORK * launching
        if len(ops) < _FEWEST_KERNELS or _reading(ops, run.profile) > most:
            return
        working = sum(bound.unfused_seconds or 0.0 for bound in run.bounds.ops)
        if run.bounds.uncounted or working > most:
            return
        root = roots.of_target(ops[0], "launches", Severity.INFORMATION)
        root.facts = PricedRun(launching, launching - working)
        for op in ops:
            root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How many launches, and what they are of the run."""
        root = found[0]
        assert isinstance(root.facts, PricedRun)
        launching, waiting = root.facts.bound_seconds, root.facts.saved_seconds
        return (
            f"launching {counted(len(root.covers), 'product')} one by one takes {in_seconds(launching)} on accelerator "
            f"'{profile.name}', which has work for {in_seconds(launching - waiting)} at its full rates; "
            'mode="reduce-overhead" launches them together.'
        )


def _weight_at(op: Op) -> tuple[object, ...]:
    """What tells a product from others that the same call of a library does: the expression and its operand."""
    right = op.inputs[-1].storage if op.inputs else op.index
    return op.frames, op.module, right


def _reading(ops: Sequence[Op], profile: Profile) -> float:
    """The seconds in which all that products read is read once: quickly known, and enough to rule most models out."""
    read = {meta.storage: at_least(meta.storage_bytes) for op in ops for meta in op.inputs}
    bandwidth = profile.speed.bytes_per_second if profile.speed is not None else None
    return sum(read.values()) / bandwidth if bandwidth is not None else 0.0
