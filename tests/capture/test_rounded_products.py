"""Which products a text lets torch round to TF32, also where it does not run."""

from __future__ import annotations

import pytest
from inductor_debug.capture.tensors.rounded_products import products_rounded_in
from inductor_debug.rules.recording.ops import Product

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("text", "products"),
    [
        ('if __name__ == "__main__":\n    torch.set_float32_matmul_precision("high")', {Product.MATMUL}),
        ('torch.set_float32_matmul_precision("highest")', set()),
        ("torch.set_float32_matmul_precision(options.precision)", {Product.MATMUL}),
        ("def train():\n    torch.backends.cuda.matmul.allow_tf32 = True", {Product.MATMUL}),
        ("torch.backends.cuda.matmul.allow_tf32 = False", set()),
        ("torch.backends.cudnn.allow_tf32 = True", {Product.CONVOLUTION}),
        ('torch.backends.cuda.matmul.fp32_precision = "tf32"', {Product.MATMUL}),
        ('torch.backends.cuda.matmul.fp32_precision = "ieee"', set()),
        ("# allow_tf32 = True", set()),
        ("allow_tf32 = ", set()),
        ("", set()),
    ],
)
def test_what_a_text_allows(text: str, products: set[Product]) -> None:
    assert products_rounded_in(text) == products
