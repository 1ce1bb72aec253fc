"""A library's function that Dynamo cannot follow, put into the graph as a whole: `torch._dynamo.nonstrict_trace`.

Dynamo leaves it to the tracer behind, which sees the operations alone. So it is for functions that compute with tensors
and do nothing else; where what a graph breaks for is what the function does to the world, it is not offered.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_schema import BreakCause, GraphBreak, Position, Range

from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.tree import Tree

OF_THE_CODE = frozenset(
    {
        BreakCause.ARGUMENT,
        BreakCause.ATTRIBUTE,
        BreakCause.COMPILED_CODE,
        BreakCause.CONTEXT_MANAGER,
        BreakCause.DEFINITION,
        BreakCause.EXCEPTION,
        BreakCause.GENERATOR,
        BreakCause.IDENTITY,
        BreakCause.INSPECTION,
        BreakCause.METHOD,
        BreakCause.OBJECT,
        BreakCause.OTHER,
        BreakCause.SKIPPED,
    }
)
"""Causes that lie in how a function is written, and not in what it does."""


def fixes(tree: Tree, node: ast.AST, facts: GraphBreak) -> Iterator[Fix]:
    """The function marked once, below the imports, and called by the name that it gets there."""
    torch = tree.imported("torch")
    call = next((each for each in (node, *tree.around(node)) if isinstance(each, ast.Call)), None)
    imported = [each for each in tree.module.body if isinstance(each, ast.Import | ast.ImportFrom)]
    if facts.breaks_by not in OF_THE_CODE or torch is None or call is None or not imported:
        return
    named = call.func
    root = next((each.id for each in ast.walk(named) if isinstance(each, ast.Name)), "")
    known = {(each.asname or each.name).partition(".")[0] for statement in imported for each in statement.names}
    if root not in known or not isinstance(named, ast.Name | ast.Attribute) or root == torch[0]:
        return
    function = tree.text_of(named)
    own = f"traced_{named.id if isinstance(named, ast.Name) else named.attr}"
    line = Position(tree.range_of(imported[-1]).end.line + 1, 0)
    text = f"{tree.newline}{own} = {torch[0]}._dynamo.nonstrict_trace({function}){tree.newline}"
    edits = (*torch[1], TextEdit(Range(line, line), text), tree.replace(named, own))
    title = f"Put all of `{function}` into the graph (`torch._dynamo.nonstrict_trace`)"
    yield Fix(title, edits, keeps_results=True, witness=tree.range_of(call))
