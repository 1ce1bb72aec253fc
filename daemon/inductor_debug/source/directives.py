"""Directive comments: how a file says, in comments alone, what to compile and with which inputs.

    # inductor-debug: inputs=(torch.randn(8, 64),), init=(64, 10), train
    class Model(nn.Module): ...

    # inductor-debug: entry=build_model(Cfg())

An `entry` gives the model, and may stand above anything or nothing. Inputs in a list of tuples,
`inputs=[(torch.randn(8, 64),), (torch.randn(9, 64),)]`, are several sets: the first is what every stage looks at; the
model is run with each of the others too, and calls of it in turn tell what compiles it again.

A directive goes on in the next comment line while a bracket is open or after a comma. Values are parsed here, with
positions in the file, and evaluated elsewhere (`building`): nothing is executed and torch is not imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from inductor_debug_schema import Position, Range

from inductor_debug.source.comments import STRING, Comment, comments, ignores, is_ignore, marked
from inductor_debug.source.source_text import SourceText
from inductor_debug.source.syntax_tree import tree_of
from inductor_debug.source.text_lines import LINE_END, utf16_length

__all__ = ["Directive", "DirectiveArgument", "DirectiveFault", "ignores", "name_range", "read_directives"]

VALUES = ("inputs", "init", "entry")
FLAGS = ("train", "eval", "dynamic", "fullgraph", "off")
WHOLE_FILE = ""
"""The name of a directive that stands above nothing: only `off`, which is then meant for the whole file."""

_PIECE = re.compile(rf"(?P<string>{STRING})|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<comma>,)", re.DOTALL)
_SEGMENT = re.compile(r"\s*(?P<key>[^\W\d]\w*)\s*(?:=(?!=)\s*(?P<value>.*?))?\s*\Z", re.DOTALL)
_DEFINITION = re.compile(r"\s*(?:class|(?:async\s+)?def)\s+(?P<name>\w+)|\s*(?P<value>\w+)")

Anchor = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class DirectiveFault:
    """Something wrong with a directive, and where."""

    message: str
    range: Range


@dataclass(frozen=True, slots=True)
class DirectiveArgument:
    """The value of a key: an expression whose positions are those of the comment in the file."""

    tree: ast.Expression
    range: Range


@dataclass(frozen=True, slots=True)
class DirectiveComment:
    """One directive comment as it stands: its first and last zero-based line, and its parts by what they are about.

    A part is the text between two commas, `train` or `inputs=(torch.randn(8, 64),)`, with its key, which is "" where
    there is none.
    """

    first: int
    last: int
    parts: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Directive:
    """All that the directives above one definition say. `line` is the zero-based line of the name they stand above."""

    name: str
    line: int
    range: Range
    arguments: dict[str, DirectiveArgument] = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)

    @property
    def training(self) -> bool | None:
        """The mode the user asks for; None leaves the model as it is."""
        if "train" in self.flags:
            return self.flags["train"]
        return not self.flags["eval"] if "eval" in self.flags else None


def read_directives(text: str) -> tuple[list[Directive], list[DirectiveFault]]:
    """The directives of a file that parses, one for each definition they stand above, and what is wrong with them."""
    if "inductor-debug" not in text:
        return [], []
    return _Reader(text).read()


def directive_comments(text: str) -> dict[int, list[DirectiveComment]]:
    """The directive comments by the zero-based line of code that they stand above; the text need not parse."""
    return _Comments(text).by_line() if "inductor-debug" in text else {}


def name_range(lines: list[str], line: int) -> Range:
    """The name that the definition on the zero-based `line` introduces; the whole line where there is none."""
    match = _DEFINITION.match(lines[line]) if 0 <= line < len(lines) else None
    if match is None:
        return SourceText("\n".join(lines)).line_range(line)
    start, end = match.span("name" if match.group("name") else "value")
    return Range(
        Position(line, utf16_length(lines[line][:start])),
        Position(line, utf16_length(lines[line][:end])),
    )


class _Comments:
    """The comments of a text that speak to this tool."""

    def __init__(self, text: str) -> None:
        text = text.removeprefix("\ufeff")
        self.lines = LINE_END.split(text)
        self.comments = {comment.line: comment for comment in comments(text)}

    def by_line(self) -> dict[int, list[DirectiveComment]]:
        found: dict[int, list[DirectiveComment]] = {}
        for comment, block in self.blocks():
            if not comment.alone or self.has_entry(block):
                continue
            text, end = "\n".join(block), comment.line + len(block)
            parts = tuple(_keyed(text[start:stop]) for start, stop in _segments(text) if text[start:stop].strip())
            found.setdefault(self.following(end), []).append(DirectiveComment(comment.line, end - 1, parts))
        return found

    def blocks(self) -> Iterator[tuple[Comment, list[str]]]:
        """Each directive's first comment and its lines, in which all else is blanked out: columns stay the same."""
        for comment, words in marked(list(self.comments.values())):
            if not is_ignore(comment.text[words:]):
                yield comment, self._block(comment, words)

    def following(self, line: int) -> int:
        """The first line of code from a line on."""
        while line < len(self.lines) and (not self.lines[line].strip() or self._is_comment(line)):
            line += 1
        return line

    def has_entry(self, block: list[str]) -> bool:
        """Whether a directive gives the model itself, and so is about no definition."""
        text = "\n".join(block)
        found = (_SEGMENT.match(text, start, end) for start, end in _segments(text))
        return any(match is not None and match.group("key") == "entry" for match in found)

    def _block(self, comment: Comment, words: int) -> list[str]:
        block = [_blank(self.lines[comment.line], comment.column + words)]
        while _goes_on("\n".join(block)):
            following = self.comments.get(comment.line + len(block))
            if following is None or not following.alone or any(True for _ in marked([following])):
                break
            block.append(_blank(self.lines[following.line], following.column + 1))
        return block

    def _is_comment(self, line: int) -> bool:
        return line in self.comments and self.comments[line].alone


class _Reader(_Comments):
    """The directives of a text that parses, each with the definition that it stands above."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.faults: list[DirectiveFault] = []
        self.anchors: dict[int, tuple[str, int]] = {}
        for node in tree_of(text).body:
            if isinstance(node, Anchor):
                first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1
                self.anchors[first] = (_name_of(node), node.lineno - 1)

    def read(self) -> tuple[list[Directive], list[DirectiveFault]]:
        found: dict[int, Directive] = {}
        for comment, block in self.blocks():
            where = self._range(comment.line, comment.column, comment.line, comment.column + len(comment.text))
            anchor = self.anchors.get(self.following(comment.line + len(block))) if comment.alone else None
            if anchor is None and comment.alone and "".join(block).strip() == "off":
                found[-1] = Directive(WHOLE_FILE, comment.line, where, flags={"off": True})
                continue
            if self.has_entry(block):
                name, line = "", -2 - comment.line  # of no definition, and each for itself
            elif anchor is None:
                self._fault("A directive stands alone, above a top-level class, function or assignment.", where)
                continue
            else:
                name, line = anchor
            directive = found.setdefault(line, Directive(name, line, where))
            self._read_block(directive, comment.line, block)
        return list(found.values()), self.faults

    def _read_block(self, directive: Directive, first_line: int, block: list[str]) -> None:
        text = "\n".join(block)
        for start, end in _segments(text):
            match = _SEGMENT.match(text, start, end)
            if match is None:
                if text[start:end].strip():
                    self._fault("Expected key=value or a flag.", self._span(first_line, block, start, end))
                continue
            key = match.group("key")
            where = self._span(first_line, block, *match.span("key"))
            if key in directive.arguments or key in directive.flags:
                self._fault(f"{key!r} is given twice for {directive.name}.", where)
            elif key in VALUES:
                self._read_value(directive, key, match, first_line, block, where)
            elif key in FLAGS:
                self._read_flag(directive, key, match.group("value"), where)
            else:
                known = ", ".join(VALUES + FLAGS)
                self._fault(f"Unknown key {key!r} in a directive: known are {known}, and ignore[rule].", where)

    def _read_flag(self, directive: Directive, key: str, value: str | None, where: Range) -> None:
        if value not in (None, "True", "False"):
            self._fault(f"{key!r} is a flag: write {key}, {key}=True or {key}=False.", where)
        else:
            directive.flags[key] = value != "False"

    def _read_value(
        self, directive: Directive, key: str, match: re.Match[str], first_line: int, block: list[str], where: Range
    ) -> None:
        if not match.group("value"):
            self._fault(f"{key!r} needs a value: {key}=(...).", where)
            return
        start, end = match.span("value")
        row, column = _row_column(block, start)
        offset = len(block[row][:column].encode("utf-8", "surrogatepass"))
        span = self._span(first_line, block, start, end)
        try:
            # The bracket lets the value run over several lines; positions are put right afterwards.
            tree = ast.parse(f"({match.group('value')}\n)", mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self._fault(f"The value of {key!r} is not a Python expression: {getattr(error, 'msg', error)}.", span)
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.expr | ast.keyword | ast.arg):
                _move(node, first_line + row, offset - 1)
        directive.arguments[key] = DirectiveArgument(tree, span)

    def _fault(self, message: str, where: Range) -> None:
        self.faults.append(DirectiveFault(message, where))

    def _span(self, first_line: int, block: list[str], start: int, end: int) -> Range:
        """The range of `start:end` of the joined block, without white space around it."""
        text = "\n".join(block)
        start += len(text[start:end]) - len(text[start:end].lstrip())
        end -= len(text[start:end]) - len(text[start:end].rstrip())
        (row, column), (end_row, end_column) = _row_column(block, start), _row_column(block, end)
        return self._range(first_line + row, column, first_line + end_row, end_column)

    def _range(self, line: int, column: int, end_line: int, end_column: int) -> Range:
        return Range(
            Position(line, utf16_length(self.lines[line][:column])),
            Position(end_line, utf16_length(self.lines[end_line][:end_column])),
        )


def _name_of(node: Anchor) -> str:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return target.id if isinstance(target, ast.Name) else ast.unparse(target)
    return node.name


def _keyed(part: str) -> tuple[str, str]:
    """A part of a directive on one line, after its key."""
    match = _SEGMENT.match(part)
    return (match.group("key") if match else "", " ".join(line.strip() for line in part.split("\n")).strip())


def _blank(line: str, column: int) -> str:
    return " " * column + line[column:]


def _goes_on(text: str) -> bool:
    depth = 0
    for match in _PIECE.finditer(text):
        depth += (match.lastgroup == "open") - (match.lastgroup == "close")
    return depth > 0 or text.rstrip().endswith(",")


def _segments(text: str) -> list[tuple[int, int]]:
    """Splits at the commas that no bracket holds."""
    depth, start, found = 0, 0, []
    for match in _PIECE.finditer(text):
        depth += (match.lastgroup == "open") - (match.lastgroup == "close")
        if match.lastgroup == "comma" and depth <= 0:
            found.append((start, match.start()))
            start = match.end()
    return [*found, (start, len(text))]


def _row_column(block: list[str], offset: int) -> tuple[int, int]:
    row = 0
    while offset > len(block[row]):
        offset -= len(block[row]) + 1
        row += 1
    return row, offset


def _move(node: ast.expr | ast.keyword | ast.arg, lines: int, columns: int) -> None:
    """Moves a node that was parsed as if its text began the file at column 1 to where the text really stands."""
    if node.lineno == 1:
        node.col_offset += columns
    if node.end_lineno == 1 and node.end_col_offset is not None:
        node.end_col_offset += columns
    node.lineno += lines
    if node.end_lineno is not None:
        node.end_lineno += lines
