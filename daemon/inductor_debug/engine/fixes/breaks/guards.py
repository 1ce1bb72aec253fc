"""What is only said to people (`print`, logging, warnings), and checks that raise: skipped while torch compiles.

In eager nothing changes. Statements that follow each other and say something in the same way get one guard.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_schema import GraphBreak

from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.statements import block_of, under, without
from inductor_debug.engine.fixes.tree import Tree

_LONGEST_QUOTE = 40
_COMPILING = "compiler.is_compiling()"


def fixes(tree: Tree, node: ast.AST, facts: GraphBreak) -> Iterator[Fix]:
    """A guard around what is said and the same right beside it, then nothing in its place."""
    statement = _said(tree, node)
    if statement is None:
        return
    group = _beside(tree, statement)
    torch = tree.imported("torch")
    edits = under(tree, group, f"if not {torch[0]}.{_COMPILING}:") if torch is not None else None
    if torch is not None and edits is not None:
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        title = f"Skip `{quoted(tree, group[0])}`{more} while torch compiles"
        witness = tree.range_of(group[0].value)
        yield Fix(title, (*torch[1], *edits), keeps_results=True, witness=witness)
    yield from removals(tree, node, facts)


def removals(tree: Tree, node: ast.AST, facts: GraphBreak) -> Iterator[Fix]:
    """The statement taken away."""
    statement = _said(tree, node)
    edit = without(tree, statement) if statement is not None else None
    if statement is not None and edit is not None:
        title = f"Remove `{quoted(tree, statement)}`"
        yield Fix(title, (edit,), keeps_results=True, witness=tree.range_of(statement.value))


def skipped_check(tree: Tree, branch: ast.If | ast.Assert) -> Iterator[Fix]:
    """A check of values (`assert`, or a branch that only raises or says something) left out while torch compiles."""
    torch = tree.imported("torch")
    if torch is None:
        return
    title = f"Skip the check `{quoted(tree, branch.test)}` while torch compiles"
    ready = f"not {torch[0]}.{_COMPILING}"
    edits: tuple[TextEdit, ...] | None
    if isinstance(branch, ast.Assert):
        edits = under(tree, [branch], f"if {ready}:")
    elif branch.orelse or not all(_only_checks(each) for each in branch.body):
        return
    else:
        loose = isinstance(branch.test, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr))
        test = f"({tree.text_of(branch.test)})" if loose else tree.text_of(branch.test)
        edits = (tree.replace(branch.test, f"{ready} and {test}"),)
    if edits is not None:
        witness = tree.range_of(branch.test)
        yield Fix(title, (*torch[1], *edits), keeps_results=True, witness=witness)


def is_said_around(tree: Tree, node: ast.AST) -> bool:
    """Whether a node is part of a statement that says something to people, by the name of what it calls."""
    statement = _said(tree, node)
    speaker = _speaker(statement).lower() if statement is not None else ""
    return speaker in ("print", "warnings", "warn") or "log" in speaker


def quoted(tree: Tree, node: ast.expr | ast.stmt) -> str:
    """Source to be named in a title, in one line."""
    text = " ".join(tree.text_of(node).split())
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"


def _only_checks(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Raise) or _is_said(statement)


def _said(tree: Tree, node: ast.AST) -> ast.Expr | None:
    """The statement that consists of nothing but the call at `node`, or around it."""
    for outer in (node, *tree.around(node)):
        if isinstance(outer, ast.stmt):
            return outer if isinstance(outer, ast.Expr) and isinstance(outer.value, ast.Call) else None
    return None


def _is_said(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and bool(_speaker(statement))


def _speaker(statement: ast.stmt) -> str:
    """What a statement calls to say something (`print`, `logger` of `logger.info(...)`); "" of anything else."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return ast.unparse(function.value)
    return function.id if isinstance(function, ast.Name) else ""


def _beside(tree: Tree, statement: ast.Expr) -> list[ast.Expr]:
    """The statement and those of the same speaker that stand directly before and behind it."""
    block = block_of(tree, statement)
    first = last = block.index(statement)
    while first > 0 and _follows(tree, block[first - 1], block[first], _speaker(statement)):
        first -= 1
    while last + 1 < len(block) and _follows(tree, block[last], block[last + 1], _speaker(statement), later=True):
        last += 1
    return [each for each in block[first : last + 1] if isinstance(each, ast.Expr)]


def _follows(tree: Tree, one: ast.stmt, other: ast.stmt, speaker: str, *, later: bool = False) -> bool:
    same = _speaker(other if later else one) == speaker
    return same and tree.range_of(one).end.line + 1 == tree.range_of(other).start.line
