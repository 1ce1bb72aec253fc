"""What a class of a file is made of: the definitions whose text decides how it runs.

Names decide it, and nothing is executed: what a class, or whatever it names, names in its body is a part of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def parts(tree: ast.Module, name: str) -> list[Definition]:
    """The definition of `name` and those that it needs, in the order of the file."""
    defined = {node.name: node for node in tree.body if isinstance(node, Definition)}
    named = {name: _names(node) for name, node in defined.items()}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named |= {target.id: _names(node.value) for target in targets if isinstance(target, ast.Name)}
    reached: set[str] = set()
    pending = [name]
    while pending:
        if (item := pending.pop()) in named and item not in reached:
            reached.add(item)
            pending += named[item]
    return [node for key, node in defined.items() if key in reached]


def methods(definitions: list[Definition]) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    """The functions among definitions and in their classes, each with its class."""
    for node in definitions:
        if isinstance(node, ast.FunctionDef):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            yield from ((node, item) for item in node.body if isinstance(item, ast.FunctionDef))


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
