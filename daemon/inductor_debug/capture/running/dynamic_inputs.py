"""Inputs whose sizes are not known, for a preview of a target that is compiled with dynamic shapes.

Without it the preview would judge the example's sizes, which is what the user asked not to be held to. Read against
torch 2.11 to 2.13; where torch makes no symbols, the example's own sizes are used, and without
`disable_fake_tensor_cache` it takes longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.iterators import own_iterator


@dataclass
class InputSymbols:
    """Tensors with symbols for sizes, by the ids of those that they replace, and all that torch knows of these."""

    made: dict[int, torch.Tensor] = field(default_factory=dict)
    environment: Any = None


@contextmanager
def symbolic_arguments(
    target: BuiltTarget, origins: OriginTable, symbols: InputSymbols | None = None
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Gives the target's arguments in new containers, their dynamic dimensions replaced by symbols.

    A dimension is dynamic when it was marked (`torch._dynamo.mark_dynamic`) or the target is compiled with
    `dynamic=True`; sizes 0 and 1 stay as they are, as in Dynamo. Tensors that are not fake stay as well. What was made
    is told in `symbols`.
    """
    copies = symbols.made if symbols is not None else {}

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or target.fake_mode is None:
            return own_iterator(leaf)
        dimensions = _dynamic_dimensions(leaf, everything=target.dynamic is True)
        if not dimensions:
            return leaf
        if id(leaf) not in copies:
            copies[id(leaf)] = _symbolic(leaf, dimensions, target, origins, f"input{len(copies)}")
        return copies[id(leaf)]

    mode = target.fake_mode
    before = mode.shape_env if mode is not None else None
    try:
        arguments = pytree.tree_map(convert, (target.args, target.kwargs))
        with _forgetful(mode) if copies else nullcontext():
            yield arguments
    finally:
        if mode is not None:
            if symbols is not None and mode.shape_env is not before:
                symbols.environment = mode.shape_env
            # Dynamo brings its own symbols, and must not find ours.
            mode.shape_env = before


def _forgetful(mode: Any) -> AbstractContextManager[Any]:
    """Has no result of an operation remembered: with symbols for sizes that takes longer than to find it again."""
    try:
        from torch._subclasses.fake_tensor import disable_fake_tensor_cache
    except ImportError:
        return nullcontext()
    return disable_fake_tensor_cache(mode)


def _dynamic_dimensions(tensor: torch.Tensor, *, everything: bool) -> set[int]:
    marked = set(getattr(tensor, "_dynamo_dynamic_indices", ())) | set(
        getattr(tensor, "_dynamo_weak_dynamic_indices", ())
    )
    static = set(getattr(tensor, "_dynamo_static_indices", ()))
    wanted = set(range(tensor.dim())) if everything else marked
    return {dimension for dimension in wanted - static if tensor.shape[dimension] not in (0, 1)}


def _symbolic(
    tensor: torch.Tensor, dimensions: set[int], target: BuiltTarget, origins: OriginTable, name: str
) -> torch.Tensor:
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

    mode = target.fake_mode
    assert mode is not None
    environment = mode.shape_env
    if environment is None:
        environment = mode.shape_env = ShapeEnv()
    context: StatelessSymbolicContext[Any, Any] = StatelessSymbolicContext(
        dynamic_sizes=[
            DimDynamic.DYNAMIC if dimension in dimensions else DimDynamic.STATIC for dimension in range(tensor.dim())
        ]
    )
    try:
        shape, stride, _ = environment.create_symbolic_sizes_strides_storage_offset(
            tensor, ConstantSource(name), symbolic_context=context
        )
        made = torch.empty_strided(shape, stride, dtype=tensor.dtype, device=tensor.device)
    except (RuntimeError, TypeError, AttributeError, NotImplementedError):
        return tensor
    made.requires_grad_(tensor.requires_grad)
    origins.same(made, tensor)
    return made
