"""How far a single operation's result is off, as a multiple of what its number format makes of it anyway.

The error to expect is that of the best result in the format. Where that alone would blame the operation, it is looked
at more closely: sums in other orders and formats, and cancellation inside of operations, may err more than the best
result does, and where a result jumps (a remainder, a tie), the last bit of an argument decides on which side it is.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node
from torch.utils import _pytree as pytree

from inductor_debug.kerneldiff.execution.node_graphs import is_random, plainly, tensors_in
from inductor_debug.kerneldiff.execution.operation_arithmetic import (
    Arithmetic,
    is_reference,
    received,
    running_totals,
    unit_of,
)
from inductor_debug.kerneldiff.execution.precise import Precise, drawn_dtype, to_precise
from inductor_debug.kerneldiff.execution.random_numbers import random_state_kept
from inductor_debug.kerneldiff.judging.anchoring import anchor, error_from, larger, rounding_error
from inductor_debug.kerneldiff.judging.output_judging import beyond_int32
from inductor_debug.kerneldiff.judging.perturbation import Perturbation
from inductor_debug.kerneldiff.judging.sides import same
from inductor_debug.kerneldiff.judging.verdict import SUSPICIOUS_ALONE
from inductor_debug.kerneldiff.metrics.wide_devices import has_float64

_REORDERED = 3
_NEARBY = 8
"""Runs on arguments that differ in their last bits: a tie falls the same way in all of them once in 256 times."""
_INSIDE = torch.finfo(torch.float32).eps
_NARROW = (torch.float16, torch.bfloat16)


def ratio_of(
    arithmetic: Arithmetic, node: Node, both: tuple[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[float | None, bool]:
    """The error of the backend's result over the error to expect; None for what draws random numbers.

    Also whether that is infinite for nothing but integers that the backend's number format does not hold.

    Args:
        arithmetic: the backend's.
        node: the operation.
        both: the reference's result and the backend's.
        args: the arguments of both.
        kwargs: likewise.
    """
    with random_state_kept():
        ideal = arithmetic.ideal(node, args, kwargs)
    if is_random(node):
        return None, False
    operation = _Operation(arithmetic, node, args, kwargs)
    found = zip(tensors_in(operation.exact()), tensors_in(ideal), *map(tensors_in, both), strict=False)
    ratio = max((operation.ratio(index, *values) for index, values in enumerate(found)), default=0.0)
    return (math.inf, True) if operation.unheld and ratio <= SUSPICIOUS_ALONE else (ratio, False)


class _Operation:
    """One operation on given arguments."""

    def __init__(self, arithmetic: Arithmetic, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._arithmetic, self._node = arithmetic, node
        self._args, self._kwargs = args, kwargs
        self.unheld = False
        """Whether results had integers that the format does not hold: the best result has not got them either."""

    def exact(self) -> Any:
        """The result in higher precision; as eager gives it where it has no such precision."""
        args, kwargs = self._args, self._kwargs
        precise = pytree.tree_map_only(Tensor, lambda tensor: to_precise(tensor.detach()), (args, kwargs))
        try:
            with Precise(drawn_dtype(tensors_in((args, kwargs)))):
                return plainly(self._node, *precise)
        except (RuntimeError, TypeError, NotImplementedError):
            return plainly(self._node, args, kwargs)

    def ratio(self, index: int, exact: Tensor, best: Tensor, reference: Tensor, actual: Tensor) -> float:
        """That of the result number `index`."""
        if exact.shape != actual.shape:
            return math.inf
        best, reference, actual = (tensor.to(exact.device) for tensor in (best, reference, actual))
        if not (exact.is_floating_point() or exact.is_complex()):
            return self._exactly_equal(index, exact, best, actual)
        if is_reference(self._arithmetic):
            return 0.0 if same(reference, actual) else math.inf
        unit = max(self._arithmetic.unit, unit_of(actual.dtype))
        expected = larger(error_from(exact, best), rounding_error(exact, unit))
        ratio = anchor(exact, expected, actual, reference, best).ratio
        if ratio <= SUSPICIOUS_ALONE:
            return ratio
        expected = larger(expected, *(error_from(exact, other) for other in _like(self._reordered, index, exact)))
        near = SUSPICIOUS_ALONE * expected.largest
        for other in _like(self._nearby, index, exact):
            finite = torch.isfinite(actual) & torch.isfinite(other)
            actual = torch.where(finite & ((actual - other).abs() <= near), exact, actual)
        return anchor(exact, expected, actual, reference, best).ratio

    def _exactly_equal(self, index: int, exact: Tensor, best: Tensor, actual: Tensor) -> float:
        large, wrong = beyond_int32(exact), actual != best
        if bool((wrong & ~large).any()) and not is_reference(self._arithmetic):
            for other in _like(self._nearby, index, exact):
                wrong &= (actual != other) | large
        self.unheld |= bool((large & ~wrong & (actual != exact)).any())
        return math.inf if bool(wrong.any()) else 0.0

    @functools.cached_property
    def _reordered(self) -> list[list[Tensor]]:
        """Results with other sums inside."""
        return [self._run(number, 0.0) for number in range(_REORDERED)]

    @functools.cached_property
    def _nearby(self) -> list[list[Tensor]]:
        """Results on arguments that are a little different, less than the arithmetic can tell."""
        return [self._run(number, min(_INSIDE, self._arithmetic.unit)) for number in range(_NEARBY)]

    def _run(self, number: int, distance: float) -> list[Tensor]:
        generator = torch.Generator().manual_seed(number)

        def move(tensor: Tensor) -> Tensor:
            own = tensor.detach().to(torch.float32) if tensor.dtype in _NARROW else tensor.detach().clone()
            if not own.is_floating_point() or not distance:
                return own
            factor = torch.rand(own.shape, generator=generator, dtype=torch.float64).sub_(0.5).mul_(2 * distance)
            wide = torch.float64 if has_float64(own.device) else own.dtype
            return own.mul_(factor.add_(1.0).to(device=own.device, dtype=wide))

        given = pytree.tree_map_only(Tensor, move, received(self._arithmetic, (self._args, self._kwargs)))
        try:
            with torch.no_grad(), Perturbation(0.0, number + 1, running_totals(self._arithmetic), results=False):
                return tensors_in(plainly(self._node, *given))
        except (RuntimeError, TypeError, NotImplementedError):
            return []  # an operation that wants the very dtypes of its arguments: nothing more is known of it


def _like(runs: list[list[Tensor]], index: int, exact: Tensor) -> list[Tensor]:
    """The runs' results number `index`, where they are what they should be."""
    found = [run[index] for run in runs if index < len(run)]
    return [tensor.to(exact.device) for tensor in found if tensor.shape == exact.shape]
