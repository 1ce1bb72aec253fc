"""The same model with every operation rounded a little differently: what its errors may legitimately be.

Results are moved by up to a unit, those of sums by what another order of adding up makes of them (`reordering`), and
operations that hide sums are computed as compilers compute them, by their decomposition. Views, copies and random
numbers stay as they are. Nothing here compares.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from inductor_debug.accelerators.number_formats import NumberFormat
from inductor_debug.kerneldiff.execution.higher_order import Mode, takes_functions
from inductor_debug.kerneldiff.judging.reordering import Chains, Errors, bias_errors, errors_of


class Perturbation(Mode):  # type: ignore[no-untyped-call]
    """Rounds in another way what runs inside. It draws from a generator of its own.

    Args:
        unit: of the backend's number format, where that is coarser than the tensors' own dtypes.
        seed: which other way.
        totals: the format of running totals, where it is shorter than float32.
        results: also round results in another way; without it only what happens inside of operations differs.
    """

    def __init__(self, unit: float, seed: int, totals: NumberFormat | None = None, *, results: bool = True) -> None:
        super().__init__()
        self._unit = unit
        self._moving = results
        self._generator = torch.Generator().manual_seed(seed)
        self._how = Chains(_LANES[seed % len(_LANES)], totals)
        self._decompositions = _decompositions()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        decomposition = self._decompositions.get(func)
        if decomposition is not None:
            return self._inside(decomposition, args, kwargs)
        args, kwargs = self.with_functions(func, args, kwargs)
        result = func(*args, **kwargs)
        if takes_functions(func):
            return pytree.tree_map_only(torch.Tensor, lambda leaf: self._move(leaf.clone()), result)
        schema = getattr(func, "_schema", None)
        if schema is None or schema.is_mutable or torch.Tag.nondeterministic_seeded in func.tags:
            return result
        if any(argument.alias_info is not None for argument in schema.arguments) or func in _EXACT:
            return result
        if self._moving:
            result = pytree.tree_map(self._move, result)
        for leaf, errors in zip(pytree.tree_leaves(result), errors_of(func, args, kwargs, self._how), strict=False):
            self._reorder(leaf, errors)
        if func is torch.ops.aten.convolution_backward.default and result[2] is not None:
            self._reorder(result[2], bias_errors(args[0], self._how))
        return result

    def _inside(self, decomposition: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        moving, self._moving = self._moving, True
        try:
            with self:
                return decomposition(*args, **kwargs)
        finally:
            self._moving = moving

    def _reorder(self, leaf: Any, errors: Errors) -> None:
        if _movable(leaf):
            noise = torch.randn(leaf.shape, generator=self._generator)
            moved = noise.to(errors.spread.device).mul(errors.spread).add_(errors.shift)
            leaf.add_(moved.to(device=leaf.device, dtype=leaf.dtype))

    def _move(self, leaf: Any) -> Any:
        if not _movable(leaf):
            return leaf
        unit = max(self._unit, torch.finfo(leaf.dtype).eps)
        noise = torch.rand(leaf.shape, generator=self._generator).sub_(0.5).mul_(2 * unit)
        wide = torch.float64 if leaf.dtype is torch.float64 else torch.float32  # which knows 1 from 1 plus the noise
        return leaf.mul_(noise.to(wide).add_(1.0).to(device=leaf.device, dtype=leaf.dtype))


def _movable(leaf: Any) -> bool:
    """Whether it has numbers that are rounded, each with memory of its own, so that it may be moved in place."""
    if not isinstance(leaf, torch.Tensor) or not leaf.dtype.is_floating_point or leaf.layout is not torch.strided:
        return False
    return all(stride != 0 or size <= 1 for size, stride in zip(leaf.shape, leaf.stride(), strict=True))


_LANES = (16, 1, 8)
"""Running totals of sums: a single one (each element of a result in a lane of its own), or a vector register's."""
_EXACT = frozenset(
    {
        torch.ops.aten.clone.default,
        torch.ops.aten.zeros_like.default,
        torch.ops.aten.ones_like.default,
        torch.ops.aten.full.default,
        torch.ops.aten.full_like.default,
        torch.ops.aten.zeros.default,
        torch.ops.aten.ones.default,
        torch.ops.aten.empty.memory_format,
        torch.ops.aten.cat.default,
        torch.ops.aten.embedding.default,
        torch.ops.aten.relu.default,
        torch.ops.aten.where.self,
        torch.ops.aten.neg.default,
    }
)
"""Operations that compute nothing that would be rounded."""

_COMPOSED = (
    torch.ops.aten.native_batch_norm,
    torch.ops.aten.native_batch_norm_backward,
    torch.ops.aten.native_group_norm,
    torch.ops.aten.native_group_norm_backward,
    torch.ops.aten.native_layer_norm,
    torch.ops.aten.native_layer_norm_backward,
)
"""Operations with sums over whole batches inside. Their errors shift all elements alike, which later sums add up."""


@functools.cache
def _decompositions() -> dict[Any, Callable[..., Any]]:
    """What these operations are made of; nothing where this torch has no such table (read in 2.11 to 2.13)."""
    try:
        from torch._decomp import get_decompositions

        return dict(get_decompositions(_COMPOSED))
    except (ImportError, RuntimeError):
        return {}
