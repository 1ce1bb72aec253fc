"""Which products of float32 may be rounded to TF32, as the user's code has set it.

Public settings of torch alone: `torch.set_float32_matmul_precision` and `torch.backends.cudnn`, whose getters raise
where they were set in two ways that contradict each other (torch 2.9 to 2.14). Rounding is then taken for allowed.
"""

from __future__ import annotations

import torch

from inductor_debug.rules.recording.ops import Product


def rounded_products() -> frozenset[Product]:
    """The products that a GPU may compute in TF32."""
    found = {Product.MATMUL} if torch.get_float32_matmul_precision() != "highest" else set()
    try:
        convolutions = bool(torch.backends.cudnn.allow_tf32)
    except RuntimeError:
        convolutions = True
    return frozenset(found | {Product.CONVOLUTION} if convolutions else found)
