"""Guesses for calls that Python or torch refuses by their form.

An argument by a name that is not there, or one that is missing though the caller has it; a method that lacks `self`;
arguments in wrong order. Only facts and the source are looked at: nothing that a message says.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from inductor_debug_schema import Finding, WrongCall

from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree

_UNBOUND = frozenset({"staticmethod"})


def fixes(tree: Tree, finding: Finding) -> Iterator[Fix]:
    """Every method of the file that uses `self` without taking it, then the arguments of the call exchanged."""
    if isinstance(finding.facts, WrongCall):
        yield from _bound(tree, finding, finding.facts)
    for method in tree.methods():
        if _lacks_self(method):
            edit = tree.add_first_parameter(method, "self")
            if edit is not None:
                yield Fix(f"Give `{method.name}` the parameter `self`", (edit,))
    call = tree.expression_at(finding.range)
    if isinstance(call, ast.Call) and len(call.args) > 1:
        first, second = call.args[:2]
        if isinstance(first, ast.Constant) and not isinstance(second, (ast.Constant, ast.Starred)):
            edits = tree.replace(first, tree.text_of(second)), tree.replace(second, tree.text_of(first))
            yield Fix(f"Swap `{tree.text_of(first)}` and `{tree.text_of(second)}`", edits)


def _bound(tree: Tree, finding: Finding, facts: WrongCall) -> Iterator[Fix]:
    """Arguments under the names that the callee has, and what is missing from the caller's own names."""
    call = tree.expression_at(finding.range)
    if not isinstance(call, ast.Call):
        return
    given = {keyword.arg for keyword in call.keywords}
    for keyword in call.keywords:
        if keyword.arg in facts.unknown_arguments:
            free = [*facts.missing_arguments, *(name for name in facts.takes if name not in given)]
            near = difflib.get_close_matches(str(keyword.arg), free, n=1, cutoff=0.5) or facts.missing_arguments
            for name in near[:1]:
                yield Fix(f"Call the argument `{keyword.arg}` `{name}`", (tree.rename_keyword(keyword, name),))
    function = tree.function_around(call)
    known = {each.arg for each in function.args.args} if function is not None else set()
    if facts.missing_arguments and not facts.unknown_arguments and known.issuperset(facts.missing_arguments):
        text = ", ".join(f"{name}={name}" for name in facts.missing_arguments)
        edit = tree.add_argument(call, text)
        if edit is not None:
            names = " and ".join(f"`{name}`" for name in facts.missing_arguments)
            yield Fix(f"Hand {names} on to `{facts.called}`", (edit,))


def _lacks_self(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = [*method.args.posonlyargs, *method.args.args]
    if any(argument.arg == "self" for argument in arguments) or method.args.vararg is not None:
        return False
    if any(isinstance(each, ast.Name) and each.id in _UNBOUND for each in method.decorator_list):
        return False
    return any(isinstance(node, ast.Name) and node.id == "self" for node in ast.walk(method))
