"""`Variable(x)`, from the time before tensors had gradients of their own, written as the tensor that it gives.

It gives the tensor without its history (torch/csrc/autograd/python_legacy_variable.cpp), so that the tensor alone means
the same only where it has none; a trial tells. A new leaf (`requires_grad=True`) is left alone: no expression makes one
without another break.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_schema import GraphBreak

from inductor_debug.engine.fixes.breaks.guards import quoted
from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree, in_order

_CALLED = "Variable"
_WITHOUT_EFFECT = ("requires_grad", "volatile")


def fixes(tree: Tree, node: ast.AST, facts: GraphBreak) -> Iterator[Fix]:
    """The tensor in place of the call, then the tensor without its history."""
    for call in in_order(node):
        if isinstance(call, ast.Call) and (given := _wrapped(call)) is not None:
            title = f"Leave the `{_CALLED}` around `{quoted(tree, given)}` out"
            for text in (tree.text_of(given), f"{tree.enclosed(given)}.detach()"):
                yield Fix(title, (tree.replace(call, text),), keeps_results=True, witness=tree.range_of(call))


def _wrapped(call: ast.Call) -> ast.expr | None:
    """The tensor that a call takes, where it asks for nothing else."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    options = {item.arg: item.value for item in call.keywords}
    asked = options.get("requires_grad")
    if name != _CALLED or len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
        return None
    if not options.keys() <= {*_WITHOUT_EFFECT} or (asked is not None and not _is_false(asked)):
        return None
    return call.args[0]


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
