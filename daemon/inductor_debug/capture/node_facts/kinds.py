"""Which kind of work an operation is, in words that people know, from what torch says of the operator and its name."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from inductor_debug_schema import OperationKind

from inductor_debug.rules.recording import operators

_WEIGHT = (
    OperationKind.PRODUCT,
    OperationKind.REDUCTION,
    OperationKind.RANDOM,
    OperationKind.LOOKUP,
    OperationKind.ELEMENTWISE,
    OperationKind.CONVERSION,
    OperationKind.LAYOUT,
    OperationKind.CREATION,
    OperationKind.OTHER,
)
"""A node that runs several operations is called by the first of these that is among them."""
_POINTWISE, _REDUCTION, _SEEDED = (
    getattr(torch.Tag, name, None) for name in ("pointwise", "reduction", "nondeterministic_seeded")
)
_REDUCES = (
    "norm",
    "softmax",
    "pool",
    "sort",
    "topk",
    "cum",
    "loss",
    "logsumexp",
    "var_mean",
    "std_mean",
    "mean",
    "kthvalue",
)
"""Parts of names of reductions that torch does not tag (torch 2.11 to 2.13)."""
_DRAWS = ("dropout", "seed", "random")
_FINDS = (
    "gather",
    "scatter",
    "index",
    "embedding",
    "take",
    "put",
    "bucketize",
    "searchsorted",
    "grid_sampler",
    "upsample",
)
_CONVERTS = frozenset({"_to_copy", "to", "convert_element_type", "type_as"})
_CREATES = frozenset(
    {"arange", "full", "zeros", "ones", "empty", "scalar_tensor", "eye", "linspace", "tril_indices", "iota"}
)
_IR = {"Pointwise": OperationKind.ELEMENTWISE, "Reduction": OperationKind.REDUCTION}
_JOINS_IR = " + "
_EXTERN = "extern_kernels."
PICKS = frozenset({"operator.getitem", "_operator.getitem"})
"""What takes one tensor out of several: no operation."""


def heaviest(kinds: set[OperationKind]) -> OperationKind | None:
    """What a node that does all of these is called; None for nothing."""
    return next((kind for kind in _WEIGHT if kind in kinds), None)


@lru_cache(maxsize=8192)
def kind_of(op: str) -> OperationKind | None:
    """The kind of an overload (`aten.mm.default`) or of a node of Inductor's IR; None for other names."""
    if _JOINS_IR in op:
        return heaviest({kind for part in op.split(_JOINS_IR) if (kind := kind_of(part)) is not None})
    if op in _IR:
        return _IR[op]
    if op in PICKS:
        return OperationKind.LAYOUT
    if op.startswith(_EXTERN):
        return kind_of(f"aten.{op.removeprefix(_EXTERN)}.default") or OperationKind.OTHER
    overload = _overload(op)
    if overload is None:
        return None
    packet = op.rpartition(".")[0]
    bare = operators.name(packet)
    if operators.multiplies_matrices(packet) or "conv" in bare.replace("convert", "") or "_rnn" in bare:
        return OperationKind.PRODUCT
    if bare in _CONVERTS:
        return OperationKind.CONVERSION
    if bare in _CREATES or operators.only_reads_metadata(packet):
        return OperationKind.CREATION
    if getattr(overload, "is_view", False) or operators.only_moves_data(packet) or operators.reshapes(packet):
        return OperationKind.LAYOUT
    if _SEEDED in overload.tags or any(part in bare for part in _DRAWS):
        return OperationKind.RANDOM
    if _REDUCTION in overload.tags or any(part in bare for part in _REDUCES):
        return OperationKind.REDUCTION
    if any(part in bare for part in _FINDS):
        return OperationKind.LOOKUP
    if _POINTWISE in overload.tags or bare.endswith("_backward"):
        return OperationKind.ELEMENTWISE
    return OperationKind.OTHER


def _overload(op: str) -> Any:
    namespace, *rest = op.split(".")
    if len(rest) != 2 or namespace in ("torch", "Tensor", "operator", "builtins", "math"):
        return None
    found = getattr(getattr(getattr(torch.ops, namespace, None), rest[0], None), rest[1], None)
    return found if isinstance(found, torch._ops.OpOverload) else None
