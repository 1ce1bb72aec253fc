"""Which fixes may mend a graph break: from its cause and its place, never from what its message says."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from inductor_debug_schema import BreakCause, Finding, GraphBreak

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.breaks import (
    branches,
    foreign_functions,
    guards,
    legacy_variables,
    own_functions,
    values,
)
from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree
from inductor_debug.rules.words.break_words import LEGACY_VARIABLE

_MOST = 5
"""Guesses for one finding; each costs an analysis."""


def _value(tree: Tree, node: ast.AST, facts: GraphBreak) -> Iterator[Fix]:
    """A number that decides a branch is a branch's; one that is only said to people needs a guard, no other form."""
    if branches.branch_at(tree, node) is not None:
        yield from branches.fixes(tree, node, facts)
    elif guards.is_said_around(tree, node):
        yield from guards.fixes(tree, node, facts)
    else:
        yield from values.fixes(tree, node, facts)


_BY_CAUSE: Mapping[BreakCause, Callable[[Tree, ast.AST, GraphBreak], Iterable[Fix]]] = MappingProxyType(
    {
        BreakCause.PRINT: guards.fixes,
        BreakCause.LOGGING: guards.fixes,
        BreakCause.WARNING: guards.fixes,
        BreakCause.DEBUGGER: guards.removals,
        BreakCause.VALUE: _value,
        BreakCause.BRANCH: branches.fixes,
    }
)


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """The guesses for one break; none where the cause is not one of those that a small edit mends."""
    facts = finding.facts
    node = tree.scope_at(finding.range) or tree.statement_at(finding.range)
    if not isinstance(facts, GraphBreak) or node is None:
        return []
    if facts.inside:
        return list(foreign_functions.fixes(tree, node, facts))
    if facts.function == LEGACY_VARIABLE:
        return list(legacy_variables.fixes(tree, node, facts))[:_MOST]
    guess = _BY_CAUSE.get(facts.breaks_by, own_functions.fixes)
    return list(dict.fromkeys(guess(tree, node, facts)))[:_MOST]
