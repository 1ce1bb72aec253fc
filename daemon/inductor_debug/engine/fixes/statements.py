"""Edits of whole statements: put under a condition, taken away, moved. Their comments and line ends stay as they are.

Only statements that have their lines for themselves are touched; for others there is no edit.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from inductor_debug_schema import Position, Range

from inductor_debug.engine.fixes.edits import TextEdit
from inductor_debug.engine.fixes.tree import Tree
from inductor_debug.source.text_lines import utf16_length

_UNIT = "    "


def block_of(tree: Tree, statement: ast.stmt) -> list[ast.stmt]:
    """The statements among which one stands, itself included."""
    parent = next(tree.around(statement), None)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


def indentation(tree: Tree, statement: ast.stmt) -> str | None:
    """What stands before a statement that has its lines for itself, but for comments; None of any other."""
    place = tree.range_of(statement)
    before = tree.lines[place.start.line][: len(tree.lines[place.start.line]) - len(_from(tree, place.start))]
    after = _from(tree, place.end).lstrip()
    return before if not before.strip() and (not after or after.startswith("#")) else None


def unit(tree: Tree, statement: ast.stmt) -> str:
    """One step of indentation, as the text around a statement has it."""
    own = indentation(tree, statement) or ""
    for outer in tree.around(statement):
        if isinstance(outer, ast.stmt) and (above := indentation(tree, outer)) is not None:
            if own.startswith(above) and own != above:
                return own[len(above) :]
            own = above
    return _UNIT


def under(tree: Tree, statements: Sequence[ast.stmt], header: str) -> tuple[TextEdit, ...] | None:
    """Statements that follow each other, put under a header (`if ready:`)."""
    indents = {indentation(tree, statement) for statement in statements}
    indent = indents.pop() if len(indents) == 1 else None
    if indent is None:
        return None
    first, *others = deeper(tree, statements)
    opening = insertion(first.range.start.line, f"{indent}{header}{tree.newline}{first.text}")
    return (opening, *others)


def deeper(tree: Tree, statements: Sequence[ast.stmt]) -> list[TextEdit]:
    """Statements that follow each other moved in by one step, but for lines that begin inside of a string."""
    step = unit(tree, statements[0])
    inside = {line for statement in statements for line in _inside_strings(tree, statement)}
    first, last = tree.range_of(statements[0]).start.line, tree.range_of(statements[-1]).end.line
    lines = range(first, last + 1)
    return [insertion(line, step) for line in lines if line not in inside and tree.lines[line].strip()]


def without(tree: Tree, statement: ast.stmt) -> TextEdit | None:
    """A statement taken away with its lines; `pass` in its place where a block would be left empty."""
    if indentation(tree, statement) is None:
        return None
    place = tree.range_of(statement)
    if len(block_of(tree, statement)) == 1:
        return TextEdit(place, "pass")
    first, after = place.start.line, place.end.line + 1
    if after >= len(tree.lines):
        return None
    if first and after + 1 < len(tree.lines) and not tree.lines[first - 1].strip() and not tree.lines[after].strip():
        after += 1  # of the empty lines around it one is enough
    return TextEdit(Range(Position(first, 0), Position(after, 0)), "")


def insertion(line: int, text: str) -> TextEdit:
    """Text put in at the beginning of a line."""
    place = Position(line, 0)
    return TextEdit(Range(place, place), text)


def comments_in(tree: Tree, place: Range) -> list[str]:
    """The comments in a range that spans whole lines."""
    lines = tree.lines[place.start.line : place.end.line + 1]
    return [tree.comments[number] for number, _ in enumerate(lines, place.start.line) if number in tree.comments]


def _from(tree: Tree, position: Position) -> str:
    line = tree.lines[position.line]
    kept = line
    while kept and utf16_length(line) - utf16_length(kept) < position.character:
        kept = kept[1:]
    return kept


def _inside_strings(tree: Tree, statement: ast.stmt) -> set[int]:
    """The lines that begin inside of a string, which must not be moved."""
    found: set[int] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))):
            place = tree.range_of(node)
            found.update(range(place.start.line + 1, place.end.line + 1))
    return found
