"""The inputs of a target with other sizes: the same tensors, cut or repeated along a dimension.

Dtypes, values (as far as there are any) and marks of dynamic dimensions stay; nothing is run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch.utils import _pytree as pytree

from inductor_debug.capture.running.target import BuiltTarget

Place = tuple[int, int]
"""Which leaf of the call's arguments, and which dimension of it."""


def resized(target: BuiltTarget, sizes: Mapping[Place, int]) -> BuiltTarget:
    """The target with these sizes in its first call. What is no tensor there, or has no such dimension, stays."""
    leaves, shape = pytree.tree_flatten((target.args, target.kwargs))
    wanted: dict[int, dict[int, int]] = {}
    for (leaf, dim), size in sizes.items():
        wanted.setdefault(leaf, {})[dim] = size
    with target.fake_mode or contextlib.nullcontext(), torch.no_grad():
        for number, dims in wanted.items():
            if number < len(leaves) and isinstance(leaves[number], torch.Tensor):
                leaves[number] = _resized(leaves[number], dims)
    args, kwargs = pytree.tree_unflatten(leaves, shape)
    return replace(target, args=args, kwargs=kwargs, more=[])


def tensor_leaves(target: BuiltTarget) -> list[tuple[int, torch.Tensor]]:
    """The tensors of the first call with their numbers among its leaves."""
    leaves = pytree.tree_leaves((target.args, target.kwargs))
    return [(number, leaf) for number, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]


def _resized(tensor: torch.Tensor, dims: Mapping[int, int]) -> torch.Tensor:
    made = tensor.detach()
    for dim, size in dims.items():
        if dim < made.dim() and made.shape[dim] != size and made.shape[dim]:
            made = made.index_select(dim, torch.arange(size, device=made.device) % int(made.shape[dim]))
    if made.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last) and not tensor.is_contiguous():
        made = made.contiguous(memory_format=torch.channels_last)
    for mark in ("_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices"):
        marked: Sequence[int] = [dim for dim in getattr(tensor, mark, ()) if dim not in dims]
        if marked:
            setattr(made, mark, set(marked))
    return made.requires_grad_(tensor.requires_grad)
