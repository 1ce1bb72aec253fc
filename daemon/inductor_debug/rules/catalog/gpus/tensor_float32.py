"""The rule `tf32`: products in float32 that could use the matrix units, where only a setting keeps them from it."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import PricedRun, Roof, Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_rate, in_seconds
from inductor_debug.rules.costing.bounds import OpBound
from inductor_debug.rules.judging.gpu_rule import GpuConstraint, bounded, is_worth, less_of, multiplied_in
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, Product


class Tf32Rule(GpuConstraint):
    """Finds what products in float32 cost a run because TF32 is off."""

    id = "tf32"
    summary = "Products in float32 do not use the GPU's matrix units, because TF32 is off."
    what = """
        From Ampere on, NVIDIA's tensor cores multiply float32 numbers that are rounded to TF32: the exponent of float32
        with 10 bits of mantissa, sums in float32. An A100 does that eight times as fast as float32 itself. torch leaves
        it off for products of matrices unless it is told otherwise (for convolutions it is on).

        Told once for a target, with what the run is bound by as it is and with TF32. Where that is less than a
        hundredth, nothing is said: on cards whose TF32 is no faster, of models that only wait for memory, and where
        the code that was loaded has turned it on."""
    why = """
        Training in float32 is the default of every tutorial, and most networks converge as well with TF32. A model that
        is bound by its products runs several times faster for one line at the start of the script."""
    example = """
        ```python
        model = torch.compile(Transformer())     # parameters are float32, and so are all products
        ```"""
    fix = """
        `torch.set_float32_matmul_precision("high")` before the model runs. Where ten bits are too few (solving linear
        systems, large sums of differences) leave it off, or use `torch.autocast` for the parts that can be narrower."""

    def applies(self, profile: Profile) -> bool:
        """Whether the GPU has TF32, and it is faster than float32."""
        speed = profile.speed
        if not super().applies(profile) or speed is None or speed.tf32_operations_per_second is None:
            return False
        return speed.tf32_operations_per_second > speed.operations_per_second.get("float32", 0.0)

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Adds up what each product would save."""
        if Product.MATMUL in run.recording.tf32 or not multiplied_in("float32", run):
            return
        saving = [
            (op, self._saved(bound, run.profile))
            for op, bound in zip(run.recording.ops, run.bounds.ops, strict=True)
            if _in_float32(op, bound)
        ]
        saved = less_of(sum(seconds for _, seconds in saving), run)
        if saving and is_worth(saved, run):
            root = roots.of_target(saving[0][0], "float32", Severity.INFORMATION)
            root.facts = PricedRun(run.bounds.seconds or 0.0, saved)
            for op, seconds in saving:
                if seconds:
                    root.cover(op)

    @staticmethod
    def _saved(bound: OpBound, profile: Profile) -> float:
        """What is left of a product's bound where its operations run at TF32's rate."""
        speed = profile.speed
        assert speed is not None
        assert speed.tf32_operations_per_second is not None
        moved = (bound.crossing.read + bound.crossing.written) / (speed.bytes_per_second or float("inf"))
        faster = max(bound.cost.operations / speed.tf32_operations_per_second, moved)
        return max((bound.seconds or 0.0) - faster, 0.0)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How many products, both rates, and what the setting saves."""
        root, speed = found[0], profile.speed
        assert isinstance(root.facts, PricedRun)
        assert speed is not None
        plain = in_rate(speed.operations_per_second.get("float32", 0.0), "FLOP")
        rounded = in_rate(speed.tf32_operations_per_second or 0.0, "FLOP")
        verb = "runs" if len(root.covers) == 1 else "run"
        return (
            f"{counted(len(root.covers), 'product')} in float32 {verb} at {plain} on accelerator '{profile.name}'; "
            f'torch.set_float32_matmul_precision("high") lets them use TF32, at {rounded}: '
            f"{in_seconds(root.facts.saved_seconds)} less of {bounded(root.facts.bound_seconds)}."
        )


def _in_float32(op: Op, bound: OpBound) -> bool:
    """Whether it is a product of float32 matrices that is held back by the rate of its operations."""
    product = operators.multiplies_matrices(op.packet)
    return product and bound.roof is Roof.COMPUTE and bound.cost.dtypes == {"float32"}
