"""Guesses for calls that Python or torch refuses by their form: a method that lacks `self`, arguments in wrong order.

Only the source is looked at: nothing that a message says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_schema import Finding

from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree

_UNBOUND = frozenset({"staticmethod"})


def fixes(tree: Tree, finding: Finding) -> Iterator[Fix]:
    """Every method of the file that uses `self` without taking it, then the arguments of the call exchanged."""
    for method in tree.methods():
        if _lacks_self(method):
            edit = tree.add_first_parameter(method, "self")
            if edit is not None:
                yield Fix(f"Give `{method.name}` the parameter `self`", (edit,))
    call = tree.expression_at(finding.range)
    if isinstance(call, ast.Call) and len(call.args) > 1:
        first, second = call.args[:2]
        if isinstance(first, ast.Constant) and not isinstance(second, (ast.Constant, ast.Starred)):
            edits = tree.replace(first, tree.text_of(second)), tree.replace(second, tree.text_of(first))
            yield Fix(f"Swap `{tree.text_of(first)}` and `{tree.text_of(second)}`", edits)


def _lacks_self(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = [*method.args.posonlyargs, *method.args.args]
    if any(argument.arg == "self" for argument in arguments) or method.args.vararg is not None:
        return False
    if any(isinstance(each, ast.Name) and each.id in _UNBOUND for each in method.decorator_list):
        return False
    return any(isinstance(node, ast.Name) and node.id == "self" for node in ast.walk(method))
