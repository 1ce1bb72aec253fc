"""The rule `slow-dtype`: number formats that a GPU has, but computes many times slower than others."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import PricedRun

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_rate, in_seconds
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.gpu_rule import (
    LEAST_GAIN,
    GpuConstraint,
    bounded,
    gpu_of,
    is_worth,
    less_of,
    multiplied_in,
)
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op

_DOUBLE = "float64"
_INSTEAD = "float16"
"""What is compared with, in place of a dtype that is emulated."""
_COMPILED_FROM = (8, 0)
"""The least compute capability whose bfloat16 Inductor compiles (torch 2.11 to 2.13, `_check_triton_bf16_support`)."""


class SlowDtypeRule(GpuConstraint):
    """Finds products in float64 where the GPU is slow at it, and dtypes that it emulates."""

    id = "slow-dtype"
    summary = "The GPU computes this dtype many times slower than another one that would do."
    spoken = Constraint.spoken
    what = """
        Most graphics cards have a few units for float64 beside thousands for float32: on an RTX 4090 it runs at 1/64 of
        the rate, on an H100 at the same one. Told are the products in float64 of a model, at the most expensive of
        them, with what the run is bound by as it is and what float32 would save. Where they cost less than a hundredth
        of the run nothing is said.

        Other dtypes exist on a GPU in software alone: Turing (T4, RTX 20) has no arithmetic in bfloat16. What uses them
        is told once for a target, with what the run takes at least as it is (products on the units of float32, each
        operation from memory to memory where it is not compiled) and what float16 would save."""
    why = """
        Nothing fails and numbers are right, so it is only seen in the bill. With bfloat16 on Turing `torch.compile`
        leaves the graph to eager mode, without kernels of its own, and says so in a warning that is easily missed."""
    example = """
        ```python
        weights = (q.double() @ k.double().transpose(-2, -1)).softmax(-1)   # the products, too, are float64
        ```"""
    fix = """
        Convert after the product, or sum in float64 and multiply in float32. On Turing use float16 with
        `torch.autocast("cuda", torch.float16)` and a gradient scaler, or float32."""

    def applies(self, profile: Profile) -> bool:
        """Whether it is a GPU that emulates dtypes, or whose rates are known."""
        return profile.gpu is not None and (bool(profile.emulated) or profile.speed is not None)

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Adds up what float64 costs, then looks for what is emulated."""
        self._find_double(run, roots)
        if run.profile.emulated:
            found: dict[str, Root] = {}
            for op in run.recording.ops:
                for dtype in _computed_in(op) & run.profile.emulated:
                    found[dtype] = root = roots.of_target(op, dtype)
                    root.cover(op)
            for dtype, root in found.items():
                root.facts = _emulated(dtype, run)

    def _find_double(self, run: JudgedRun, roots: Roots) -> None:
        speed = run.profile.speed
        slow = speed.product_rate(_DOUBLE) if speed is not None else None
        fast = speed.product_rate("float32") if speed is not None else None
        if slow is None or fast is None or slow >= fast or not multiplied_in(_DOUBLE, run):
            return
        ops = [
            (bound.cost.operations, op)
            for op, bound in zip(run.recording.ops, run.bounds.ops, strict=True)
            if bound.cost.operations and bound.cost.dtypes == {_DOUBLE}
        ]
        saved = less_of(sum(count for count, _ in ops) * (1 / slow - 1 / fast), run)
        if ops and is_worth(saved, run):
            root = roots.of_op(max(ops, key=lambda found: found[0])[1], _DOUBLE)
            root.facts = PricedRun(run.bounds.seconds or 0.0, saved)
            root.detail = f"1/{fast / slow:.0f} of the rate of float32"
            for _, op in ops:
                root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What is slow, and what another dtype would save."""
        root = found[0]
        if root.subject == _DOUBLE and isinstance(root.facts, PricedRun):
            return (
                f"{counted(len(root.covers), 'product')} in float64, which accelerator '{profile.name}' computes at "
                f"{root.detail}: in float32 {in_seconds(root.facts.saved_seconds)} less of "
                f"{bounded(root.facts.bound_seconds)}."
            )
        told = f"accelerator '{profile.name}' has no arithmetic in {root.subject}: {_instead(root.subject, profile)}"
        if isinstance(root.facts, PricedRun):
            told += f", {in_seconds(root.facts.saved_seconds)} less of {bounded(root.facts.bound_seconds)}"
        return f"{told}."


def _emulated(dtype: str, run: JudgedRun) -> PricedRun | None:
    """What a run takes at least as it is, and what float16 would save; None where that is little, or not known.

    What multiplies in `dtype` takes the units of float32, and in eager mode each op goes from memory to memory.
    """
    speed, bounds = run.profile.speed, run.bounds
    slow, fast = (speed.product_rate(name) if speed is not None else None for name in ("float32", _INSTEAD))
    if slow is None or fast is None or bounds.seconds is None:
        return None
    eager = _is_left_to_eager(dtype, run.profile)
    now, then = 0.0, 0.0
    for bound in bounds.ops:
        alone = (bound.unfused_seconds if eager else bound.seconds if bound.product else 0.0) or 0.0
        emulated = bound.cost.operations if dtype in bound.cost.dtypes else 0
        now += max(alone, emulated / slow)
        then += max(bound.seconds or 0.0, emulated / fast) if bound.product else 0.0
    now = max(now, (bounds.unfused if eager else bounds.seconds) or 0.0)
    then = max(then, bounds.seconds)
    return PricedRun(now, now - then) if now - then >= LEAST_GAIN * now else None


def _computed_in(op: Op) -> set[str]:
    """The dtypes that the op computes in, rather than moves."""
    if op.is_view or operators.only_moves_data(op.packet) or operators.only_reads_metadata(op.packet):
        return set()
    return {meta.dtype for meta in op.inputs}


def _instead(dtype: str, profile: Profile) -> str:
    """What happens, and the rates that another dtype has."""
    eager = _is_left_to_eager(dtype, profile)
    told = "torch.compile leaves the graph to eager mode" if eager else "it is converted for each operation"
    rate = profile.speed.product_rate(_INSTEAD) if profile.speed is not None else None
    return told if rate is None else f"{told}; products in float16 run at {in_rate(rate, 'FLOP')}"


def _is_left_to_eager(dtype: str, profile: Profile) -> bool:
    capability = gpu_of(profile).capability
    return dtype == "bfloat16" and capability is not None and capability < _COMPILED_FROM
