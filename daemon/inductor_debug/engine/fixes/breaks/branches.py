"""A branch that a tensor's value decides: both sides computed and one chosen, by `torch.where` or `torch.cond`.

`where` is for a single value on each side; `cond` for anything that gives tensors of the same shapes on both sides and
changes nothing else. A branch that only checks may be left out while torch compiles. What the sides really compute, a
comparison of runs shows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inductor_debug_schema import GraphBreak, Position, Range

from inductor_debug.engine.fixes.breaks import conditional
from inductor_debug.engine.fixes.breaks.guards import quoted, skipped_check
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.statements import block_of, comments_in, indentation
from inductor_debug.engine.fixes.tree import Tree

_TORN = (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Starred, ast.Await, ast.Yield, ast.YieldFrom)
"""Expressions that need parentheses as arguments, or that cannot be moved."""
_OF_TRUTH = frozenset({"any", "all", "isnan", "isinf", "isfinite"})
"""Functions of torch that give truth values."""


def fixes(tree: Tree, node: ast.AST, facts: GraphBreak) -> Iterator[Fix]:
    """The guesses for the branch whose condition `node` is, or lies in."""
    branch = branch_at(tree, node)
    if isinstance(branch, ast.Assert):
        yield from skipped_check(tree, branch)
    if isinstance(branch, (ast.If, ast.IfExp)):
        torch = tree.imported("torch")
        if torch is not None:
            yield from _chosen(tree, branch, *torch)
        if isinstance(branch, ast.If):
            yield from skipped_check(tree, branch)
            if torch is not None:
                condition = Condition.of(tree, branch.test)
                test = f"~({condition.tensor})" if condition.negated else condition.tensor
                yield from conditional.fixes(tree, branch, test, *torch)


@dataclass(frozen=True)
class Condition:
    """A condition as `torch.where` takes it: the source of a tensor, and whether it says the opposite.

    `boolean` says that the tensor surely is one of truth values.
    """

    tensor: str
    negated: bool
    boolean: bool

    @classmethod
    def of(cls, tree: Tree, test: ast.expr) -> Condition:
        """Without `not`, `bool(...)` and `.item()` around it, which make Python's truth of a tensor."""
        negated = False
        while True:
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test, negated = test.operand, not negated
            elif (
                isinstance(test, ast.Call) and not test.keywords and _name(test.func) == "bool" and len(test.args) == 1
            ):
                test = test.args[0]
            elif isinstance(test, ast.Call) and _name(test.func) == "item" and isinstance(test.func, ast.Attribute):
                test = test.func.value
            else:
                break
        text = tree.text_of(test)
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Call) and _name(test.left.func) == "item":
            text = text.replace(".item()", "", 1)
        boolean = isinstance(test, ast.Compare) or (isinstance(test, ast.Call) and _name(test.func) in _OF_TRUTH)
        return cls(text, negated, boolean)


def _chosen(tree: Tree, branch: ast.If | ast.IfExp, torch: str, imports: tuple[TextEdit, ...]) -> Iterator[Fix]:
    sides = _sides(tree, branch)
    if sides is None or any(isinstance(node, _TORN) for node in (sides.one, sides.other)):
        return
    condition = Condition.of(tree, branch.test)
    one, other = tree.text_of(sides.one), tree.text_of(sides.other)
    if sides.operator:
        one = f"{one} {sides.operator} {tree.enclosed(sides.added)}" if sides.added is not None else one
    if condition.negated:
        one, other = other, one
    title = f"Choose by `torch.where` on `{quoted(tree, branch.test)}`"
    for test in (condition.tensor, *([] if condition.boolean else [f"({condition.tensor}) != 0"])):
        text = f"{sides.before}{torch}.where({test}, {one}, {other})"
        kept = sides.comments
        indent = indentation(tree, branch) if isinstance(branch, ast.If) else None
        notes = "".join(f"{comment}{tree.newline}{indent or ''}" for comment in kept)
        edits = (*imports, TextEdit(sides.place, notes + text))
        witness = tree.range_of(branch.test)
        yield Fix(title, edits, keeps_results=True, witness=witness, condition=True)


@dataclass(frozen=True)
class _Sides:
    """What a branch gives on each side, what the choice is put behind (`y = `), and what it all replaces."""

    one: ast.expr
    other: ast.expr
    before: str
    place: Range
    comments: tuple[str, ...] = ()
    operator: str = ""
    added: ast.expr | None = None


def _sides(tree: Tree, branch: ast.If | ast.IfExp) -> _Sides | None:
    if isinstance(branch, ast.IfExp):
        return _Sides(branch.body, branch.orelse, "", tree.range_of(branch))
    if len(branch.body) != 1 or len(branch.orelse) > 1 or indentation(tree, branch) is None:
        return None
    body = branch.body[0]
    last: ast.stmt = branch
    if branch.orelse:
        other: ast.stmt | None = branch.orelse[0]
    else:
        block = block_of(tree, branch)
        following = block[block.index(branch) + 1 :]
        other = following[0] if following and isinstance(following[0], ast.Return) else None
        last = other if other is not None and isinstance(body, ast.Return) else branch
    place = Range(tree.range_of(branch).start, tree.range_of(last).end)
    inner = Range(place.start, Position(max(place.end.line - 1, place.start.line), 0))
    comments = tuple(comments_in(tree, inner)) if place.end.line > place.start.line else ()
    if isinstance(body, ast.Return) and isinstance(other, ast.Return):
        if body.value is None or other.value is None:
            return None
        return _Sides(body.value, other.value, "return ", place, comments)
    name = _assigned(body)
    if name is None:
        return None
    target = tree.text_of(name)
    if branch.orelse:
        if not (isinstance(body, ast.Assign) and isinstance(other, ast.Assign) and _same(_assigned(other), name)):
            return None
        return _Sides(body.value, other.value, f"{target} = ", place, comments)
    if isinstance(body, ast.Assign):
        return _Sides(body.value, name, f"{target} = ", place, comments)
    if isinstance(body, ast.AugAssign):
        operator = _OPERATORS.get(type(body.op))
        if operator is not None:
            return _Sides(name, name, f"{target} = ", place, comments, operator, body.value)
    return None


_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def _assigned(statement: ast.stmt) -> ast.expr | None:
    """The one name, or attribute, that a statement assigns to."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    else:
        return None
    return target if isinstance(target, ast.Name) else None


def _same(one: ast.expr | None, other: ast.expr) -> bool:
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def branch_at(tree: Tree, node: ast.AST) -> ast.If | ast.IfExp | ast.Assert | None:
    """The branch itself, or the innermost one whose condition `node` is part of."""
    inner = node
    if isinstance(node, (ast.If, ast.IfExp, ast.Assert)):
        return node
    for outer in tree.around(node):
        if isinstance(outer, (ast.If, ast.IfExp, ast.Assert)):
            return outer if inner is outer.test else None
        inner = outer
    return None
