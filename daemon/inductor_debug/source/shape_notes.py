"""Shapes that a file states where it says what a value is: jaxtyping's annotations and comments at the end of a line.

Only what leaves no doubt is read: `x = self.norm(x)  # (B, T, C)`, `x: Float[Tensor, "b t c"]`. It reads text and
syntax, and knows nothing of what runs. Docstrings are `capture`'s business, which reads them for inputs as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from inductor_debug_schema import Position, Range, StatedBy

from inductor_debug.source.comments import Comment, comments
from inductor_debug.source.syntax_tree import tree_of
from inductor_debug.source.text_lines import LINE_END, utf16_length

ANY_NUMBER = "..."
"""The dimension that stands for any number of them."""
_NAME = r"[A-Za-z_]\w*"
_SIZE = rf"(?:\.\.\.|(?:{_NAME}|\d+)(?:\s*(?://|[*/+-])\s*(?:{_NAME}|\d+))*)"
_GROUP = rf"[(\[]\s*(?P<dims>{_SIZE}(?:\s*,\s*{_SIZE})+\s*,?)\s*[)\]]"
_FACTOR = r"[A-Za-z0-9_]+(?:\s*(?://|[*/+-])\s*[A-Za-z0-9_]+)*"
_TIMES = rf"(?P<times>{_FACTOR}(?:\s+[x×]\s+{_FACTOR})+)"
_MULTIPLE = re.compile(r"(?<!\w)(\d+)([A-Za-z]\w*)")
"""`2E`, which is `2*E`."""
_WHOLE_SIZE = re.compile(_SIZE)
_ARROW = re.compile(r"-+>|=+>|→")
_STATED = re.compile(
    rf"(?:(?!shape\b|size\b)(?P<name>{_NAME})\s*[:=]\s*)?(?:(?:of\s+)?(?:shape|size)\s*[:=]?\s*)?(?:{_GROUP}|{_TIMES})"
)
_DOUBT = re.compile(
    r"\b(?:or|if|when|unless|was|were|not|before|instead|optional|each|per|list|tuple|dict|e\.g|i\.e|for|vs|maybe|both)\b"
    r"|[?|&]|\.\.\.\s*[)\]]?\s*$",
    re.IGNORECASE,
)
"""Words after which a comment may speak of something else than of the value."""
_MARK = re.compile(r"inductor-debug\s*:|type\s*:|noqa|TODO|FIXME|pragma")
_SIZE_WORDS = frozenset(
    {
        *("batch", "bs", "bsz", "bz", "batchsize", "seq", "seqlen", "len", "length", "time", "steps", "frames"),
        *("channels", "chan", "in_channels", "out_channels", "width", "height", "depth", "patches", "classes"),
        *("hidden", "hid", "embed", "emb", "embd", "n_embd", "embedding", "features", "feat", "feats", "dim"),
        *("heads", "nh", "hs", "hd", "n_head", "nhead", "head_size", "headdim", "vocab", "num", "experts"),
        *("d_model", "dmodel", "dk", "dv", "d_k", "d_v", "d_ff", "dims", "groups", "tokens"),
        *("b", "n", "t", "s", "l", "c", "h", "w", "d", "e", "f", "g", "m", "p", "r"),
    }
)
_PARTS = re.compile(
    r"(?:^|_)(?:size|len|length|dim|dims|channels|heads|features|batch|seq|num|n|tokens|classes|hidden)(?:_|$)"
)
_WEAK = frozenset({"q", "k", "v", "x", "y", "z", "i", "j", "a"})
"""Letters that may name values as well."""
_JAXTYPING = "jaxtyping"
_MOST_DIMENSIONS = 7
_LONGEST_NAME = 24


@dataclass(frozen=True, slots=True)
class ShapeNote:
    """A stated shape: of `named`, a variable or an argument ("" for what a function returns).

    `dims` are names, numbers, sums and products of them as they are written, and what jaxtyping marks; `written` is the
    text and `range` where it stands. `dtype` is the class of jaxtyping's, "" elsewhere.
    """

    stated_by: StatedBy
    named: str
    dims: tuple[str, ...]
    written: str
    range: Range
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class StatementNote:
    """A note about what a statement assigns or returns, by the first and last one-based line of the statement."""

    first: int
    last: int
    note: ShapeNote
    returns: bool = False


@dataclass
class FunctionNotes:
    """The notes in one function. `line` is that of its first decorator or `def`, one-based, as code objects have it.

    `sizes` are local variables that are bound once, to a size of a tensor. `document` is its docstring.
    """

    name: str
    line: int
    arguments: list[ShapeNote] = field(default_factory=list)
    returned: ShapeNote | None = None
    statements: list[StatementNote] = field(default_factory=list)
    sizes: frozenset[str] = frozenset()
    node: ast.FunctionDef | ast.AsyncFunctionDef | None = None

    @property
    def says_nothing(self) -> bool:
        """Whether there is no note in it."""
        return not (self.arguments or self.returned or self.statements)


def function_notes(text: str) -> list[FunctionNotes]:
    """The functions of a file, each with its notes; nothing of one that does not parse."""
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return _Reader(text, tree).read()


class _Reader:
    def __init__(self, text: str, tree: ast.Module) -> None:
        self._tree = tree
        self._lines = LINE_END.split(text.removeprefix("\ufeff"))
        every = comments(text)
        self._comments = {comment.line + 1: comment for comment in every if not comment.alone}
        # Alone on its line, only a comment with an arrow is surely about the result of what comes next.
        self._above = {
            comment.line + 2: comment for comment in every if comment.alone and _ARROW.search(comment.text) is not None
        }
        self._classes, self._module = _jaxtyping_names(tree)

    def read(self) -> list[FunctionNotes]:
        return [
            self._of(node) for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    def _of(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> FunctionNotes:
        line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        notes = FunctionNotes(node.name, line, sizes=_sizes(node), node=node)
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        for argument in every:
            stated = self._annotated(argument.arg, argument.annotation) or self._beside(argument, every, notes.sizes)
            if stated is not None:
                notes.arguments.append(stated)
        notes.returned = self._annotated("", node.returns)
        statements = list(_own_statements(node.body))
        taken = [line for each in statements for line in {each.lineno, each.end_lineno or each.lineno}]
        for statement in statements:
            found = self._commented(statement, notes.sizes)
            # Of two statements on a line nobody knows which one is meant.
            if found is not None and taken.count(found.last) == 1:
                notes.statements.append(found)
        return notes

    def _annotated(self, name: str, annotation: ast.expr | None) -> ShapeNote | None:
        if annotation is None or not (self._classes or self._module):
            return None
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            parts = [part for part in (annotation.left, annotation.right) if not _is_none(part)]
            return self._annotated(name, parts[0]) if len(parts) == 1 else None
        if not isinstance(annotation, ast.Subscript):
            return None
        if _last_name(annotation.value) == "Optional":
            return self._annotated(name, annotation.slice)
        dtype = self._class_of(annotation.value)
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
        if dtype is None or len(inner) != 2 or _last_name(inner[0]) != "Tensor":
            return None
        shape = inner[1]
        if not (isinstance(shape, ast.Constant) and isinstance(shape.value, str)):
            return None
        dims = tuple(shape.value.split())
        if any("{" in dim or "(" in dim for dim in dims):
            return None
        return ShapeNote(StatedBy.ANNOTATION, name, dims, shape.value, self._range(shape), dtype)

    def _class_of(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._classes.get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self._module:
            return node.attr
        return None

    def _beside(self, argument: ast.arg, every: Sequence[ast.arg], sizes: frozenset[str]) -> ShapeNote | None:
        """What the comment behind an argument says that is alone on its line."""
        comment = self._comments.get(argument.lineno)
        alone = sum(each.lineno == argument.lineno for each in every) == 1
        if comment is None or not alone or not self._lines[argument.lineno - 1].lstrip().startswith(argument.arg):
            return None
        return self._stated(comment, argument.arg, sizes)

    def _commented(self, statement: ast.stmt, sizes: frozenset[str]) -> StatementNote | None:
        last = statement.end_lineno or statement.lineno
        comment = self._comments.get(last) or self._above.get(statement.lineno)
        if comment is None:
            return None
        target: ast.expr | None = None
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
            target = statement.target
        returns = isinstance(statement, ast.Return) and statement.value is not None
        if not returns and not isinstance(target, ast.Name):
            return None
        name = target.id if isinstance(target, ast.Name) else ""
        stated = self._stated(comment, name, sizes)
        return None if stated is None else StatementNote(statement.lineno, last, stated, returns)

    def _stated(self, comment: Comment, name: str, sizes: frozenset[str]) -> ShapeNote | None:
        text = comment.text
        if _MARK.search(text):
            return None
        start = max((match.end() for match in _ARROW.finditer(text)), default=1)
        while start < len(text) and text[start] in " #\t":
            start += 1
        found = _STATED.match(text, start)
        if found is None or (found["name"] and found["name"] != name):
            return None
        after = text[found.end() :].strip(" .;,")
        # What follows is about the value as long as it gives no second shape and no condition.
        if _DOUBT.search(after) or re.search(r"[(\[,=]", after):
            return None
        group = "dims" if found["dims"] else "times"
        words = re.split(r"," if group == "dims" else r"\s+[x×]\s+", found[group])
        dims = tuple(_MULTIPLE.sub(r"\1*\2", word.replace(" ", "")) for word in map(str.strip, words) if word)
        if not all(map(_WHOLE_SIZE.fullmatch, dims)) or not are_sizes(dims, sizes):
            return None
        shown = text[found.start(group) - (group == "dims") : found.end()]
        place = self._comment_range(comment, found.start(group) - (group == "dims"), found.end())
        return ShapeNote(StatedBy.COMMENT, name, dims, shown, place)

    def _comment_range(self, comment: Comment, start: int, end: int) -> Range:
        line = self._lines[comment.line]
        return Range(
            Position(comment.line, utf16_length(line[: comment.column + start])),
            Position(comment.line, utf16_length(line[: comment.column + end])),
        )

    def _range(self, node: ast.expr) -> Range:
        def at(line: int, column: int) -> Position:
            before = self._lines[line - 1].encode()[:column].decode("utf-8", "ignore")
            return Position(line - 1, utf16_length(before))

        return Range(
            at(node.lineno, node.col_offset),
            at(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
        )


def are_sizes(dims: Sequence[str], sizes: frozenset[str]) -> bool:
    """Whether words in brackets are sizes rather than names of something else, as in `(query, key)`."""
    if not 2 <= len(dims) <= _MOST_DIMENSIONS:
        return False
    strong = 0
    for dim in dims:
        for word in re.findall(_NAME, dim):
            known = word in sizes or word.lower() in _SIZE_WORDS or _PARTS.search(word.lower()) is not None
            if len(word) > _LONGEST_NAME or (not known and len(word) > 3 and not word.isupper()):
                return False
            strong += (known or word.isupper()) and word not in _WEAK
    # Numbers alone may be values, and `(0, 1)` is a range.
    return 2 * strong >= len(dims)


def _sizes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Local names that are assigned once in a function, from the shape of something."""
    bound: dict[str, int] = {}
    of_shapes: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = bound.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            bound[node.arg] = bound.get(node.arg, 0) + 1
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            of_shapes |= set(_bound_to_sizes(node.targets[0], node.value))
    return frozenset(name for name in of_shapes if bound.get(name) == 1)


def _bound_to_sizes(target: ast.expr, value: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for part, one in zip(target.elts, value.elts, strict=True):
            yield from _bound_to_sizes(part, one)
    elif isinstance(target, ast.Tuple) and _is_shape(value):
        yield from (part.id for part in target.elts if isinstance(part, ast.Name) and part.id != "_")
    elif isinstance(target, ast.Name) and _is_size(value):
        yield target.id


def _is_shape(value: ast.expr) -> bool:
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        value = value.value
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr == "size" and not value.args
    return isinstance(value, ast.Attribute) and value.attr == "shape"


def _is_size(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr == "size" and len(value.args) == 1
    return isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice) and _is_shape(value.value)


def _own_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a function without those of functions and classes in it."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if not isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.AsyncFor | ast.AsyncWith):
            yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _own_statements(getattr(statement, name, None) or [])
        for handler in getattr(statement, "handlers", ()):
            yield from _own_statements(handler.body)


def _jaxtyping_names(tree: ast.Module) -> tuple[dict[str, str], frozenset[str]]:
    """What a file calls jaxtyping's classes, and what it calls jaxtyping."""
    classes: dict[str, str] = {}
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == _JAXTYPING:
            classes |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name for alias in node.names if alias.name == _JAXTYPING}
    return classes, frozenset(modules)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
