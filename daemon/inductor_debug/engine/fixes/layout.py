"""Fixes of `layout`: the copy that the accelerator would make anyway, made visible and made once.

`.contiguous()` goes behind the very expression that the finding names. The numbers stay the same, unless somebody
writes into the view and means the tensor under it; a function that writes in place may do so.
"""

from __future__ import annotations

import ast

from inductor_debug_schema import Finding

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree

_COPY = ".contiguous()"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
_NO_TENSOR = (ast.Starred, ast.Slice, ast.Lambda, ast.GeneratorExp)


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """One fix, where the finding stands at an expression that makes a value."""
    node = tree.expression_at(finding.range)
    if node is None or isinstance(node, _NO_TENSOR) or not _is_read(node):
        return []
    around = next((outer for outer in tree.around(node) if isinstance(outer, _SCOPES)), node)
    keeps = not any(_writes_in_place(inner) for inner in ast.walk(around))
    fix = Fix("Add .contiguous()", tree.append(node, _COPY), keeps_results=keeps, witness=tree.range_of(node))
    return [fix]


def _writes_in_place(node: ast.AST) -> bool:
    """Whether a node is `x += y`, `x[i] = y`, `x.add_(y)` or `f(..., out=x)`."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        in_place = name.endswith("_") and not name.endswith("__")
        return in_place or any(keyword.arg in ("out", "inplace") for keyword in node.keywords)
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.AugAssign)


def _is_read(node: ast.expr) -> bool:
    """Whether the expression is a value and not what is assigned to."""
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
