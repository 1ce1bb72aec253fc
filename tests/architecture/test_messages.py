"""What our own types say in words is for people: no code reads it back. What it says is in `facts`, as data.

A field called `message` is text that we wrote. What Python or torch says is called `raised`, and is read in one module
for each concern.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "daemon" / "inductor_debug"
RENDERING = ("report", "server")
"""Rooms that lay text out, and may cut it for that."""
CUTS = ("partition", "rpartition", "split", "rsplit", "splitlines", "removeprefix", "removesuffix", "replace")
READS = frozenset((*CUTS, "startswith", "endswith", "find", "rfind", "index", "rindex", "count"))
MATCHES = frozenset(("match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"))


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in RENDERING]


def readings(tree: ast.AST) -> Iterator[ast.AST]:
    """The expressions of a module that look into a message."""
    for scope in ast.walk(tree):
        if isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            named = set(_names_of_messages(scope))
            for node in _within(scope):
                if _reads(node, named):
                    yield node


def _reads(node: ast.AST, named: set[str]) -> bool:
    if isinstance(node, ast.Compare):
        return any(
            isinstance(operator, (ast.In, ast.NotIn)) and _is_message(side, named)
            for operator, side in zip(node.ops, node.comparators, strict=True)
        )
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in READS and _is_message(node.func.value, named):
        return True
    return node.func.attr in MATCHES and any(_is_message(argument, named) for argument in node.args)


def _is_message(node: ast.expr, named: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "message"
    if isinstance(node, ast.Subscript):
        return _is_message(node.value, named)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _is_message(node.func.value, named)
    return isinstance(node, ast.Name) and node.id in named


def _names_of_messages(scope: ast.AST) -> Iterator[str]:
    """Local names that stand for a message."""
    for node in _within(scope):
        if isinstance(node, ast.Assign) and _is_message(node.value, set()):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.NamedExpr) and _is_message(node.value, set()):
            yield node.target.id


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without those of functions in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from _within(child)


def test_no_message_is_read_back() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
        for path in modules()
        for node in readings(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "read the facts of a finding, never its words"


@pytest.mark.parametrize(
    "code",
    [
        "finding.message.startswith('In the backward pass')",
        "'alignment' in finding.message",
        "re.search(r'size (\\d+)', finding.message)",
        "SIZES.match(finding.message.lower())",
        "found[0].message.partition(';')[0]",
        "def size(finding):\n    said = finding.message\n    return said.split()",
    ],
)
def test_what_reads_a_message_is_seen(code: str) -> None:
    assert list(readings(ast.parse(code)))


@pytest.mark.parametrize("code", ["f'{finding.message} here'", "finding.message.rstrip('. ')", "path.startswith('/')"])
def test_what_passes_a_message_on_may(code: str) -> None:
    assert not list(readings(ast.parse(code)))
