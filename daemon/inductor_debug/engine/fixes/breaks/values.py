"""A number taken out of a tensor (`.item()`, `float(x)`) that can stay a tensor: torch computes with it all the same.

Whether the uses of the number take a tensor is not looked at here; a trial shows it. Where the tensor carries gradients
that the number did not, it is detached.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_schema import GraphBreak

from inductor_debug.engine.fixes.breaks.guards import quoted
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.tree import Tree, in_order

_METHODS = frozenset({"item", "tolist"})
_CONVERSIONS = {"float": ("", ".detach()"), "int": (".long()",)}
"""Functions of Python that take a number out, and what does the same to a tensor."""


def fixes(tree: Tree, node: ast.AST, facts: GraphBreak) -> Iterator[Fix]:
    """The tensor itself in place of its number, then the tensor without its history."""
    for call in in_order(node):
        taken = _taken(call)
        if not isinstance(call, ast.Call) or taken is None or _says_otherwise(tree, taken, facts):
            continue
        title = f"Keep `{quoted(tree, taken)}` a tensor"
        for edits in dict.fromkeys(kept(tree, call)):
            yield Fix(title, edits, keeps_results=True, witness=tree.range_of(call))


def kept(tree: Tree, call: ast.Call) -> Iterator[tuple[TextEdit, ...]]:
    """The ways to leave a tensor where a number is taken out of it, the plainest first."""
    function, taken = call.func, _taken(call)
    if isinstance(function, ast.Attribute):
        name, whole = tree.range_of(function), tree.range_of(call)
        bare = tree.rename(function, "")
        if bare is not None and tree.text_of(function).endswith(f".{function.attr}"):
            start = type(name.end)(bare.range.start.line, bare.range.start.character - 1)
            yield (TextEdit(type(whole)(start, whole.end), ""),)
        detached = tree.rename(function, "detach")
        if detached is not None:
            yield (detached,)
    elif isinstance(function, ast.Name) and taken is not None:
        inner = tree.enclosed(taken)
        for trailer in _CONVERSIONS[function.id]:
            yield (tree.replace(call, f"{inner}{trailer}"),)


def _taken(call: ast.AST) -> ast.expr | None:
    """The tensor whose number a call takes out."""
    if not isinstance(call, ast.Call) or call.keywords:
        return None
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in _METHODS and not call.args:
        return function.value
    if isinstance(function, ast.Name) and function.id in _CONVERSIONS and len(call.args) == 1:
        return None if isinstance(call.args[0], (ast.Starred, ast.Constant)) else call.args[0]
    return None


def _says_otherwise(tree: Tree, taken: ast.expr, facts: GraphBreak) -> bool:
    """Whether the break is about another tensor of the same expression."""
    return bool(facts.subject) and "".join(tree.text_of(taken).split()) != "".join(facts.subject.split())
