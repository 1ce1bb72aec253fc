"""Conditions on one number that a constructor needs to go on: `assert (depth - 4) % 6 == 0`, `if channels != 1: raise`.

Only arithmetic and comparisons with written numbers are read, and computed here; no code of the user's runs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeVar

_VALUE = "value"
_PLAIN = (
    *(ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Constant, ast.Name, ast.Load, ast.Tuple, ast.List),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)
_LEAST_SHARE = 3
"""Halves are rounded down as often as not."""
_FARTHEST = 512
"""How far above the number that would be taken one is looked for."""

Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class NumberCondition:
    """A condition on a number; `holds` says whether it is to be true or false."""

    code: CodeType
    holds: bool

    def takes(self, number: int) -> bool:
        """Whether the number meets it."""
        try:
            return bool(eval(self.code, {"__builtins__": {}}, {_VALUE: number})) == self.holds
        except (ArithmeticError, TypeError, ValueError, MemoryError):
            return False


def tests_of(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """What a statement needs to be true, or false, for the code to go on behind it.

    A share of what is left of a number is to be a whole one, and not nothing.
    """
    if isinstance(node, ast.Assert):
        yield node.test, True
    elif isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise) and not node.orelse:
        yield node.test, False
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv) and _is_rest(node.left):
        share = node.right.value if isinstance(node.right, ast.Constant) else None
        if type(share) is int and share >= _LEAST_SHARE:
            rest = ast.unparse(node.left)
            yield ast.parse(f"({rest}) % {share} == 0 and ({rest}) >= {share}", mode="eval").body, True


def _is_rest(node: ast.expr) -> bool:
    """Whether an expression is something less a written whole number."""
    taken = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else None
    return isinstance(taken, ast.Constant) and type(taken.value) is int


def condition_on(
    test: ast.expr, holds: bool, asked: Callable[[ast.expr], Asked | None]
) -> tuple[Asked, NumberCondition] | None:
    """The only thing that a condition is about, and the condition; None where it is about several, or not computed.

    Args:
        test: the condition.
        holds: whether it is to be true.
        asked: what an expression stands for; None where it is none of the things that are looked for.
    """
    found: dict[int, Asked] = {}

    class Renamed(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            thing = asked(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
            if thing is None:
                return self.generic_visit(node)
            found[id(thing)] = thing
            return ast.copy_location(ast.Name(_VALUE, ast.Load()), node)

    tree: ast.expr = Renamed().visit(ast.parse(ast.unparse(test), mode="eval").body)
    nodes = list(ast.walk(tree))
    plain = all(isinstance(node, _PLAIN) for node in nodes)
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    texts = any(isinstance(node, ast.Constant) and not isinstance(node.value, int | float) for node in nodes)
    compared = any(isinstance(node, ast.Compare | ast.Mod) for node in nodes)
    if len(found) != 1 or not plain or names != {_VALUE} or not compared or texts:
        return None
    code = compile(ast.fix_missing_locations(ast.Expression(tree)), "<condition>", "eval")
    return next(iter(found.values())), NumberCondition(code, holds)


def meeting(number: int, conditions: list[NumberCondition], alternative: int) -> int:
    """The least number from `number` on that meets all conditions, else one below; a later one for each alternative."""
    fitting = (
        candidate
        for candidate in (*range(number, number + _FARTHEST), *range(number - 1, 0, -1))
        if all(condition.takes(candidate) for condition in conditions)
    )
    for _, candidate in zip(range(alternative), fitting, strict=False):
        number = candidate
    return next(fitting, number)
