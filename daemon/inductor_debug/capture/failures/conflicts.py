"""Which sizes, dtypes or devices of a call contradict each other, from what the call was given.

`conflict_of` reads the metadata of the tensors and asks the family of the operation (`contradictions`). It never runs
the call, never looks at a tensor's values nor at the text of an exception, and has no opinion on operations that it
does not know.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import torch
from inductor_debug_schema import ConflictKind
from torch import nn

from inductor_debug.capture.failures.contradictions import (
    indexing,
    joining,
    layer_calls,
    products,
    reshaping,
    windows,
)
from inductor_debug.capture.failures.contradictions.call_facts import Conflict, Operand, Side, rank_is_not

__all__ = ["Conflict", "ConflictKind", "Operand", "Side", "conflict_of", "operands_of", "sizes_of"]

_Check = Callable[..., "Conflict | None"]
_ALIASES = MappingProxyType({"self": "input", "mat2": "other", "tensor2": "other", "tensor1": "input", "x1": "input"})
"""Names that ATen and Python give the same argument."""

_CHECKS: Mapping[str, _Check] = MappingProxyType(
    {
        "matmul": products.matmul,
        "mm": products.mm,
        "bmm": products.bmm,
        "mv": products.mv,
        "dot": products.dot,
        "vdot": products.dot,
        "inner_product": products.dot,
        "addmm": products.addmm,
        "baddbmm": products.baddbmm,
        "addmv": products.addmv,
        "linear": products.linear,
        "bilinear": products.bilinear,
        "einsum": products.einsum,
        "outer": products.outer,
        "tensordot": products.tensordot,
        "scaled_dot_product_attention": products.scaled_dot_product_attention,
        "convolution": windows.convolution,
        **{f"conv{count}d": windows.forward for count in (1, 2, 3)},
        **{f"conv_transpose{count}d": windows.backward for count in (1, 2, 3)},
        **{f"max_pool{count}d": windows.max_pool(count) for count in (1, 2, 3)},
        **{f"max_pool{count}d_with_indices": windows.max_pool(count) for count in (1, 2, 3)},
        **{f"avg_pool{count}d": windows.avg_pool(count) for count in (1, 2, 3)},
        **{
            f"adaptive_{kind}_pool{count}d": windows.adaptive_pool(count)
            for kind in ("avg", "max")
            for count in (1, 2, 3)
        },
        "cat": joining.cat,
        "concat": joining.cat,
        "concatenate": joining.cat,
        "stack": joining.stack,
        "where": joining.where,
        "masked_fill": joining.masked_fill,
        "masked_fill_": joining.masked_fill_in_place,
        "expand": joining.expand,
        "broadcast_to": joining.expand,
        "expand_as": joining.expand_as,
        "view": reshaping.view,
        "_unsafe_view": reshaping.reshape,
        "reshape": reshaping.reshape,
        "view_as": reshaping.reshape_as,
        "reshape_as": reshaping.reshape_as,
        "unflatten": reshaping.unflatten,
        "permute": reshaping.permute,
        "transpose": reshaping.transpose,
        "swapaxes": reshaping.transpose,
        "swapdims": reshaping.transpose,
        "t": reshaping.t,
        "flatten": reshaping.flatten,
        "unsqueeze": reshaping.unsqueeze,
        "split": reshaping.split,
        "split_with_sizes": reshaping.split,
        "repeat": reshaping.repeat,
        "glu": reshaping.glu,
        "affine_grid": layer_calls.affine_grid,
        "pixel_shuffle": reshaping.pixel_shuffle,
        "layer_norm": layer_calls.layer_norm,
        "native_layer_norm": layer_calls.layer_norm,
        "rms_norm": layer_calls.rms_norm,
        "group_norm": layer_calls.group_norm,
        "batch_norm": layer_calls.batch_norm,
        "native_batch_norm": layer_calls.batch_norm,
        "_native_batch_norm_legit": layer_calls.batch_norm,
        "_native_batch_norm_legit_functional": layer_calls.batch_norm,
        "instance_norm": layer_calls.batch_norm,
        "multi_head_attention_forward": layer_calls.multi_head_attention,
        "embedding": layer_calls.embedding,
        "nll_loss": layer_calls.nll_loss,
        "nll_loss_nd": layer_calls.nll_loss,
        "nll_loss_forward": layer_calls.nll_loss,
        "cross_entropy": layer_calls.cross_entropy,
        "cross_entropy_loss": layer_calls.cross_entropy,
        "kl_div": joining.pointwise,
        "mse_loss": joining.pointwise,
        "l1_loss": joining.pointwise,
        "smooth_l1_loss": joining.pointwise,
        "huber_loss": joining.pointwise,
        "binary_cross_entropy": joining.same_shape,
        "binary_cross_entropy_with_logits": joining.same_shape,
        "getitem": indexing.getitem,
        "select": indexing.select,
        "narrow": indexing.narrow,
        "gather": indexing.gather,
        "index_select": indexing.index_select,
    }
)
_UNKNOWN = -1
"""Stands for a size that depends on the values of tensors."""
_OF_ATEN: Mapping[str, _Check] = MappingProxyType({"embedding": layer_calls.embedding_of_table})
"""Operators whose arguments come in another order than those of the function of the same name."""
_OPERATORS = MappingProxyType(
    {
        "matmul": "matmul", "truediv": "div", "floordiv": "div", "add": "add", "sub": "sub", "mul": "mul", "div": "div",
        "pow": "pow", "mod": "remainder", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
        "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "getitem": "getitem",
    }
)  # fmt: skip
"""Python's operators by the operation of torch that they do."""
_SECOND_NAMES = MappingProxyType(
    {
        "multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div", "floor_divide": "div",
        "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
        "arctan2": "atan2",
    }
)  # fmt: skip
"""Operations that torch has under two names, of which only the first is tagged."""
_RANKS: Mapping[type[nn.Module], tuple[int, ...]] = MappingProxyType(
    {nn.BatchNorm1d: (2, 3), nn.BatchNorm2d: (4,), nn.BatchNorm3d: (5,)}
)
"""The ranks that modules want which check them themselves."""


def conflict_of(op: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Conflict | None:
    """The contradiction for which torch refuses a call; None where there is none, or the operation is not known.

    Args:
        op: an ATen overload or its name (`aten.mm.default`), a function or method of torch, or a module of `torch.nn`
            whose own checks refuse its input.
        args: what it was given.
        kwargs: what it was given by name.
    """
    described: list[Operand] = []
    args = tuple(_plain(value, described) for value in args)
    kwargs = {name: _plain(value, described) for name, value in kwargs.items()}
    if isinstance(op, nn.Module):
        return _of_module(op, args, kwargs)
    if any(_UNKNOWN in operand.shape for operand in described):
        return None
    name, is_aten = _name_of(op)
    if name == "__rmatmul__":
        args = args[::-1]
    check = _check_of(name, is_aten)
    if check is None:
        return _dimensions(name, args, kwargs)
    parameters = inspect.signature(check).parameters
    kwargs = {name if name in parameters else _ALIASES.get(name, name): value for name, value in kwargs.items()}
    return _devices(name, described) or check(*args, **kwargs) if _fits(check, args, kwargs) else None


def operands_of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors of a call in the order in which a `Side` counts them."""
    found: list[torch.Tensor] = []

    def collect(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            for item in value:
                collect(item)

    collect(args)
    collect(tuple(kwargs.values()))
    return found


def sizes_of(tensor: torch.Tensor) -> list[int]:
    """A tensor's sizes as numbers, as they are compared here; none of a nested tensor."""
    return [] if tensor.is_nested else [_number(size) for size in tensor.shape]


def _plain(value: Any, described: list[Operand]) -> Any:
    """An argument without tensors and symbols: operands, numbers, strings, lists and tuples of those."""
    if isinstance(value, torch.Tensor):
        strided = value.layout is torch.strided and not value.is_nested
        operand = Operand(
            index=len(described),
            shape=tuple(sizes_of(value)),
            dtype=str(value.dtype).removeprefix("torch."),
            device=value.device.type,
            stride=tuple(_number(size) for size in value.stride()) if strided else None,
        )
        described.append(operand)
        return operand
    if isinstance(value, (list, tuple)):
        return (
            type(value)(_plain(item, described) for item in value)
            if type(value) in (list, tuple)
            else tuple(_plain(item, described) for item in value)
        )
    return _number(value) if isinstance(value, torch.SymInt) else value


def _number(size: int | torch.SymInt) -> int:
    """A size as a number; of a symbol the one that torch itself decides by, which leaves no guard behind."""
    if isinstance(size, int):
        return size
    hint = size.node.hint
    return int(hint) if hint is not None else _UNKNOWN


def _name_of(op: Any) -> tuple[str, bool]:
    """The operation's name without overload, and whether it is ATen's."""
    if isinstance(op, str):
        return op.removeprefix("aten.").removeprefix("aten::").partition(".")[0], True
    schema = getattr(op, "_schema", None)
    if schema is not None:
        return str(schema.name).rpartition("::")[2], True
    return str(getattr(op, "__name__", "")), False


@cache
def _check_of(name: str, is_aten: bool) -> _Check | None:
    """The check for an operation, by its name in torch; operators and in-place twins are the operation they do."""
    if name.startswith("__") and name.endswith("__"):
        bare = name.strip("_")
        if bare.startswith("i") and bare[1:] in _OPERATORS:
            return _check_of(_OPERATORS[bare[1:]] + "_", is_aten)
        bare = bare[1:] if bare.startswith("r") and bare[1:] in _OPERATORS else bare
        name = _OPERATORS.get(bare, bare)
    bare = name.removesuffix("_")
    name = _SECOND_NAMES.get(bare, bare) + name[len(bare) :]
    known = _OF_ATEN.get(name) if is_aten else None
    known = known or _CHECKS.get(name)
    if known is None and _is_pointwise(name):
        return joining.pointwise_in_place if name.endswith("_") else joining.pointwise
    return known


def _is_pointwise(name: str) -> bool:
    """Whether torch itself calls the operation pointwise, and it can take several tensors."""
    packet = getattr(torch.ops.aten, name, None)
    if packet is None or not hasattr(packet, "overloads"):
        return False
    overloads = [getattr(packet, overload) for overload in packet.overloads()]
    several = any(sum(str(item.type) == "Tensor" for item in each._schema.arguments) > 1 for each in overloads)
    return several and any(torch.Tag.pointwise in each.tags for each in overloads)


def _fits(check: _Check, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call is one that the check knows: a tensor wherever it wants one, nothing missing."""
    signature = inspect.signature(check)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return False
    for name, value in bound.arguments.items():
        annotation = signature.parameters[name].annotation
        if annotation == "Operand" and not isinstance(value, Operand):
            return False
        if annotation == "Operand | None" and not (value is None or isinstance(value, Operand)):
            return False
        if annotation == "int" and not isinstance(value, int):
            return False
    return True


def _devices(name: str, operands: list[Operand]) -> Conflict | None:
    """That tensors lie on different devices; a single number may lie on the host, and so may indices."""
    placed = [operand for operand in operands if operand.rank or operand.device != "cpu"]
    if name == "__getitem__":
        placed = [operand for operand in placed if operand.index == 0 or operand.device != "cpu"]
    for other in placed[1:]:
        if other.device != placed[0].device:
            return Conflict(ConflictKind.DEVICE, placed[0].side(), other.side(), other.device)
    return None


@cache
def _dimension_places(name: str) -> frozenset[int]:
    """At which positions an operation without a check of its own is told dimensions, by its schemas."""
    packet: Any = getattr(torch.ops.aten, name, None)
    places = set()
    for overload in packet.overloads() if hasattr(packet, "overloads") else ():
        arguments = getattr(packet, overload)._schema.arguments
        if len(arguments) > 1 and str(arguments[0].type) == "Tensor":
            places |= {index for index, item in enumerate(arguments) if item.name == "dim" and index == 1}
    return frozenset(places)


def _dimensions(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Conflict | None:
    """That a reduction or another operation with a `dim` is told one which its first tensor does not have."""
    first = args[0] if args else kwargs.get("input", kwargs.get("self"))
    places = _dimension_places(name)
    if "dim" in kwargs and places:
        return indexing.dimension(first, kwargs["dim"])
    return next((indexing.dimension(first, args[place]) for place in places if place < len(args)), None)


def _of_module(module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Conflict | None:
    """What modules of torch check themselves before they call any function."""
    given = args[0] if args else kwargs.get("input")
    if not isinstance(given, Operand):
        return None
    if isinstance(module, nn.RNNBase):
        dtype = str(next(module.parameters()).dtype).removeprefix("torch.")
        layers = module.num_layers * (2 if module.bidirectional else 1)
        hidden = module.proj_size or module.hidden_size
        features = (hidden, module.hidden_size) if isinstance(module, nn.LSTM) else (hidden,)
        state = args[1] if len(args) > 1 else kwargs.get("hx")
        batch = 0 if module.batch_first else 1
        return layer_calls.recurrent(module.input_size, layers, features, dtype, batch, given, state)
    if isinstance(module, nn.RNNCellBase):
        return layer_calls.recurrent_cell(module.input_size, given)
    ranks = next((ranks for kind, ranks in _RANKS.items() if isinstance(module, kind)), None)
    return rank_is_not(given, *ranks) if ranks else None
