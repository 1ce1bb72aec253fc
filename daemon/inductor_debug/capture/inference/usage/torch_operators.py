"""What functions of torch say of the tensors they are given: tables for `usage`."""

from __future__ import annotations

from inductor_debug.capture.inference.specs.specs import Dimension

_F, _I = "float32", "int64"

FUNCTIONS: dict[str, tuple[tuple[int, tuple[Dimension, ...], str], ...]] = {
    "cross_entropy": ((0, ("B", "K"), _F), (1, ("B",), _I)),
    "nll_loss": ((0, ("B", "K"), _F), (1, ("B",), _I)),
    "multi_margin_loss": ((0, ("B", "K"), _F), (1, ("B",), _I)),
    "binary_cross_entropy_with_logits": ((0, ("B", "K"), _F), (1, ("B", "K"), _F)),
    "binary_cross_entropy": ((0, ("B", "K"), _F), (1, ("B", "K"), _F)),
    "mse_loss": ((0, ("B", "K"), _F), (1, ("B", "K"), _F)),
    "l1_loss": ((0, ("B", "K"), _F), (1, ("B", "K"), _F)),
    "smooth_l1_loss": ((0, ("B", "K"), _F), (1, ("B", "K"), _F)),
    "kl_div": ((0, ("B", "K"), _F), (1, ("B", "K"), _F)),
    "cosine_similarity": ((0, ("B", "D"), _F), (1, ("B", "D"), _F)),
    "pairwise_distance": ((0, ("B", "D"), _F), (1, ("B", "D"), _F)),
    "triplet_margin_loss": ((0, ("B", "D"), _F), (1, ("B", "D"), _F), (2, ("B", "D"), _F)),
    "one_hot": ((0, ("B",), _I),),
    "embedding": ((0, ("B", "T"), _I),),
    "scaled_dot_product_attention": tuple((index, ("B", "G", "T", "D"), _F) for index in range(3)),
    "conv1d": ((0, ("B", "C", "L"), _F),),
    "conv2d": ((0, ("B", "C", "H", "W"), _F),),
    "conv3d": ((0, ("B", "C", "F", "H", "W"), _F),),
    "conv_transpose1d": ((0, ("B", "C", "L"), _F),),
    "conv_transpose2d": ((0, ("B", "C", "H", "W"), _F),),
    "conv_transpose3d": ((0, ("B", "C", "F", "H", "W"), _F),),
    "interpolate": ((0, ("B", "C", "H", "W"), _F),),
    "upsample": ((0, ("B", "C", "H", "W"), _F),),
    "max_pool2d": ((0, ("B", "C", "H", "W"), _F),),
    "avg_pool2d": ((0, ("B", "C", "H", "W"), _F),),
    "adaptive_avg_pool2d": ((0, ("B", "C", "H", "W"), _F),),
    "grid_sample": ((0, ("B", "C", "H", "W"), _F), (1, ("B", "H", "W", 2), _F)),
    "bmm": ((0, ("B", "T", "D"), _F), (1, ("B", "D", "S"), _F)),
    "pixel_shuffle": ((0, ("B", 64, "H", "W"), _F),),
    "unfold": ((0, ("B", "C", "H", "W"), _F),),
    "stft": ((0, ("B", "A"), _F),),
    "cdist": ((0, ("B", "N", 3), _F), (1, ("B", "M", 3), _F)),
}
"""Argument number, shape and dtype that a function is usually given."""

_BY_NAME: dict[str, tuple[str, ...]] = {
    "scaled_dot_product_attention": ("query", "key", "value"),
    "grid_sample": ("input", "grid"),
    "bmm": ("input", "mat2"),
    "cdist": ("x1", "x2"),
    "cosine_similarity": ("x1", "x2"),
    "pairwise_distance": ("x1", "x2"),
    "triplet_margin_loss": ("anchor", "positive", "negative"),
}
"""What tensors are called that are given by name, where that is not `input` and `target`."""


def name_of(function: str, position: int) -> str:
    """What one of the first tensors of a function in `FUNCTIONS` is called where it is given by name."""
    names = _BY_NAME.get(function, ("input", "target"))
    return names[position] if position < len(names) else ""


OF_LOSSES = {
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
}
"""The functions that modules are which are made where they are called: `nn.MSELoss()(x, y)`."""

INDEXING = frozenset(
    ("scatter", "scatter_", "scatter_add_", "gather", "index_select", "index_add", "one_hot", "nll_loss")
)
"""Functions whose later arguments are indexes."""

CASTS = frozenset(("float", "double", "half", "bfloat16", "long", "int", "to", "type", "type_as"))
"""Functions that change the dtype, so that what takes the result says nothing of it."""

METHODS_OF_RANK = frozenset(
    (
        *("transpose", "swapaxes", "size", "softmax", "log_softmax", "mean", "sum", "amax", "amin", "std", "var"),
        *("chunk", "split", "squeeze", "cumsum", "topk", "argmax", "unbind", "select", "narrow", "roll", "flip"),
        *("max", "min", "norm", "normalize", "sort", "logsumexp", "flatten"),
    )
)
"""Functions whose dimension arguments bound the rank from below."""

SAME_SHAPE = frozenset(
    (
        *("relu", "gelu", "silu", "tanh", "sigmoid", "softmax", "log_softmax", "exp", "log", "sqrt", "abs", "clone"),
        *("contiguous", "float", "double", "half", "bfloat16", "long", "int", "to", "type", "type_as", "cuda", "cpu"),
        *("list", "tuple", "tolist", "numpy"),
        *(
            "detach",
            "clamp",
            "dropout",
            "leaky_relu",
            "elu",
            "softplus",
            "normalize",
            "sin",
            "cos",
            "neg",
            "requires_grad_",
        ),
        *(
            "masked_fill",
            "add",
            "sub",
            "mul",
            "div",
            "pow",
            "square",
            "sign",
            "round",
            "flip",
            "roll",
            "cumsum",
            "alpha_dropout",
        ),
    )
)
"""Functions that give a tensor of the same shape."""
