"""Arithmetic on sizes that may be symbols: what is certain of them, and nothing more.

A rule speaks up only when every value that a symbol may take breaks it; what depends on the run is left alone.
"""

from __future__ import annotations

import ast
import math
from functools import lru_cache

from inductor_debug.rules.recording.ops import Size


def at_least(size: Size) -> int:
    """The smallest value that `size` can have."""
    return size if isinstance(size, int) else size.minimum


def misaligned(size: Size, unit: int) -> bool:
    """Whether `size` is certainly not a multiple of `unit`. Sizes 0 and 1 count as aligned."""
    if isinstance(size, int):
        return size > 1 and size % unit != 0
    if size.divisor % unit == 0:
        return False
    if size.maximum is not None and size.maximum < unit:
        return size.minimum > 1
    return size.minimum > 1 and _never_multiple(size.expression, unit)


@lru_cache(maxsize=1024)
def _never_multiple(expression: str, unit: int) -> bool:
    """Whether `expression` (`8*s0 + 4`) has a remainder that no value of its symbols can take away."""
    try:
        terms = linear(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError):
        return False
    constant = terms.pop("", 0)
    step = math.gcd(unit, *terms.values())
    return constant % step != 0


def linear(node: ast.expr) -> dict[str, int]:
    """A sum of products as coefficients by what they multiply; the constant under "".

    Raises:
        ValueError: the expression is not of that kind.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return {"": node.value}
    if isinstance(node, ast.Name):
        return {node.id: 1}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return {name: -value for name, value in linear(node.operand).items()}
    if not isinstance(node, ast.BinOp):
        raise ValueError("neither a sum nor a product")
    left, right = linear(node.left), linear(node.right)
    if isinstance(node.op, (ast.Add, ast.Sub)):
        sign = 1 if isinstance(node.op, ast.Add) else -1
        return {name: left.get(name, 0) + sign * right.get(name, 0) for name in {*left, *right}}
    if isinstance(node.op, ast.Mult):
        products: dict[str, int] = {}
        for first, left_value in left.items():
            for second, right_value in right.items():
                name = "*".join(filter(None, sorted((first, second))))
                products[name] = products.get(name, 0) + left_value * right_value
        return products
    raise ValueError("neither a sum nor a product")
