"""Numbers for sizes that are symbols: a script has to run with some.

Each symbol gets one number for a whole recording, so that sizes which depend on each other still fit. Nothing here
imports torch.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterable
from typing import Any

from inductor_debug.rules.recording.ops import Op, Recording, Size, SymbolicSize, TensorArgument

_NAME = re.compile(r"[A-Za-z_]\w*")
_CANDIDATES = (6, 12, 16, 24, 64, 128, 7, 3)
"""Even and small first: an ordinary size for most models; the later ones where bounds want something else."""
_OPERATIONS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


class SymbolNumbers:
    """The numbers that the symbols of one recording stand for. `chosen` is what a header tells."""

    def __init__(self, recording: Recording) -> None:
        self.chosen: dict[str, int] = {}
        sizes = list(dict.fromkeys(_symbolic(recording.ops)))
        for size in sizes:
            for name in _NAME.findall(size.expression):
                self.chosen.setdefault(name, _CANDIDATES[0])
        for name in self.chosen:
            own = [size for size in sizes if _NAME.findall(size.expression) == [name]]
            self.chosen[name] = next((number for number in _CANDIDATES if self._fits(name, number, own)), 2)

    def number(self, size: Size | float) -> Any:
        """The number for a size; an expression that cannot be computed gives its lower bound."""
        if not isinstance(size, SymbolicSize):
            return size
        value = _computed(size.expression, self.chosen)
        return value if value is not None else max(size.minimum, 1)

    def _fits(self, name: str, number: int, sizes: list[SymbolicSize]) -> bool:
        for size in sizes:
            value = _computed(size.expression, {**self.chosen, name: number})
            if value is None or value < size.minimum or (size.maximum is not None and value > size.maximum):
                return False
        return True


def _symbolic(ops: Iterable[Op]) -> Iterable[SymbolicSize]:
    for op in ops:
        for meta in (*op.inputs, *op.outputs):
            yield from (size for size in (*meta.shape, *meta.stride) if isinstance(size, SymbolicSize))
        yield from _in_arguments(list(op.arguments.values()))


def _in_arguments(values: list[Any]) -> Iterable[SymbolicSize]:
    for value in values:
        if isinstance(value, SymbolicSize):
            yield value
        elif isinstance(value, list) and value and not isinstance(value[0], TensorArgument):
            yield from _in_arguments(value)


def _computed(expression: str, values: dict[str, int]) -> int | None:
    try:
        return int(_value(ast.parse(expression, mode="eval").body, values))
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError, OverflowError):
        return None


def _value(node: ast.expr, values: dict[str, int]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, values)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _value(node.left, values) // _value(node.right, values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        arguments = [_value(item, values) for item in node.args]
        if node.func.id in ("Max", "Min"):
            return (max if node.func.id == "Max" else min)(arguments)
        if node.func.id in ("FloorDiv", "CleanDiv", "PythonMod", "Mod") and len(arguments) == 2:
            return arguments[0] % arguments[1] if "Mod" in node.func.id else arguments[0] // arguments[1]
    raise ValueError("not an expression of sizes")
