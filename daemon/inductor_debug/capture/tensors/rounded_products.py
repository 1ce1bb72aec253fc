"""Which products of float32 may be rounded to TF32, as the user's code has set it.

Public settings of torch alone: `torch.set_float32_matmul_precision` and `torch.backends.cudnn`, whose getters raise
where they were set in two ways that contradict each other (torch 2.9 to 2.14). Rounding is then taken for allowed.
What a file says where it does not run here, under `if __name__ == "__main__":` mostly, is read off its text.
"""

from __future__ import annotations

import ast

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


def products_rounded_in(text: str) -> frozenset[Product]:
    """The products that a text anywhere allows to be rounded; none of a text that does not parse."""
    if not any(name in text for name in (_PRECISION, _ALLOWED, _NAMED)):
        return frozenset()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return frozenset()
    return frozenset(product for node in ast.walk(tree) for product in _allowed_by(node))


_PRECISION, _ALLOWED, _NAMED = "set_float32_matmul_precision", "allow_tf32", "fp32_precision"


def _allowed_by(node: ast.AST) -> set[Product]:
    """What a call of the setter, or an assignment to `torch.backends`, allows."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _PRECISION:
        highest = [getattr(given, "value", None) for given in node.args] == ["highest"]
        return set() if highest else {Product.MATMUL}
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
        return set()
    targets = [ast.unparse(target) for target in node.targets]
    wanted = {_ALLOWED: True, _NAMED: "tf32"}
    named = [target for target in targets if wanted.get(target.rpartition(".")[2]) == node.value.value]
    return {Product.CONVOLUTION if ".cudnn." in target else Product.MATMUL for target in named}
