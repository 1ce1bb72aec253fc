"""The gradients that a custom autograd function gives, beside the derivative of what its forward computes.

Both along random directions, in float64 and on tensors as small as the function takes: exact to many digits, where the
precision that the model runs in hides a factor in rounding. The derivative is a central difference, as
`torch.autograd.gradcheck` has it, which says neither which input is wrong nor by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from inductor_debug_schema import GradientFault

from inductor_debug.capture.gradients.function_calls import FunctionCall, Like

_DRAWS = 3
_STEP = 1e-5
_TOLERANCE = 1e-4
_NOTHING = 1e-7
_SMALL = 4
"""Sizes up to this one stay as they are."""
_MOST_ELEMENTS = 1 << 18
Inputs = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class WrongGradient:
    """What is wrong with the gradient of one argument, by its number; `factor` of the derivative is what it gives."""

    argument: int
    fault: GradientFault
    factor: float | None = None


@dataclass(frozen=True, slots=True)
class _Sample:
    """Along one direction of one argument: what the function says, None for nothing, and what is so."""

    given: float | None
    true: float


class UncheckableError(Exception):
    """The function could not be called on tensors of ours; the text says why."""


def judge(call: FunctionCall) -> list[WrongGradient]:
    """What is wrong with the gradients of a function, for the arguments of a call.

    Raises:
        UncheckableError: nothing can be said.
    """
    error: Exception | None = None
    for likes in (_shrunk(call.arguments), call.arguments):
        if sum(_elements(like) for like in likes) > _MOST_ELEMENTS:
            break
        # Around zero first, where signs matter; then where logarithms and roots are defined.
        for around in (0.0, 2.0):
            try:
                samples = _samples(call, likes, around)
            except Exception as raised:
                error = error or raised
                break
            if all(_is_finite(each) for drawn in samples.values() for each in drawn):
                asked = [number for number, like in enumerate(call.arguments) if _is_asked(like)]
                found = (_judged(number, drawn, bool(asked)) for number, drawn in samples.items())
                return [judged for judged in found if judged is not None]
    raise UncheckableError(f"{type(error).__name__}: {error}" if error is not None else "it takes too large tensors")


def _samples(call: FunctionCall, likes: Inputs, around: float) -> dict[int, list[_Sample]]:
    numbers = [number for number, like in enumerate(likes) if _is_asked(like)]
    numbers = numbers or [number for number, like in enumerate(likes) if _is_real(like)]
    samples: dict[int, list[_Sample]] = {number: [] for number in numbers}
    for draw in range(_DRAWS):
        torch.manual_seed(draw)
        inputs = tuple(_drawn(like, around) for like in likes)
        outputs = _apply(call.function, _with_gradients(inputs, numbers), draw)
        weights = [torch.randn_like(output) for output in outputs]
        leaves = _with_gradients(inputs, numbers)
        computed = _apply(call.function, leaves, draw)
        ones = [(each, weight) for each, weight in zip(computed, weights, strict=True) if each.requires_grad]
        wanted = [leaves[number] for number in numbers]
        gradients: Sequence[torch.Tensor | None] = [None] * len(wanted)
        if ones:
            gradients = torch.autograd.grad(
                [each for each, _ in ones], wanted, [weight for _, weight in ones], allow_unused=True
            )
        for number, gradient in zip(numbers, gradients, strict=True):
            direction = torch.randn_like(inputs[number])

            def moved(step: float, number: int = number, direction: torch.Tensor = direction) -> float:
                at = tuple(each + step * direction if k == number else each for k, each in enumerate(inputs))  # noqa: B023
                with torch.no_grad():
                    values = _apply(call.function, at, draw)  # noqa: B023
                return sum(float((value * weight).sum()) for value, weight in zip(values, weights, strict=True))  # noqa: B023

            given = None if gradient is None else float((gradient * direction).sum())
            samples[number].append(_Sample(given, (moved(_STEP) - moved(-_STEP)) / (2 * _STEP)))
    return samples


def _judged(number: int, drawn: Sequence[_Sample], asked: bool) -> WrongGradient | None:
    given = [sample.given or 0.0 for sample in drawn]
    true = [sample.true for sample in drawn]
    scale = max(map(abs, true))
    if all(abs(a - b) <= _TOLERANCE * scale + _NOTHING for a, b in zip(given, true, strict=True)):
        return None
    if scale <= _NOTHING:
        return WrongGradient(number, GradientFault.STRAIGHT_THROUGH)
    if max(map(abs, given)) <= _NOTHING * scale:
        return WrongGradient(number, GradientFault.MISSING) if asked else None
    factors = [a / b for a, b in zip(given, true, strict=True) if abs(b) > _NOTHING]
    if factors and max(factors) - min(factors) <= _TOLERANCE * max(map(abs, factors)):
        return WrongGradient(number, GradientFault.MULTIPLE, factors[0])
    return WrongGradient(number, GradientFault.WRONG)


def _apply(function: Any, inputs: Inputs, seed: int) -> list[torch.Tensor]:
    """The results that have derivatives. What a forward draws it draws again; what it changes in place is a copy."""
    torch.manual_seed(seed)
    result = function.apply(*(each.clone() if isinstance(each, torch.Tensor) else each for each in inputs))
    outputs = result if isinstance(result, tuple | list) else (result,)
    return [each for each in outputs if isinstance(each, torch.Tensor) and each.is_floating_point()]


def _with_gradients(inputs: Inputs, numbers: Sequence[int]) -> Inputs:
    return tuple(each.detach().requires_grad_() if k in numbers else each for k, each in enumerate(inputs))


def _drawn(like: Any, around: float) -> Any:
    if not isinstance(like, Like):
        return like
    if like.dtype.is_floating_point:
        return torch.randn(like.shape, dtype=torch.float64) / (1.0 if not around else 4.0) + around
    # Indexes, and whatever else is counted.
    return (
        torch.ones(like.shape, dtype=like.dtype)
        if like.dtype is torch.bool
        else torch.zeros(like.shape, dtype=like.dtype)
    )


def _shrunk(likes: Inputs) -> Inputs:
    """The same with small sizes: equal ones stay equal, different ones different."""
    sizes = sorted({size for like in likes if isinstance(like, Like) for size in like.shape if size > _SMALL})
    smaller = {size: _SMALL + 1 + rank for rank, size in enumerate(sizes)}
    return tuple(
        Like(tuple(smaller.get(size, size) for size in like.shape), like.dtype, like.requires_grad)
        if isinstance(like, Like)
        else like
        for like in likes
    )


def _is_real(like: Any) -> bool:
    return isinstance(like, Like) and like.dtype.is_floating_point


def _is_asked(like: Any) -> bool:
    return _is_real(like) and bool(like.requires_grad)


def _elements(like: Any) -> int:
    return torch.Size(like.shape).numel() if isinstance(like, Like) else 0


def _is_finite(sample: _Sample) -> bool:
    return all(abs(each) < float("inf") for each in (sample.true, sample.given or 0.0))
