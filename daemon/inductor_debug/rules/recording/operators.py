"""Kinds of ATen operators that rules tell apart, by packet.

Lists are of names in torch 2.11 to 2.13; an operator missing here is taken for an ordinary compute op.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from inductor_debug.rules.recording.ops import Op, TensorMeta

_MATMUL = frozenset({
    "mm", "bmm", "matmul", "linear", "addmm", "baddbmm", "addbmm", "addmv", "addmv_", "addmm_", "baddbmm_", "mv", "dot",
    "vdot", "addr", "bilinear", "_trilinear", "einsum", "inner", "tensordot", "_int_mm", "_scaled_mm",
    "_scaled_grouped_mm", "_grouped_mm", "_addmm_activation", "_weight_int8pack_mm", "_weight_int4pack_mm",
    "mkldnn_linear", "mkldnn_rnn_layer",
})  # fmt: skip
_MATMUL_MARKS = ("scaled_dot_product", "_flash_attention", "_efficient_attention", "flex_attention")

_SOFTMAX = frozenset({"_softmax", "softmax", "_safe_softmax"})

_COPIES = frozenset({
    "clone", "contiguous", "copy", "copy_", "_to_copy", "_reshape_copy", "cat", "stack", "constant_pad_nd", "repeat",
    "repeat_interleave", "fill", "fill_", "zero_", "slice_scatter", "select_scatter", "as_strided_scatter",
    "diagonal_scatter", "lift_fresh_copy", "detach_copy", "view_copy", "expand_copy", "permute_copy", "transpose_copy",
    "slice_copy", "select_copy", "unsqueeze_copy", "squeeze_copy", "t_copy", "as_strided_copy", "split_copy",
    "split_with_sizes_copy", "unbind_copy", "alias_copy", "roll", "flip",
})  # fmt: skip
_METADATA = frozenset({
    "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like", "new_empty",
    "new_zeros", "new_ones", "new_full", "new_empty_strided", "sym_size", "sym_stride", "sym_numel", "is_same_size",
    "_local_scalar_dense", "item", "_assert_async", "_assert_tensor_metadata", "_version", "resize_", "set_",
})  # fmt: skip
_NO_BROADCAST = frozenset({
    "native_layer_norm", "layer_norm", "native_group_norm", "group_norm", "native_batch_norm", "batch_norm",
    "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "_batch_norm_with_update", "cudnn_batch_norm",
    "_fused_rms_norm", "rms_norm", "convolution", "_convolution", "mkldnn_convolution", "gather", "scatter",
    "scatter_add", "scatter_reduce", "index_add", "index_copy", "take_along_dim", "grid_sampler_2d", "grid_sampler_3d",
})  # fmt: skip
_LOOKUPS = frozenset(
    {"embedding", "embedding_bag", "_embedding_bag", "index", "index_put", "index_put_", "index_select"}
)
_RESHAPES = frozenset({
    "view", "_unsafe_view", "reshape", "_reshape_alias", "unflatten", "expand", "repeat", "new_zeros", "new_ones",
    "new_full", "new_empty",
})  # fmt: skip
_ALIASES = frozenset({"detach", "alias", "lift_fresh"})
_REDUCTIONS = frozenset({
    "sum", "mean", "amax", "amin", "max", "min", "argmax", "argmin", "aminmax", "prod", "any", "all", "var", "std",
    "var_mean", "std_mean", "logsumexp", "nansum", "norm", "linalg_vector_norm", "count_nonzero", "median",
})  # fmt: skip
_LAID_OUT_ANEW = frozenset({
    "clone", "contiguous", "_reshape_copy", "view_copy", "repeat", "repeat_interleave", "stack", "embedding",
    "embedding_bag", "_embedding_bag", "index", "index_select", "gather", "take_along_dim", "convolution",
    "_convolution", "lift_fresh", "lift_fresh_copy", "im2col", "col2im", "unfold_copy", "one_hot", "topk", "sort",
})  # fmt: skip
_WITH_NOTES = (
    "aten._", "aten.native_", "aten.cudnn_", "aten.miopen_", "aten.adaptive_max_pool", "aten.max_pool",
    "aten.fractional_max_pool", "aten.log_sigmoid_forward", "aten.nll_loss", "aten.multilabel_margin_loss",
)  # fmt: skip
_WITHOUT_NOTES = ("aten._linalg_", "aten._foreach_", "aten._unique")
_FACTORS = {
    "mm": (0, 1), "bmm": (0, 1), "matmul": (0, 1), "addmm": (1, 2), "baddbmm": (1, 2), "_scaled_mm": (0, 1),
}  # fmt: skip
"""Where among its tensors a matrix product has its two factors."""
_OF_ONE_DTYPE = {
    "mm": ("self", "mat2"),
    "addmm": ("self", "mat1", "mat2"),
    "bmm": ("self", "mat2"),
    "baddbmm": ("self", "batch1", "batch2"),
    "mv": ("self", "vec"),
    "addmv": ("self", "mat", "vec"),
    "dot": ("self", "tensor"),
    "linear": ("input", "weight", "bias"),
    "index_add": ("self", "source"),
    "index_copy": ("self", "source"),
    "index_put": ("self", "values"),
}
"""Operators whose kernels want some of their arguments in one dtype; in-place twins want the same.

Read from the errors of torch 2.13 on real tensors. Left out are convolutions, which Dynamo checks itself.
"""
_NORMS = frozenset(("native_layer_norm", "native_group_norm", "native_batch_norm", "_native_batch_norm_legit"))
_OF_NORMS = ("input", "weight", "bias")
_HALVES = frozenset(("float16", "bfloat16"))


def name(packet: str) -> str:
    """The bare name: `mm` for `aten.mm`."""
    return packet.rsplit(".", 1)[-1]


def of_one_dtype(overload: str) -> tuple[str, ...]:
    """The arguments of an overload (`aten.mm.default`) that torch wants in one dtype; empty where it takes any.

    Other overloads than the default one may take the dtype of the result, so nothing is said of them.
    """
    packet, _, which = overload.rpartition(".")
    bare = name(packet).removesuffix("_")
    return (_OF_NORMS if bare in _NORMS else _OF_ONE_DTYPE.get(bare, ())) if which == "default" else ()


def may_mix(overload: str, dtypes: Sequence[str]) -> bool:
    """Whether an overload takes tensors of these dtypes (`float32`), in the order of `of_one_dtype`.

    Norms take half precision with float32 weights.
    """
    if len(set(dtypes)) < 2:
        return True
    is_norm = of_one_dtype(overload) is _OF_NORMS
    return is_norm and dtypes[0] in _HALVES and set(dtypes[1:]) == {"float32"}


@lru_cache(maxsize=4096)
def multiplies_matrices(packet: str) -> bool:
    """Whether the operator is a matrix multiplication or attention, whose kernels take strided operands."""
    bare = name(packet)
    return bare in _MATMUL or any(mark in bare for mark in _MATMUL_MARKS)


def factors_of(op: Op) -> tuple[TensorMeta, TensorMeta] | None:
    """The left and the right factor of a product of matrices or batches of them; None for any other op."""
    places = factor_places(op)
    return None if places is None else (op.inputs[places[0]], op.inputs[places[1]])


def factor_places(op: Op) -> tuple[int, int] | None:
    """Where among its inputs a product of matrices has its two factors; None for any other op."""
    places = _FACTORS.get(name(op.packet).rstrip("_"))
    if places is None or len(op.inputs) <= places[1]:
        return None
    return places if all(len(op.inputs[place].shape) >= 2 for place in places) else None


@lru_cache(maxsize=4096)
def has_notes(packet: str) -> bool:
    """Whether the operator's outputs after the first one are notes for the backward pass, which no caller gets."""
    return packet.startswith(_WITH_NOTES) and not packet.startswith(_WITHOUT_NOTES)


@lru_cache(maxsize=4096)
def computes_product(packet: str) -> bool:
    """Whether the operator is a product of matrices, attention or a convolution, forward or backward."""
    return multiplies_matrices(packet) or convolves(packet)


@lru_cache(maxsize=4096)
def normalises_exponentials(packet: str) -> bool:
    """Whether the operator is a softmax."""
    return name(packet) in _SOFTMAX


@lru_cache(maxsize=4096)
def reduces(packet: str) -> bool:
    """Whether the operator takes dimensions away by combining their elements."""
    return name(packet) in _REDUCTIONS


@lru_cache(maxsize=4096)
def lays_out_anew(packet: str) -> bool:
    """Whether the operator's result is laid out row by row, however its inputs lie."""
    bare = name(packet)
    return bare in _LAID_OUT_ANEW or any(mark in bare for mark in _MATMUL_MARKS)


@lru_cache(maxsize=4096)
def permutes(packet: str) -> bool:
    """Whether the operator is a view with the dimensions in another order."""
    return name(packet) in ("t", "transpose", "permute", "movedim", "swapaxes", "mT", "numpy_T", "adjoint")


@lru_cache(maxsize=4096)
def reviews(packet: str) -> bool:
    """Whether the operator reads the same elements, in the same order, with other sizes."""
    return name(packet) in ("view", "_unsafe_view", "reshape", "_reshape_alias", "unflatten", "flatten")


@lru_cache(maxsize=4096)
def convolves(packet: str) -> bool:
    """Whether the operator is a convolution."""
    return "convolution" in name(packet)


@lru_cache(maxsize=4096)
def joins(packet: str) -> bool:
    """Whether the operator writes its inputs beside each other, or one of them into a larger result."""
    return name(packet) in ("cat", "stack", "constant_pad_nd", "slice_scatter")


@lru_cache(maxsize=4096)
def converts(packet: str) -> bool:
    """Whether the operator is there to make another dtype of the same values."""
    return name(packet) in ("_to_copy", "to", "type_as", "convert_element_type")


@lru_cache(maxsize=4096)
def only_moves_data(packet: str) -> bool:
    """Whether the operator only copies: it is how a layout is mended, so it does not suffer from it."""
    return name(packet) in _COPIES


@lru_cache(maxsize=4096)
def only_reads_metadata(packet: str) -> bool:
    """Whether the operator looks at shapes and dtypes alone, or at one element on the host."""
    return name(packet) in _METADATA


@lru_cache(maxsize=4096)
def only_aliases(packet: str) -> bool:
    """Whether the operator gives its input back unchanged: autograd's bookkeeping, which nobody wrote."""
    return name(packet) in _ALIASES


@lru_cache(maxsize=4096)
def may_broadcast(packet: str) -> bool:
    """Whether several tensor inputs of different shapes mean broadcasting to the operator."""
    return name(packet) not in _NO_BROADCAST


@lru_cache(maxsize=4096)
def looks_up(packet: str) -> bool:
    """Whether the operator reads from a table at positions given by index tensors."""
    return name(packet) in _LOOKUPS


@lru_cache(maxsize=4096)
def reshapes(packet: str) -> bool:
    """Whether the operator is told the sizes of its result and takes them from nowhere else."""
    return name(packet) in _RESHAPES


def attention_calls(ops: Sequence[Op]) -> frozenset[int]:
    """The indexes of ops that belong to one call of attention, for backends where torch takes it apart.

    `scaled_dot_product_attention` runs as scalings, two matrix products and a softmax where no fused kernel fits
    (dropout, a mask with a gradient), and prepares masks for the fused one. To the user and to the accelerator it is
    still one operator. Ops in a row that one expression runs are taken for one call.
    """
    found: set[int] = set()
    call: list[Op] = []
    for op in ops:
        if call and not _same_call(call[-1], op):
            found |= _if_attention(call)
            call = []
        call.append(op)
    return frozenset(found | _if_attention(call))


def _same_call(first: Op, second: Op) -> bool:
    if first.frames is second.frames:
        return True
    return bool(first.frames and second.frames) and first.frames[0].location == second.frames[0].location


def _if_attention(call: list[Op]) -> set[int]:
    products = sum(multiplies_matrices(op.packet) for op in call)
    if any(mark in op.packet for op in call for mark in _MATMUL_MARKS):
        return {op.index for op in call}
    if products < 2 or not any(name(op.packet) in _SOFTMAX for op in call):
        return set()
    return {op.index for op in call}
