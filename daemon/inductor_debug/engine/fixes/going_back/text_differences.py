"""How a text differs from an earlier one, in the smallest pieces of syntax that can be put back by themselves.

A piece is an expression, a statement, the head of a definition, or a row of statements that came or went. Both texts
parse; nothing is run and nothing is judged here.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from inductor_debug_schema import Position, Range

from inductor_debug.engine.fixes import statements
from inductor_debug.engine.fixes.edits import TextEdit, applied
from inductor_debug.engine.fixes.tree import Tree, tree_of
from inductor_debug.source.parsing import SyntaxFault, parse
from inductor_debug.source.text_lines import slice_of

_OPERATORS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript, ast.IfExp, ast.Await)
"""Expressions whose parts may need parentheses."""
_SAID_BY_THEMSELVES = (ast.Call, ast.BinOp, ast.Compare, ast.stmt)
"""Pieces that tell a reader where they belong."""
_LONGEST = 60
"""Characters of a piece in a title."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One piece of the present text that was another before.

    `edit` puts back what was there, `was` is that in the words of the earlier text (empty where there was nothing), and
    `place` is where the piece stands now.
    """

    edit: TextEdit
    was: str
    place: Range


def differences(earlier: str, now: str) -> list[Difference]:
    """Every difference, in the order of the present text; none where a text does not parse."""
    before, after = tree_of(earlier), tree_of(now)
    if before is None or after is None:
        return []
    return sorted(_Comparison(before, after, now).all(), key=lambda each: each.place.start)


@dataclass(frozen=True)
class _Comparison:
    earlier: Tree
    now: Tree
    text: str
    """What `now` is the tree of."""

    def all(self) -> list[Difference]:
        return self._blocks(self.earlier.module.body, self.now.module.body)

    def _blocks(self, before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> list[Difference]:
        """Of two blocks of statements."""
        dumps = [ast.dump(each) for each in before], [ast.dump(each) for each in after]
        found: list[Difference] = []
        for kind, i1, i2, j1, j2 in SequenceMatcher(None, *dumps, autojunk=False).get_opcodes():
            if kind == "equal":
                continue
            paired = _paired(before[i1:i2], after[j1:j2])
            for i, j in paired:
                found += self._statement(before[i1 + i], after[j1 + j])
            for j in sorted(set(range(j2 - j1)) - {j for _, j in paired}):
                edit = statements.without(self.now, after[j1 + j])
                found += [] if edit is None else [Difference(edit, "", self.now.range_of(after[j1 + j]))]
            for i in sorted(set(range(i2 - i1)) - {i for i, _ in paired}):
                behind = next((j for other, j in paired if other > i), j2 - j1)
                found += self._returned(before[i1 + i], after[j1 + behind :], after)
        return found

    def _statement(self, old: ast.stmt, new: ast.stmt) -> list[Difference]:
        pieces = self._pieces(old, new)
        return pieces if pieces is not None else [self._whole(old, new)]

    def _pieces(self, old: ast.AST, new: ast.AST) -> list[Difference] | None:
        """The differences inside two nodes; None where only what is around them can be put back.

        Where an expression differs in several places, it is one piece: arguments that changed places are.
        """
        if type(old) is not type(new) or isinstance(new, ast.JoinedStr):
            return [] if ast.dump(old) == ast.dump(new) else self._alone(old, new)
        found: list[Difference] = []
        for name in new._fields:
            parts = self._of_field(getattr(old, name, None), getattr(new, name, None))
            if parts is None:
                return self._alone(old, new)
            found += parts
        return self._alone(old, new) if len(found) > 1 and isinstance(new, ast.expr) else found

    def _of_field(self, old: object, new: object) -> list[Difference] | None:
        if isinstance(old, ast.AST) and isinstance(new, ast.AST):
            return self._pieces(old, new)
        if not isinstance(old, list) or not isinstance(new, list):
            return [] if (type(old), old) == (type(new), new) else None
        if any(isinstance(each, ast.stmt) for each in (*old, *new)):
            return self._blocks(old, new) if old and new else None
        if len(old) != len(new):
            return None
        found: list[Difference] = []
        for parts in map(self._of_field, old, new):
            if parts is None:
                return None
            found += parts
        return found

    def _alone(self, old: ast.AST, new: ast.AST) -> list[Difference] | None:
        """One node put in the place of the other; None where only what is around them can be put back."""
        if isinstance(old, ast.expr) and isinstance(new, ast.expr):
            return [self._whole(old, new)]
        if isinstance(old, ast.stmt) and isinstance(new, ast.stmt):
            return self._head(old, new) if type(old) is type(new) and hasattr(new, "body") else [self._whole(old, new)]
        return None

    def _whole(self, old: ast.expr | ast.stmt, new: ast.expr | ast.stmt) -> Difference:
        edit = self.now.replace(new, self.earlier.text_of(old).replace("\n", self.now.newline))
        if isinstance(old, ast.expr) and isinstance(next(self.now.around(new), None), _OPERATORS):
            enclosed = self.now.replace(new, self.earlier.enclosed(old).replace("\n", self.now.newline))
            if self._parsed(enclosed) not in (None, self._parsed(edit)):
                edit = enclosed
        return Difference(edit, _telling(self.earlier, old), self.now.range_of(new))

    def _parsed(self, edit: TextEdit) -> str | None:
        """What the present text means with an edit; None where that does not parse."""
        tree = parse(applied(self.text, [edit]))
        return None if isinstance(tree, SyntaxFault) else ast.dump(tree)

    def _head(self, old: ast.stmt, new: ast.stmt) -> list[Difference]:
        """Two compound statements: their first lines, and what their blocks differ in."""
        before, after = _head_of(self.earlier, old), _head_of(self.now, new)
        was = slice_of(self.earlier.lines, before)
        found = self._blocks(getattr(old, "body"), getattr(new, "body"))  # noqa: B009  # no type has it for all
        if was != slice_of(self.now.lines, after):
            edit = TextEdit(after, was.replace("\n", self.now.newline))
            found.append(Difference(edit, _shortened(was).removesuffix(":"), after))
        return found

    def _returned(self, old: ast.stmt, following: Sequence[ast.stmt], block: Sequence[ast.stmt]) -> list[Difference]:
        """A statement that is gone, put back before the one that followed it, or behind the last one of its block."""
        indent = statements.indentation(self.earlier, old)
        beside = following[0] if following else next(iter(reversed(block)), None)
        if beside is None or indent is None or indent != statements.indentation(self.now, beside):
            return []
        place = self.now.range_of(beside)
        line = place.start.line if following else place.end.line + 1
        if line >= len(self.now.lines):
            return []
        text = self.earlier.text_of(old).replace("\n", self.now.newline)
        return [
            Difference(
                statements.insertion(line, f"{indent}{text}{self.now.newline}"),
                _telling(self.earlier, old),
                Range(Position(line, 0), Position(line, 0)),
            )
        ]


def _paired(before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> list[tuple[int, int]]:
    """Which statement became which, by number: as they stand, or, where some came or went, of one kind in order."""
    if len(before) == len(after):
        return [(number, number) for number in range(len(before))]
    kinds = [type(each).__name__ for each in before], [type(each).__name__ for each in after]
    blocks = SequenceMatcher(None, *kinds, autojunk=False).get_matching_blocks()
    return [(i + number, j + number) for i, j, size in blocks for number in range(size)]


def _head_of(tree: Tree, node: ast.stmt) -> Range:
    """A compound statement up to its first block."""
    body: list[ast.stmt] = getattr(node, "body")  # noqa: B009  # as above
    return Range(tree.range_of(node).start, tree.range_of(body[0]).start)


def _telling(tree: Tree, node: ast.expr | ast.stmt) -> str:
    """A piece with as much around it as says where it belongs: the call in which a number stands."""
    text = " ".join(tree.text_of(node).split())
    for outer in () if isinstance(node, _SAID_BY_THEMSELVES) else tree.around(node):
        if isinstance(outer, ast.stmt):
            break
        if isinstance(outer, ast.keyword):
            text = f"{outer.arg}={text}" if outer.arg else f"**{text}"
        elif isinstance(outer, ast.expr):
            longer = " ".join(tree.text_of(outer).split())
            if len(longer) > _LONGEST:
                break
            text = longer
            if isinstance(outer, _SAID_BY_THEMSELVES):
                break
    return _shortened(text)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
