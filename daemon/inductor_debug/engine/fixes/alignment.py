"""Fixes of `alignment`: the size in the line that declares a layer or a tensor goes up to the next multiple.

Only plain numbers are touched, and only where the finding says that a parameter or buffer, or a tensor that torch's
factories make, has the odd size: rounding up a slice or the example inputs would change what the model is given. Where
the same class declares another layer with the same number, it may be the consumer's side of it; both guesses are made.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from inductor_debug_schema import Finding, Misalignment

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree, in_order

_FACTORIES = frozenset({"zeros", "ones", "empty", "full", "rand", "randn", "arange", "eye", "linspace"})


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """For each odd size in the line: the number alone, then with the same number elsewhere in the class."""
    facts = finding.facts
    scope = tree.scope_at(finding.range)
    if not isinstance(facts, Misalignment) or scope is None:
        return []
    found: list[Fix] = []
    for odd in facts.odd_sizes:
        size, rounded = odd.odd_size, odd.next_size
        if not isinstance(size, int) or rounded is None or rounded == size:
            continue
        here = _literals(scope, size, anything=facts.declared, tree=tree)
        if not here:
            continue
        title = f"Round {size} up to {rounded}"
        found += [Fix(title, (tree.replace(literal, str(rounded)),)) for literal in here]
        partners = _partners(tree, scope, size, here)
        if len(here) > 1:
            found.append(_together(tree, f"{title} everywhere in this line", here, rounded))
        if partners:
            found.append(_together(tree, f"{title}, here and where the class uses it", [here[-1], *partners], rounded))
            if len(here) > 1:
                found.append(_together(tree, f"{title} everywhere in the class", [*here, *partners], rounded))
    return found


def _together(tree: Tree, title: str, literals: list[ast.Constant], rounded: int) -> Fix:
    return Fix(title, tuple(tree.replace(literal, str(rounded)) for literal in literals))


def _literals(scope: ast.AST, size: int, *, anything: bool, tree: Tree) -> list[ast.Constant]:
    """The arguments of calls in `scope` that are this number; of factories of torch only, unless `anything` goes."""
    found: list[ast.Constant] = []
    for call in in_order(scope):
        if isinstance(call, ast.Call) and (anything or _is_factory(call, tree)):
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                items = argument.elts if isinstance(argument, (ast.Tuple, ast.List)) else [argument]
                found += [item for item in items if _is_number(item, size) and item not in found]
    return found


def _partners(tree: Tree, scope: ast.AST, size: int, here: list[ast.Constant]) -> list[ast.Constant]:
    """The same number in other declarations of the class: `self.name = Layer(..., size, ...)` and the like."""
    owner = next((node for node in tree.around(scope) if isinstance(node, ast.ClassDef)), None)
    if owner is None:
        return []
    found: list[ast.Constant] = []
    for statement in ast.walk(owner):
        if isinstance(statement, ast.stmt) and _declares(statement):
            found += _literals(statement, size, anything=True, tree=tree)
    return [literal for literal in found if literal not in here]


def _declares(statement: ast.stmt) -> bool:
    """Whether a statement is `self.name = ...` or `self.register_...(...)`."""
    if isinstance(statement, ast.Assign):
        return any(_is_own(target) for target in statement.targets)
    if isinstance(statement, ast.AnnAssign):
        return _is_own(statement.target)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and _is_own(call.func)


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_factory(call: ast.Call, tree: Tree) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _FACTORIES
        and isinstance(function.value, ast.Name)
        and function.value.id in tree.aliases("torch")
    )


def _is_number(node: ast.expr, size: int) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == size
