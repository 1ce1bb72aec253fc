"""Fixes of `layout`: the copy that the accelerator would make anyway, made visible and made once.

`.contiguous()` goes behind the very expression that the finding names. The numbers stay the same.
"""

from __future__ import annotations

import ast

from inductor_debug_schema import Finding

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree

_COPY = ".contiguous()"


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """One fix, where the finding stands at an expression that makes a value."""
    node = tree.expression_at(finding.range)
    if node is None or isinstance(node, (ast.Starred, ast.Lambda)) or not _is_read(node):
        return []
    return [Fix("Add .contiguous()", tree.append(node, _COPY), keeps_results=True)]


def _is_read(node: ast.expr) -> bool:
    """Whether the expression is a value and not what is assigned to."""
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
