"""Seconds that a run takes at least on an accelerator, and what each op has to do with it: the roofline model.

A kernel is no faster than its bytes at the memory's full bandwidth, nor than its operations at the full rate of their
dtype (S. Williams, A. Waterman and D. Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52(4), 2009). Which bytes are certain is `crossing`'s affair; operations are
those of the usual algorithms, which a library that convolves by Winograd's or Fourier's may undercut. None of this is a
prediction: real kernels reach neither roof.

Products are kernels one after the other, so what they take at least adds up. The bytes of all other ops may be moved
while a product computes, so they count only where all bytes together take longer than the products. Nor is a run faster
than its kernels, of which there is at least one for each product, can be launched; while one computes the next ones may
be. This last roof holds where the host launches each kernel: CUDA graphs lift it.

    run >= max(sum over products of max(memory, compute), all bytes / bandwidth, kernels * launch)

The bound of one op is its own part, of ops that are fused away it is nothing. Beside it stands what the op takes at
least where nothing is fused and each op goes from memory to memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from inductor_debug_schema import Roof

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.costing.crossing import CrossingBytes, crossing_of
from inductor_debug.rules.costing.op_costs import OpCost, costs_of_ops
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.liveness import Measure
from inductor_debug.rules.recording.ops import Op, Product, Recording


@dataclass(frozen=True, slots=True)
class OpBound:
    """One op. `seconds` is its bound and `roof` what sets it, `unfused_seconds` the bound where it runs by itself.

    Without a known speed both are None; `roof` is None as well where the bound is nothing. `product` says that it is a
    product, and `moving` how long the memory needs for the bytes that cross its border for certain.
    """

    cost: OpCost
    crossing: CrossingBytes
    seconds: float | None = None
    roof: Roof | None = None
    unfused_seconds: float | None = None
    product: bool = False
    moving: float = 0.0


@dataclass(frozen=True, slots=True)
class RunBounds:
    """A run. `seconds` is its bound, None where the profile does not say how fast the accelerator is.

    `by_roof` says what takes those seconds, and adds up to them. `parts` are the bounds of all ops together, which may
    be more than `seconds`, because some of the bytes may be moved while products compute. `unfused` is the bound where
    each op is a kernel of its own.
    """

    ops: list[OpBound]
    seconds: float | None = None
    by_roof: dict[Roof, float] = field(default_factory=dict)
    parts: float | None = None
    unfused: float | None = None

    @property
    def moved_bytes(self) -> int:
        """What crosses the border of the memory for certain."""
        return sum(op.crossing.read + op.crossing.written for op in self.ops)

    @property
    def operations(self) -> int:
        """Floating-point operations."""
        return sum(op.cost.operations for op in self.ops)

    @property
    def uncounted(self) -> int:
        """How many ops may cost more than is counted, because a size is a symbol."""
        return sum(not op.cost.exact for op in self.ops)

    @property
    def limited_by(self) -> Roof | None:
        """The roof that takes most of the time; None where the profile knows none."""
        return max(self.by_roof, key=lambda roof: self.by_roof[roof], default=None)


def knows_speed(profile: Profile) -> bool:
    """Whether a profile says how fast the accelerator is, in any respect."""
    speed = profile.speed
    return speed is not None and bool(
        speed.bytes_per_second or speed.operations_per_second or speed.matrix_operations_per_second
    )


def bounds_of(recording: Recording, profile: Profile, measure: Measure) -> RunBounds:
    """What a run takes at least on an accelerator.

    Args:
        recording: what ran.
        profile: the accelerator.
        measure: the bytes of storages there (`JudgedRun.measure`).
    """
    costs = costs_of_ops(recording, profile)
    cache = profile.gpu.l2_bytes if profile.gpu is not None else None
    crossings = crossing_of(recording, costs, measure, cache)
    roofs = _Roofs(profile, recording)
    if not knows_speed(profile):
        return RunBounds([OpBound(cost, crossing) for cost, crossing in zip(costs, crossings, strict=True)])
    rows = zip(recording.ops, costs, crossings, strict=True)
    return _run([_op(roofs, *row) for row in rows], roofs, recording.parts)


def _op(roofs: _Roofs, op: Op, cost: OpCost, crossing: CrossingBytes) -> OpBound:
    unfused = roofs.kernel(cost.bytes_read + cost.bytes_written, op, cost)
    certain = crossing.read + crossing.written
    product = operators.computes_product(op.packet)
    moving = roofs.memory(certain)
    seconds, roof = _longest(roofs.kernel(certain, op, cost) if product else moving)
    return OpBound(cost, crossing, seconds, roof, _longest(unfused)[0], product, sum(moving.values()))


def limits_of(products: Mapping[Roof, float], moving: float) -> dict[Roof, float]:
    """What takes the time of some ops, by roof: products, and bytes that are still moved when those are done."""
    longer = moving - sum(products.values())
    return dict(products) if longer <= 0 else {**products, Roof.MEMORY: products.get(Roof.MEMORY, 0.0) + longer}


def _longest(times: Mapping[Roof, float]) -> tuple[float, Roof | None]:
    roof = max(times, key=lambda name: times[name], default=None)
    seconds = times[roof] if roof is not None else 0.0
    return seconds, roof if seconds else None


def _run(bounds: list[OpBound], roofs: _Roofs, parts: Sequence[int]) -> RunBounds:
    by_part: dict[int, list[OpBound]] = {}
    for part, bound in zip(parts or (0,) * len(bounds), bounds, strict=True):
        by_part.setdefault(part, []).append(bound)
    by_roof: dict[Roof, float] = {}
    kernels = most_kernels = 0
    for part_bounds in by_part.values():
        for roof, seconds in _limits_of_part(part_bounds).items():
            by_roof[roof] = by_roof.get(roof, 0.0) + seconds
        most = sum(bool(bound.cost.read or bound.cost.written) for bound in part_bounds)
        kernels += max(sum(bound.product for bound in part_bounds), min(most, 1))
        most_kernels += most
    for roof, seconds in roofs.launches(kernels).items():
        longer = seconds - sum(by_roof.values())  # what launching takes longer than all the rest
        if longer > 0:
            by_roof[roof] = longer
    total = sum(bound.seconds or 0.0 for bound in bounds)
    unfused = sum(bound.unfused_seconds or 0.0 for bound in bounds)
    unfused = max([unfused, *roofs.launches(most_kernels).values()])
    return RunBounds(bounds, sum(by_roof.values()), by_roof, total, unfused)


def _limits_of_part(bounds: Sequence[OpBound]) -> dict[Roof, float]:
    products: dict[Roof, float] = {}
    for bound in bounds:
        if bound.product and bound.roof is not None:
            products[bound.roof] = products.get(bound.roof, 0.0) + (bound.seconds or 0.0)
    return limits_of(products, sum(bound.moving for bound in bounds))


class _Roofs:
    """What a kernel is held back by, in seconds; what the profile does not say holds nothing back."""

    def __init__(self, profile: Profile, recording: Recording) -> None:
        self._speed = profile.speed
        self._launch = profile.gpu.launch_seconds if profile.gpu is not None else None
        self._tf32 = recording.tf32

    def memory(self, amount: int) -> dict[Roof, float]:
        """The roof of the memory alone."""
        bandwidth = self._speed.bytes_per_second if self._speed is not None else None
        return {} if bandwidth is None else {Roof.MEMORY: amount / bandwidth}

    def launches(self, kernels: int) -> dict[Roof, float]:
        """What launching so many kernels takes."""
        return {} if self._launch is None else {Roof.LAUNCH: kernels * self._launch}

    def kernel(self, amount: int, op: Op, cost: OpCost) -> dict[Roof, float]:
        """The roofs of a kernel that moves so many bytes and computes one op."""
        times = self.memory(amount)
        rate = self._rate(op, cost)
        if rate is not None:
            times[Roof.COMPUTE] = cost.operations / rate
        return times

    def _rate(self, op: Op, cost: OpCost) -> float | None:
        """The highest rate of all dtypes that the operands have: an op in a dtype of unknown rate takes no time."""
        if self._speed is None or not cost.operations:
            return None
        rounded = (Product.CONVOLUTION if operators.convolves(op.packet) else Product.MATMUL) in self._tf32
        rates = [self._speed.product_rate(dtype, tf32=rounded) for dtype in cost.dtypes]
        return None if None in rates else max(rate for rate in rates if rate is not None)
