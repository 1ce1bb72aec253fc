"""Scaled dot product attention as torch computes it on a GPU, where a model is traced on the CPU.

The CPU has one fused kernel, of its own, and writes attention out where that does not fit (dropout, masks that are
trained). A GPU has others, and which one runs decides what the kernels around it are. The rules are those of torch's
`sdp_utils` (2.11 to 2.13), in its order of preference: on Hopper and Blackwell cuDNN's attention, then flash attention,
memory-efficient attention, products and softmax. That cuDNN comes first is so with the cuDNN of torch's builds for
CUDA 13; those for CUDA 12 bring an older one, and begin with flash attention.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch.nn import Parameter, functional

_HALF = (torch.float16, torch.bfloat16)
_FLASH_SINCE, _BFLOAT16_SINCE, _TF32_SINCE = (8, 0), (8, 0), (8, 0)
_MOST_FLASH_HEAD, _FLASH_HEAD_MULTIPLE = 256, 8
_CUDNN_FIRST = ((9, 0), (10, 0), (10, 3))
_MOST_CUDNN_HEAD, _CUDNN_HEAD_MULTIPLE, _OTHER_CUDNN_HEADS = 128, 8, (192, 128)
_CUDNN_DROPOUT_STEPS = 16
_EFFICIENT_MASK_MULTIPLE = 16


class AttentionKernel(Enum):
    """Who computes attention on a GPU."""

    CUDNN = "cuDNN"
    FLASH = "flash"
    EFFICIENT = "efficient"
    WRITTEN_OUT = "written out"


def attention_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    *,
    causal: bool,
    grouped: bool,
    capability: tuple[int, int],
    dropout: float = 0.0,
) -> AttentionKernel:
    """Which kernel computes it on a GPU of NVIDIA's with this compute capability.

    Args:
        query: of shape (batch, heads, length, size of a head).
        key: likewise.
        value: likewise.
        mask: what is added to the scores or says which count.
        causal: no element sees a later one.
        grouped: several heads of the query may share a head of key and value.
        capability: (9, 0) of an H100.
        dropout: the share of the scores that is dropped.
    """
    same = query.dtype == key.dtype == value.dtype
    shapes = query.dim() == key.dim() == value.dim() == 4
    alike = shapes and query.size(0) == key.size(0) == value.size(0) and key.size(1) == value.size(1)
    if not same or not alike or not all(each.stride(-1) == 1 for each in (query, key, value)):
        return AttentionKernel.WRITTEN_OUT
    if capability in _CUDNN_FIRST and _cudnn_takes(query, key, value, dropout):
        return AttentionKernel.CUDNN
    head = query.size(-1)
    square = not causal or query.size(-2) == key.size(-2)
    flash = (
        capability >= _FLASH_SINCE
        and query.dtype in _HALF
        and mask is None
        and square
        and head == key.size(-1) == value.size(-1) <= _MOST_FLASH_HEAD
    )
    if flash:
        return AttentionKernel.FLASH
    heads = not grouped or query.size(1) == key.size(1) == value.size(1)
    multiple = 8 if query.dtype in _HALF else 4 if capability >= _TF32_SINCE else 1
    efficient = (
        heads
        and query.dtype in (torch.float32, *_HALF)
        and (query.dtype is not torch.bfloat16 or capability >= _BFLOAT16_SINCE)
        and head % multiple == 0
        and value.size(-1) % multiple == 0
        and (mask is None or not causal)
    )
    return AttentionKernel.EFFICIENT if efficient else AttentionKernel.WRITTEN_OUT


def _cudnn_takes(query: Tensor, key: Tensor, value: Tensor, dropout: float) -> bool:
    """Whether cuDNN's attention may be used, and takes heads, lengths and dropout like these, whatever the mask is."""
    head, wide = query.size(-1), value.size(-1)
    small = head <= _MOST_CUDNN_HEAD and wide <= _MOST_CUDNN_HEAD
    steps = dropout * _CUDNN_DROPOUT_STEPS
    switches: Any = torch.backends.cuda
    return (
        switches.cudnn_sdp_enabled()
        and (not torch.are_deterministic_algorithms_enabled() or torch.is_deterministic_algorithms_warn_only_enabled())
        and query.dtype in _HALF
        and head == key.size(-1)
        and (small or (head, wide) == _OTHER_CUDNN_HEADS)
        and head % _CUDNN_HEAD_MULTIPLE == wide % _CUDNN_HEAD_MULTIPLE == 0
        and key.size(-2) != 1
        and steps == int(steps)
        and (not dropout or query.size(-2) != 1)
    )


@contextmanager
def attention_of(capability: tuple[int, int]) -> Iterator[None]:
    """What is traced or run on fake tensors meanwhile has the attention of a GPU with this compute capability."""
    operator = torch.ops.aten.scaled_dot_product_attention.default
    key = DispatchKey.CompositeImplicitAutograd
    kernels: dict[Any, Any] = operator.py_kernels
    before = kernels.get(key)

    def attention(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        *,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        grouped = enable_gqa
        kernel = attention_kernel(
            query, key, value, attn_mask, causal=is_causal, grouped=grouped, capability=capability, dropout=dropout_p
        )
        if kernel is AttentionKernel.CUDNN:
            return _cudnn(query, key, value, attn_mask, dropout_p, is_causal, scale)
        if kernel is AttentionKernel.FLASH:
            return _flash(query, key, value, dropout_p, is_causal, scale)
        if kernel is AttentionKernel.EFFICIENT:
            return _efficient(query, key, value, attn_mask, dropout_p, is_causal, scale)
        written_out = torch.ops.aten._scaled_dot_product_attention_math.default
        result: Tensor = written_out(
            query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=grouped
        )[0]
        return result

    # Whoever traces asks the operator for its kernel in Python; what runs eagerly comes by autograd.
    kernels[key] = attention
    operator._dispatch_cache.clear()
    try:
        with _eager(attention):
            yield
    finally:
        del kernels[key]
        if before is not None:
            kernels[key] = before
        operator._dispatch_cache.clear()


@contextmanager
def _eager(attention: Callable[..., Tensor]) -> Iterator[None]:
    """Fake tensors of the CPU have such an attention where autograd calls it; what torch refuses it refuses as before.

    Tensors with values, for which the CPU has no such kernels, have the attention that they would have.
    """
    libraries: Any = torch.library
    disabled: Any = torch.compiler.disable
    registered: list[Any] = []

    def register() -> None:
        registered.append(libraries.Library("aten", "IMPL"))
        registered[-1].impl("scaled_dot_product_attention", uncompiled, "AutogradCPU")

    def chosen(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *rest: Any, **named: Any
    ) -> Tensor:
        if type(query) not in (Tensor, Parameter) and _fits(query, key, value, attn_mask):
            return attention(query, key, value, attn_mask, *rest, **named)
        registered.pop()._destroy()
        try:
            return functional.scaled_dot_product_attention(query, key, value, attn_mask, *rest, **named)
        finally:
            register()

    # Between graphs Dynamo would look at whatever runs.
    uncompiled = disabled(chosen)
    register()
    try:
        yield
    finally:
        registered.pop()._destroy()


def _fits(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    """Whether the operands are such that each of the kernels takes them, or writes the attention out."""
    if not query.dtype == key.dtype == value.dtype or not query.dim() == key.dim() == value.dim() > 1:
        return False
    if query.size(-1) != key.size(-1) or key.size(-2) != value.size(-2):
        return False
    if mask is None:
        return True
    scores = (query.size(-2), key.size(-2))
    last = zip(mask.shape[-2:][::-1], scores[::-1], strict=False)
    return mask.dtype in (torch.bool, query.dtype) and all(size in (1, wanted) for size, wanted in last)


def _is_trained(query: Tensor, key: Tensor, value: Tensor) -> bool:
    return torch.is_grad_enabled() and any(each.requires_grad for each in (query, key, value))


def _cudnn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    causal: bool,
    scale: float | None,
) -> Tensor:
    """Attention of cuDNN's, which spreads a mask over batch and heads by itself."""
    bias = None if mask is None else _added(mask, query)
    operator = torch.ops.aten._scaled_dot_product_cudnn_attention.default
    trained = _is_trained(query, key, value)
    result: Tensor = operator(query, key, value, bias, trained, dropout, causal, False, scale=scale)[0]
    return result


def _flash(query: Tensor, key: Tensor, value: Tensor, dropout: float, causal: bool, scale: float | None) -> Tensor:
    """Heads are padded to a multiple of eight elements, and what is too much of the result is cut off."""
    size = query.size(-1)
    if size % _FLASH_HEAD_MULTIPLE:
        missing = _FLASH_HEAD_MULTIPLE - size % _FLASH_HEAD_MULTIPLE
        query, key, value = (functional.pad(each, (0, missing)) for each in (query, key, value))
    factor = scale if scale is not None else 1 / math.sqrt(size)
    operator = torch.ops.aten._scaled_dot_product_flash_attention.default
    result: Tensor = operator(query, key, value, dropout, causal, False, scale=factor)[0]
    return result if result.size(-1) == size else result[..., :size]


def _efficient(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    causal: bool,
    scale: float | None,
) -> Tensor:
    """Memory-efficient attention, whose mask is a bias with rows at aligned addresses."""
    trained = _is_trained(query, key, value)
    bias = None if mask is None else _bias(mask, query, key)
    operator = torch.ops.aten._scaled_dot_product_efficient_attention.default
    result: Tensor = operator(query, key, value, bias, trained, dropout, causal, scale=scale)[0]
    return result


def _added(mask: Tensor, query: Tensor) -> Tensor:
    """What is added to the scores: minus infinity where a mask says that something does not count."""
    return torch.where(mask, 0.0, -math.inf).to(query.dtype) if mask.dtype is torch.bool else mask


def _bias(mask: Tensor, query: Tensor, key: Tensor) -> Tensor:
    mask = _added(mask, query)
    last = mask.size(-1)
    if last % _EFFICIENT_MASK_MULTIPLE:
        missing = _EFFICIENT_MASK_MULTIPLE - last % _EFFICIENT_MASK_MULTIPLE
        mask = functional.pad(mask, (0, missing))[..., :last]
    return mask.expand(query.size(0), query.size(1), query.size(2), key.size(2))
