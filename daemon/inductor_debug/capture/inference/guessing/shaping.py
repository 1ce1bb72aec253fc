"""Puts tensors that an argument may be in order, and gives names to the dimensions that nobody named."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from inductor_debug.capture.inference.specs.call_plan import GENERIC
from inductor_debug.capture.inference.specs.specs import Dimension, TensorSpec
from inductor_debug.capture.inference.usage.usage import Usage


def ordered(usage: Usage, by_name: list[TensorSpec]) -> list[TensorSpec]:
    """What modules take, those first whose rank the code confirms and all of them accept, then what names make likely.

    A linear layer takes any rank, a batched product only three: what is given to both has three.
    """
    kinds = {spec.dtype for spec in usage.specs}
    likely = {*usage.likely, *(len(spec.dims) for spec in by_name[:1] if spec.dtype in kinds)}

    def order(spec: TensorSpec) -> tuple[int, bool]:
        rank = len(spec.dims)
        return sum(rank not in ranks for ranks in usage.accepted), rank not in likely

    fitting = sorted((spec for spec in usage.specs if fits(spec, usage)), key=order)
    return [*_agreed(fitting), *fitting, *(spec for spec in usage.specs if spec not in fitting)]


def _agreed(specs: list[TensorSpec]) -> list[TensorSpec]:
    """What most of those that take a tensor say of each dimension, where no single one says as much.

    A convolution over time wants so many steps, and a linear layer so many features: the tensor that both are given
    has both.
    """
    alike = [spec for spec in specs if len(spec.dims) == len(specs[0].dims) and spec.dtype == specs[0].dtype]
    dims: list[Dimension] = []
    for index, first in enumerate(specs[0].dims if specs else ()):
        sizes = Counter(size for spec in alike if isinstance(size := spec.dims[index], int))
        dims.append(sizes.most_common(1)[0][0] if sizes else first)
    said = sum(isinstance(dim, int) for dim in dims)
    if all(said > sum(isinstance(dim, int) for dim in spec.dims) for spec in alike):
        return [replace(specs[0], dims=tuple(dims))] if specs else []
    return []


def fits(spec: TensorSpec, usage: Usage) -> bool:
    """Whether a tensor has a rank that the code allows."""
    rank = len(spec.dims)
    return (not usage.ranks or rank in usage.ranks) and rank >= usage.minimum


def tidy(spec: TensorSpec) -> TensorSpec:
    """Names for dimensions that nobody named, after the rank; the same name twice in one tensor only if meant so."""
    usual = GENERIC.get(len(spec.dims), ())
    dims: list[Dimension] = []
    for index, dim in enumerate(spec.dims):
        unnamed = isinstance(dim, str) and dim.startswith("?")
        usable = index < len(usual) and usual[index] not in spec.dims
        dims.append((usual[index] if usable else f"X{index}") if unnamed else dim)
    return replace(spec, dims=tuple(dims))
