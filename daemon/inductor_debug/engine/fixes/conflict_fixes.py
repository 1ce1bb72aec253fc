"""Guesses for calls that torch refuses, and for names that do not exist: from the facts of the finding alone.

What contradicts what decides which guesses are made: the layer that takes another size (`layer_fixes`), the operands of
the call (`operands`), the sizes and dimensions that it names (`argument_fixes`). Where there are no facts, only the
form of calls is looked at (`call_fixes`). The likeliest comes first; last comes a search around what failed (`search`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from inductor_debug_schema import Finding, FractionalSize, ShapeConflict, UnknownName

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes import argument_fixes, call_fixes, layer_fixes, marks, operands
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.search.edit_search import searched
from inductor_debug.engine.fixes.tree import Tree

_MOST = 10
"""Guesses from the facts of one finding; each costs a run."""


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """The guesses for one finding."""
    known = of_facts(tree, finding, profile)
    understood = isinstance(finding.facts, UnknownName | FractionalSize)
    return known if understood else _each_once([*known, *searched(tree, finding)])


def of_facts(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """The guesses that the facts of a finding suggest, without a search."""
    facts = finding.facts
    guesses: list[Fix] = []
    if isinstance(facts, UnknownName):
        guesses += [*_renamed(tree, finding, facts), *call_fixes.fixes(tree, finding)]
    elif isinstance(facts, FractionalSize):
        guesses += _floored(tree, finding)
    elif isinstance(facts, ShapeConflict):
        guesses += [
            *operands.flattened(tree, finding, facts),
            *argument_fixes.where_made(tree, finding, facts),
            *layer_fixes.fixes(tree, facts, finding.path),
            *operands.fixes(tree, finding, facts),
            *argument_fixes.fixes(tree, finding, facts),
        ]
    else:
        guesses += [*call_fixes.fixes(tree, finding), *marks.fixes(tree)]
    return _each_once(guesses)[:_MOST]


def _each_once(fixes: Sequence[Fix]) -> list[Fix]:
    """The fixes without those that make the edit of an earlier one under another name."""
    by_edits: dict[tuple[TextEdit, ...], Fix] = {}
    for fix in fixes:
        by_edits.setdefault(fix.edits, fix)
    return list(by_edits.values())


def _renamed(tree: Tree, finding: Finding, facts: UnknownName) -> Iterator[Fix]:
    node = tree.expression_at(finding.range)
    if isinstance(node, ast.Call):
        node = node.func
    for name in [facts.suggestion, *facts.others] if facts.suggestion is not None else ():
        title = f"Rename `{facts.missing_name}` to `{name}`"
        if isinstance(node, ast.Attribute) and node.attr == facts.missing_name:
            edit = tree.rename(node, name)
            if edit is not None:
                yield Fix(title, (edit,))
        elif isinstance(node, ast.Name) and node.id == facts.missing_name:
            yield Fix(title, (tree.replace(node, name),))


def _floored(tree: Tree, finding: Finding) -> Iterator[Fix]:
    """`//` in place of `/`, in the expression or the statement that the finding is at."""
    node = tree.expression_at(finding.range)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield Fix("Divide with `//`", (tree.between(node.left, node.right, ("/", "//")),))
    statement = tree.statement_at(finding.range)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Div):
        yield Fix("Divide with `//=`", (tree.between(statement.target, statement.value, ("/", "//")),))
