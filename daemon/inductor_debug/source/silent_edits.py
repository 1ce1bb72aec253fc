"""Edits that change nothing of what a text computes, or says to this tool: blank lines, and comments in plain words.

What was learned of the old text holds for the new one then, at places of which only the lines have moved. That is
proved, not guessed: the syntax trees are equal but for their lines, all lines with code stand there as they did, and no
comment that has come or gone has anything in it that is read for shapes, devices or directions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from inductor_debug_schema import Position, Range

from inductor_debug.source.comments import Comment, comments
from inductor_debug.source.device_words import mentions
from inductor_debug.source.syntax_tree import tree_of
from inductor_debug.source.text_lines import split_lines

_PLAIN = re.compile(r"#[#\s]*[^\W_](?:[\w\s.,;:!?'\"`/-]*)|#[#\s-]*")
"""Words alone: no bracket, arrow or sign that may state a shape."""
_TELLING = re.compile(r"\b(?:x|[A-Z0-9]+x[A-Z0-9]+|inductor|coding|type)\b")
"""What a shape is written with (`B x T`), and how comments begin that speak to tools."""
_SHAPED = re.compile(r"[(\[<{]")
"""Code whose words stand for shapes where it has a comment (`inference`): `b, t = x.shape` is none."""
_NEAR = 3
"""Comments of a function before and after one that may tell a shape: inference reads them as one text."""
_UNPARSED = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class LineMoves:
    """Where the lines of a text with code in them are in another; `stays` says that none has moved."""

    lines: Mapping[int, int]
    stays: bool

    def moved(self, span: Range) -> Range | None:
        """Where a range of the old text is in the new one; None where it is not known."""
        start, end = self._moved(span.start), self._moved(span.end)
        return None if start is None or end is None else Range(start, end)

    def moved_line(self, line: int) -> int | None:
        """Where the line of that number is; None where it is not known."""
        return line if self.stays else self.lines.get(line)

    def _moved(self, position: Position) -> Position | None:
        line = self.moved_line(position.line)
        return None if line is None else Position(line, position.character)


def silent_edit(old: str, new: str, *, inferred: bool) -> LineMoves | None:
    """Where lines are after an edit that changes nothing but them; None where that is not certain.

    Args:
        old: a text that parses.
        new: what became of it.
        inferred: inputs were inferred from the text, for which functions and their comments are read together.
    """
    if "\ufeff" in (old[:1], new[:1]):
        return None
    try:
        before, after = _Text(old, inferred), _Text(new, inferred)
    except _UNPARSED:
        return None
    if before.said != after.said:
        return None
    lines = dict(zip(before.kept, after.kept, strict=True))
    if not _Comparison(before.lines, after.lines, lines).equal(before.tree, after.tree):
        return None
    return LineMoves(lines, all(line == moved for line, moved in lines.items()))


class _Text:
    """The lines of a text that say something: `kept` are their numbers, `said` is what each says."""

    def __init__(self, text: str, inferred: bool) -> None:
        self.lines, self.tree = split_lines(text), tree_of(text)
        self._functions = list(_functions(self.tree)) if inferred else []
        found = comments(text)
        behind = {comment.line: (index, comment) for index, comment in enumerate(found)}
        self.kept: list[int] = []
        self.said: list[tuple[str, ...]] = []
        for number, line in enumerate(self.lines):
            index, comment = behind.get(number, (0, None))
            if comment is None or self._says_nothing(comment, inferred):
                words: tuple[str, ...] = (line[: comment.column if comment is not None else None].rstrip(),)
            else:
                words = (line.rstrip(), *self._around(comment), *self._near(found, index))
            if any(words):
                self.kept.append(number)
                self.said.append(words)

    def _says_nothing(self, comment: Comment, inferred: bool) -> bool:
        code = self.lines[comment.line][: comment.column]
        return not (inferred and _SHAPED.search(code)) and _is_plain(comment.text)

    def _around(self, comment: Comment) -> Sequence[str]:
        """The lines around a comment of its own: they are what it speaks of, or how it goes on."""
        if not comment.alone:
            return ()
        return [
            self.lines[at].strip() if 0 <= at < len(self.lines) else "" for at in (comment.line - 1, comment.line + 1)
        ]

    def _near(self, found: Sequence[Comment], index: int) -> Iterator[str]:
        """The comments of its function with which a comment is read as one text."""
        line = found[index].line
        first, last = next((each for each in self._functions if each[0] <= line <= each[1]), (line, line - 1))
        near = found[max(index - _NEAR, 0) : index + _NEAR + 1]
        return (comment.text for comment in near if first <= comment.line <= last)


def _functions(node: ast.AST) -> Iterator[tuple[int, int]]:
    """The zero-based first and last lines of all functions that are in no other."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([child.lineno, *(item.lineno for item in child.decorator_list)])
            yield first - 1, (child.end_lineno or child.lineno) - 1
        else:
            yield from _functions(child)


def _is_plain(comment: str) -> bool:
    return _PLAIN.fullmatch(comment) is not None and _TELLING.search(comment) is None and not mentions(comment)


class _Comparison:
    """Two texts whose lines correspond: of their trees, whether these do."""

    def __init__(self, old: Sequence[str], new: Sequence[str], moves: Mapping[int, int]) -> None:
        self._old, self._new, self._moves = old, new, moves

    def equal(self, old: ast.AST, new: ast.AST) -> bool:
        """Whether two trees are equal, each node where the line of the other one has moved to."""
        pending: list[tuple[object, object]] = [(old, new)]
        while pending:
            one, other = pending.pop()
            if type(one) is not type(other):
                return False
            if isinstance(one, list) and isinstance(other, list):
                if len(one) != len(other):
                    return False
                pending += zip(one, other, strict=True)
            elif isinstance(one, ast.AST) and isinstance(other, ast.AST):
                if not self._stand_alike(one, other):
                    return False
                pending += ((getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
            elif repr(one) != repr(other):
                return False
        return True

    def _stand_alike(self, one: ast.AST, other: ast.AST) -> bool:
        if not hasattr(one, "lineno"):
            return True
        (start, left, end, right), (new_start, new_left, new_end, new_right) = _place(one), _place(other)
        if (left, right) != (new_left, new_right):
            return False
        if (self._moves.get(start), self._moves.get(end)) != (new_start, new_end):
            return False
        # What may be quoted as a whole stands there as it did, with all that is between its lines.
        last = _end_of_head(one)
        return last == start or self._old[start : last + 1] == self._new[new_start : new_start + last - start + 1]


def _place(node: ast.AST) -> tuple[int, int, int, int]:
    """The zero-based lines and the columns of a node's start and end."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end, last = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    return line - 1, column, (end or line) - 1, last or column


def _end_of_head(node: ast.AST) -> int:
    """The zero-based line on which a node ends, or what stands before the statements in it."""
    if not isinstance(getattr(node, "body", None), list):
        return _place(node)[2]
    return max([_place(node)[0], *(_place(child)[2] for child in _head(node))])


def _head(node: ast.AST) -> Iterator[ast.AST]:
    """What a compound statement has beside the statements in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            continue
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _head(child)
