"""Sizes that are marked as dynamic and that the code needs as numbers: marks that say less, or the opposite.

`maybe_mark_dynamic` lets torch make a graph for each such size; `mark_static` says that it is to do so. Both are in
`torch._dynamo` alone. Neither changes what is computed: graphs keep their guards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree

_MARK = "mark_dynamic"
_MOST = 3
"""Marks of a file that are looked at; each costs two runs."""


def fixes(tree: Tree) -> Iterator[Fix]:
    """The guesses for the marks of a file, in the order in which they stand there."""
    calls = [each for each in ast.walk(tree.module) if isinstance(each, ast.Call) and _is_mark(each.func)]
    for call in calls[:_MOST]:
        function = call.func
        assert isinstance(function, ast.Attribute)
        marked = ", ".join(tree.text_of(each) for each in call.args)
        weaker, static = tree.rename(function, f"maybe_{_MARK}"), tree.rename(function, "mark_static")
        if weaker is not None:
            title = f"Let torch decide about `{marked}` (`torch._dynamo.maybe_{_MARK}`)"
            yield Fix(title, (weaker,), keeps_results=True)
        if static is not None and not call.keywords:
            title = f"Have a graph for each size of `{marked}` (`torch._dynamo.mark_static`)"
            yield Fix(title, (static,), keeps_results=True)


def _is_mark(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == _MARK
