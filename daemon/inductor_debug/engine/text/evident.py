"""What the text of a model alone proves wrong, told while unsaved top-level code may not run.

A method without a parameter for its own object fails whoever calls it. The worker finds the same, in the same words,
once the file is saved. Nothing is executed.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator

from inductor_debug_schema import Finding, Position, Range, Severity, Stage

from inductor_debug.source.parsing import SyntaxFault, parse
from inductor_debug.source.text_lines import split_lines, utf16_length

_MODEL = "Module"
"""How the name of a model's base ends."""
_NAME = re.compile(r"\bdef\s+(\w+)")
_OF_NO_OBJECT = frozenset({"staticmethod", "classmethod"})


def evident_faults(text: str, path: str) -> list[Finding]:
    """The faults of the models at the top of a text, in its order; none where it does not parse."""
    text = text.removeprefix("\ufeff")
    tree = parse(text)
    if isinstance(tree, SyntaxFault):
        return []
    try:
        module = symtable.symtable(text, path, "exec")
    except (SyntaxError, ValueError):  # what only a compiler refuses, such as `return` outside of a function
        return []
    if "self" in module.get_identifiers() and module.lookup("self").is_assigned():
        return []
    lines = split_lines(text)
    scopes = {(scope.get_name(), scope.get_lineno()): scope for scope in module.get_children()}
    return [
        _fault(owner, method, path, lines)
        for owner in _models(tree)
        for method in _lacking_self(owner, scopes.get((owner.name, _first_line(owner))))
    ]


def _models(tree: ast.Module) -> list[ast.ClassDef]:
    """The classes at the top that are models by their base, or by that of a class above them."""
    found: list[ast.ClassDef] = []
    for owner in tree.body:
        if isinstance(owner, ast.ClassDef):
            bases = {ast.unparse(base) for base in owner.bases}
            if any(base.endswith(_MODEL) for base in bases) or not bases.isdisjoint(each.name for each in found):
                found.append(owner)
    return found


def _lacking_self(owner: ast.ClassDef, scope: symtable.SymbolTable | None) -> Iterator[ast.FunctionDef]:
    """The methods that read a `self` that nobody binds."""
    reading = {
        (child.get_name(), child.get_lineno())
        for child in (scope.get_children() if scope is not None else ())
        if "self" in child.get_identifiers() and child.lookup("self").is_global() and not child.has_children()
    }
    for item in owner.body:
        if isinstance(item, ast.FunctionDef) and (item.name, _first_line(item)) in reading:
            names = {node.id for node in item.decorator_list if isinstance(node, ast.Name)}
            if names.isdisjoint(_OF_NO_OBJECT):
                yield item


def _first_line(node: ast.ClassDef | ast.FunctionDef) -> int:
    """Where the compiler says that a definition begins: at its first decorator."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _fault(owner: ast.ClassDef, method: ast.FunctionDef, path: str, lines: list[str]) -> Finding:
    line = lines[method.lineno - 1]
    named = _NAME.search(line)  # as it is written: Python normalises the letters of names
    start, end = named.span(1) if named is not None else (0, len(line))
    first, last = (Position(method.lineno - 1, utf16_length(line[:index])) for index in (start, end))
    message = f"`{owner.name}.{method.name}` has no parameter `self`, which Python passes first."
    return Finding("capture-error", Severity.ERROR, message, path, Range(first, last), Stage.LOAD, target=owner.name)
