"""Floating-point operations of the ops that dominate: matrix products, convolutions, attention. Others count as none.

The formulas are those of `torch.utils.flop_counter` (torch 2.11 to 2.13): a multiplication and an addition count as two
operations, and nothing is taken off for causal masks or sparsity. That one counts the weight's gradient of a grouped
convolution once for each group too often, and leaves out matrix-vector products and attention on CPUs; here they count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, Size, TensorArgument

Shape = Sequence[int]


class UnknownSizeError(Exception):
    """A size is a symbol, so the number of operations is not known."""


def flops_of(op: Op) -> int:
    """The operations of one op; 0 for kinds that are not counted.

    Raises:
        UnknownSizeError: a size that counts is a symbol.
    """
    formula = _FORMULAS.get(operators.name(op.packet).rstrip("_"))
    return formula(op) if formula is not None else 0


def needed_flops_of(op: Op) -> int:
    """The operations that no algorithm of the usual kind can do without: causal attention scores half of the pairs.

    Products in less than the usual number of operations (Strassen's, Winograd's and Fourier's) are left aside.

    Raises:
        UnknownSizeError: a size that counts is a symbol.
    """
    count = flops_of(op)
    if not count or op.arguments.get("is_causal") is not True:
        return count
    queries, keys = _shape(op, "query", 0)[-2], _shape(op, "key", 1)[-2]
    square = min(queries, keys)
    pairs = square * (square + 1) // 2 + (queries - square) * keys
    return count * pairs // (queries * keys)


def _shape(op: Op, name: str, position: int) -> Shape:
    """The shape of the tensor argument `name`, or of the input at `position` where the schema calls it otherwise."""
    argument = op.arguments.get(name)
    index = argument.index if isinstance(argument, TensorArgument) else position
    return _known(op.inputs[index].shape)


def _known(shape: Sequence[Size]) -> Shape:
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) != len(shape):
        raise UnknownSizeError
    return sizes


def _product(left: Shape, right: Shape) -> int:
    """(…, m, k) times (…, k, n): 2 m k n for each matrix."""
    return 2 * math.prod(left) * right[-1]


def _mm(op: Op) -> int:
    return _product(_shape(op, "self", 0), _shape(op, "mat2", 1))


def _addmm(op: Op) -> int:
    return _product(_shape(op, "mat1", 1), _shape(op, "mat2", 2))


def _baddbmm(op: Op) -> int:
    return _product(_shape(op, "batch1", 1), _shape(op, "batch2", 2))


def _mv(op: Op) -> int:
    return 2 * math.prod(_shape(op, "self", 0))


def _addmv(op: Op) -> int:
    return 2 * math.prod(_shape(op, "mat", 1))


def _linear(op: Op) -> int:
    return 2 * math.prod(_shape(op, "input", 0)) * _shape(op, "weight", 1)[0]


def _convolution(op: Op) -> int:
    return _convolved(_shape(op, "input", 0), _shape(op, "weight", 1), _known(op.outputs[0].shape), _is_transposed(op))


def _convolved(image: Shape, weight: Shape, result: Shape, transposed: bool) -> int:
    """`weight` is (c_out, c_in / groups, *kernel), or (c_in, c_out / groups, *kernel) where transposed."""
    places = math.prod((image if transposed else result)[2:])
    return 2 * image[0] * places * math.prod(weight)


def _convolution_backward(op: Op) -> int:
    """The gradients of image and weight each cost what the forward did, where they are wanted."""
    forward = _convolved(
        _shape(op, "input", 1), _shape(op, "weight", 2), _shape(op, "grad_output", 0), _is_transposed(op)
    )
    wanted = op.arguments.get("output_mask")
    return forward * sum(map(bool, wanted[:2])) if isinstance(wanted, list) else 2 * forward


def _is_transposed(op: Op) -> bool:
    return bool(op.arguments.get("transposed"))


def _attention(op: Op) -> int:
    """Two products: queries (b, h, s, d) with keys (b, h, t, d), and scores (b, h, s, t) with values (b, h, t, e)."""
    return _attended(_shape(op, "query", 0), _shape(op, "key", 1), _shape(op, "value", 2))


def _attended(query: Shape, key: Shape, value: Shape) -> int:
    if len(query) < 2:
        return 0
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _attention_backward(op: Op) -> int:
    """Five products in place of two: the scores once more, and the gradients of scores, query, key and value."""
    query, key, value = _shape(op, "query", 1), _shape(op, "key", 2), _shape(op, "value", 3)
    return 2 * math.prod(query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1])


_ATTENTION = (
    "_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_fused_attention_overrideable", "_scaled_dot_product_attention_math",
    "scaled_dot_product_attention",
)  # fmt: skip
_FORMULAS: dict[str, Callable[[Op], Any]] = {
    "mm": _mm,
    "bmm": _mm,
    "_int_mm": _mm,
    "_scaled_mm": _mm,
    "matmul": _mm,
    "addmm": _addmm,
    "_addmm_activation": _addmm,
    "baddbmm": _baddbmm,
    "mv": _mv,
    "addmv": _addmv,
    "dot": _mv,
    "linear": _linear,
    "convolution": _convolution,
    "_convolution": _convolution,
    "cudnn_convolution": _convolution,
    "mkldnn_convolution": _convolution,
    "convolution_backward": _convolution_backward,
    **dict.fromkeys(_ATTENTION, _attention),
    **{f"{name}_backward": _attention_backward for name in _ATTENTION},
}
