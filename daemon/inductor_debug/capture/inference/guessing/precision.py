"""In which precision a model computes, as far as its own parameters say. Nothing is run here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import nn

from inductor_debug.capture.inference.specs.specs import DTYPE_LETTERS, Guess, TensorSpec, map_tensors

_USUAL = "float32"


def precision_of(subject: Any) -> str:
    """The dtype that all parameters with floating point have; the usual one where they differ or there are none."""
    parameters = subject.parameters() if isinstance(subject, nn.Module) else ()
    kinds = {str(item.dtype).removeprefix("torch.") for item in parameters if item.dtype.is_floating_point}
    only = kinds.pop() if len(kinds) == 1 else _USUAL
    return only if only in DTYPE_LETTERS else _USUAL


def in_precision(guess: Guess, dtype: str) -> Guess:
    """The guess with `dtype` in place of the usual one, which evidence of shapes does not tell from others."""
    if dtype == _USUAL:
        return guess
    arguments = tuple(
        replace(item, spec=map_tensors(item.spec, lambda spec: _of(spec, dtype))) for item in guess.arguments
    )
    return replace(guess, arguments=arguments)


def _of(spec: TensorSpec, dtype: str) -> TensorSpec:
    return replace(spec, dtype=dtype) if spec.dtype == _USUAL else spec
