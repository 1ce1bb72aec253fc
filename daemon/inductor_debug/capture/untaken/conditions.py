"""What held of a condition where a branch was not taken: `mask` is None, `self.training` is false. Syntax only."""

from __future__ import annotations

import ast

from inductor_debug_schema import Held


def held(condition: ast.expr, value: bool) -> tuple[ast.expr, Held]:
    """The part of a condition that says most, and what it was, where the condition as a whole was `value`."""
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return held(condition.operand, not value)
    if isinstance(condition, ast.Compare) and len(condition.ops) == 1 and _is_none(condition.comparators[0]):
        operator = condition.ops[0]
        if isinstance(operator, (ast.Is, ast.IsNot)):
            is_none = isinstance(operator, ast.Is) == value
            return condition.left, Held.NONE if is_none else Held.PRESENT
    return condition, Held.TRUE if value else Held.FALSE


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
