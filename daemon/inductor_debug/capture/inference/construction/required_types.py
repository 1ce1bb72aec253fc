"""What arguments must be for code to go on: of which types, or any but None, as `assert` and what raises ask for it.

Reads syntax only. Of several ways to go on, the first is taken.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug.capture.inference.usage import expression_kinds as read

_OF_PATHS = frozenset(("join", "exists", "isfile", "isdir", "basename", "dirname", "abspath", "expanduser", "splitext"))
"""Functions of `os.path`, which take texts."""
_OF_MATRICES = frozenset(("matmul", "mm", "bmm", "spmm"))
"""Functions of `torch` that multiply two tensors, and take nothing else."""
_NOT_ALWAYS = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions of which parts may not be reached."""
_ROLES = {
    "tuple": ("sequence", "tuple"),
    "list": ("sequence",),
    "int": ("integer",),
    "str": ("text",),
    "dict": ("mapping",),
}
"""What is asked of an argument that must be of a type, in the words of `demands`."""


def roles_required_by(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Expressions whose values must have a role, each with it, for the code to go on behind `node`."""
    if isinstance(node, ast.Assert):
        yield from _required(node.test, holds=True)
    elif isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise):
        yield from _required(node.test, holds=False)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_PATHS:
        yield from ((argument, "text") for argument in node.args if read.name_of(node.func.value) == "path")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield from ((operand, "tensor") for operand in (node.left, node.right))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_MATRICES:
        yield from ((argument, "tensor") for argument in node.args[:2] if read.name_of(node.func.value) == "torch")
    elif isinstance(node, ast.For) and (table := _looked_up_by_its_items(node)) is not None:
        yield table, "keyed"
    elif isinstance(node, ast.Assign) and any(map(_is_weight_of_a_layer, node.targets)):
        yield from ((node.value, role) for role in ("tensor", "parameter"))


def _looked_up_by_its_items(loop: ast.For) -> ast.expr | None:
    """The dict of `for name in sorted(heads): width = heads[name]`; None where a loop looks nothing up so."""
    table = loop.iter
    if isinstance(table, ast.Call) and read.name_of(table.func) in ("sorted", "list", "tuple") and table.args:
        table = table.args[0]
    wanted = f"{ast.unparse(table)}[{ast.unparse(loop.target)}]"
    inner = (node for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Subscript))
    return table if any(ast.unparse(node) == wanted for node in inner) else None


def _is_weight_of_a_layer(target: ast.expr) -> bool:
    """Whether it is `self.decoder.weight`, which takes nothing but parameters."""
    return isinstance(target, ast.Attribute) and target.attr == "weight" and isinstance(target.value, ast.Attribute)


def needed_by(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions whose values must not be None for the code to go on behind `node`."""
    if isinstance(node, ast.Assert):
        yield from _needed(node.test, holds=True)
    elif isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise):
        yield from _needed(node.test, holds=False)
    elif isinstance(node, ast.For):
        yield from _counted(node.iter)
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) and node.value is not None:
        yield from _counted(node.value)


def _counted(node: ast.AST) -> Iterator[ast.expr]:
    """What an expression asks the length of, whatever comes out of its other parts."""
    if isinstance(node, _NOT_ALWAYS):
        return
    if isinstance(node, ast.Call) and read.name_of(node.func) == "len" and len(node.args) == 1:
        yield node.args[0]
    for part in ast.iter_child_nodes(node):
        yield from _counted(part)


def _needed(test: ast.expr, *, holds: bool) -> Iterator[ast.expr]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _needed(test.operand, holds=not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
        for part in test.values:
            yield from _needed(part, holds=holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        said = test.comparators[0]
        is_none = isinstance(said, ast.Constant) and said.value is None
        if is_none and isinstance(test.ops[0], ast.IsNot if holds else ast.Is):
            yield test.left
    elif holds and isinstance(test, ast.Call) and read.name_of(test.func) == "isinstance" and len(test.args) == 2:
        kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        if all(isinstance(kind, ast.Name | ast.Attribute) for kind in kinds):
            yield test.args[0]


def _required(test: ast.expr, *, holds: bool) -> Iterator[tuple[ast.expr, str]]:
    """What makes a condition true, or false."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _required(test.operand, holds=not holds)
    elif isinstance(test, ast.BoolOp):
        together = isinstance(test.op, ast.And) == holds
        for part in test.values if together else test.values[:1]:
            yield from _required(part, holds=holds)
    elif holds and isinstance(test, ast.Call) and read.name_of(test.func) == "isinstance" and len(test.args) == 2:
        kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        names = [read.name_of(kind) for kind in kinds]
        for role in _ROLES.get("int" if "int" in names else names[0] if names else "", ()):
            yield test.args[0], role
