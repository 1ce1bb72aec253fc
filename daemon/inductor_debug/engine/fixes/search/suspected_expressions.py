"""Which expressions may be wrong when a call fails: what failed, what made its operands, what was declared for it.

Only places that the finding's facts name, and what was assigned to the names that the call reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_schema import Finding, Location, ShapeConflict

from inductor_debug.engine.fixes.tree import Tree

_MOST = 8
"""Expressions that are searched; each costs runs."""


def suspects(tree: Tree, finding: Finding) -> list[ast.expr | ast.stmt]:
    """The suspected expressions of the file of a finding, each once; none lies inside of another that comes before."""
    found: list[ast.expr | ast.stmt] = []
    for node in _candidates(tree, finding):
        if not any(node is inner for outer in found for inner in ast.walk(outer)):
            found.append(node)
    return found[:_MOST]


def _candidates(tree: Tree, finding: Finding) -> Iterator[ast.expr | ast.stmt]:
    failed = tree.scope_at(finding.range)
    if failed is None:
        return
    yield failed
    places = list(_places(finding))
    for place in places:
        node = tree.expression_at(place.range) if place.path == finding.path else None
        if node is not None:
            yield node
    yield from _definitions(tree, failed)


def _places(finding: Finding) -> Iterator[Location]:
    """Where operands stand and were made, then the steps that gave them their sizes."""
    operands = finding.facts.operands if isinstance(finding.facts, ShapeConflict) else []
    for operand in operands:
        yield from (place for place in (operand.place, operand.made_at) if place is not None)
    for operand in operands:
        yield from (step.place for step in operand.trace if step.place is not None)


def _definitions(tree: Tree, failed: ast.AST) -> Iterator[ast.expr]:
    """What was last assigned to the names that an expression reads, in the function around it."""
    function = tree.function_around(failed)
    if function is None:
        return
    names = {node.id for node in ast.walk(failed) if isinstance(node, ast.Name)}
    line = getattr(failed, "lineno", 0)
    assigned: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and node.lineno < line:
            for target in (each for whole in node.targets for each in ast.walk(whole)):
                if isinstance(target, ast.Name) and target.id in names:
                    assigned[target.id] = node.value
    yield from sorted(assigned.values(), key=lambda value: -value.lineno)
