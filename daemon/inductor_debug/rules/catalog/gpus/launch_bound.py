"""The rule `launch-bound`: runs whose kernels are so small that starting them is most of the work."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import PricedRun, Roof, Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_seconds
from inductor_debug.rules.judging.gpu_rule import GpuConstraint, gpu_of
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording import operators

_LEAST_SHARE = 0.5
"""Of the run's bound; below, the kernels themselves are worth more attention than their launches."""
_FEWEST_KERNELS = 16
"""Below, a graph of kernels saves less than what copying the inputs into it costs."""


class LaunchBoundRule(GpuConstraint):
    """Finds runs in which launches dominate."""

    id = "launch-bound"
    summary = "Launching the kernels takes longer than what they compute."
    what = """
        The host starts every kernel, and that takes some microseconds each. Counted are products of matrices,
        convolutions and attention, which are kernels of their own however well all else is fused into them; the real
        number is higher. Where moving and computing takes less than starting these, and there are sixteen or more of
        them, it is told once for a target.

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
        """Compares launches with the whole bound; sizes that are symbols would count as small ones."""
        bounds = run.bounds
        waiting = bounds.by_roof.get(Roof.LAUNCH, 0.0)
        if bounds.uncounted or not bounds.seconds or waiting < _LEAST_SHARE * bounds.seconds:
            return
        ops = [op for op in run.recording.ops if operators.computes_product(op.packet)]
        if len(ops) >= _FEWEST_KERNELS:
            root = roots.of_target(ops[0], "launches", Severity.INFORMATION)
            root.facts = PricedRun(bounds.seconds, waiting)
            for op in ops:
                root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How many launches, and what they are of the run."""
        root = found[0]
        assert isinstance(root.facts, PricedRun)
        waiting, whole = root.facts.saved_seconds, root.facts.bound_seconds
        return (
            f"launching {counted(len(root.covers), 'product')} one by one takes {in_seconds(whole)} on accelerator "
            f"'{profile.name}', which waits for that {waiting / whole:.0%} of the time at least; "
            'mode="reduce-overhead" launches them together.'
        )
