"""The syntax tree of a document, asked by place: which expression stands there, what is around it, where its parts are.

Positions of the tree are bytes of UTF-8, those of findings UTF-16 characters; only this module converts. It edits
nothing and runs nothing.
"""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
from collections.abc import Iterator
from functools import cached_property, lru_cache

from inductor_debug_schema import Position, Range

from inductor_debug.engine.fixes.edits import TextEdit
from inductor_debug.source.parsing import LARGEST_PARSED, SyntaxFault, parse
from inductor_debug.source.text_lines import LINE_END, index_of_utf16, slice_of, split_lines, utf16_length

_Place = tuple[int, int, int, int]
_TIGHT = (
    ast.Call,
    ast.Attribute,
    ast.Subscript,
    ast.Name,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
)
"""Expressions that take an attribute as they stand."""


class Tree:
    """A text that parses. Expressions inside of f-strings are left out: before Python 3.12 their places are wrong."""

    def __init__(self, text: str, module: ast.Module) -> None:
        self._text = text.removeprefix("\ufeff")
        self._lines = split_lines(self._text)
        self._module = module

    @property
    def module(self) -> ast.Module:
        """All of it."""
        return self._module

    @property
    def lines(self) -> list[str]:
        """The lines of the text, without their ends."""
        return self._lines

    @cached_property
    def newline(self) -> str:
        """How the text ends its lines."""
        found = LINE_END.search(self._text)
        return "\n" if found is None else found[0]

    @cached_property
    def comments(self) -> dict[int, str]:
        """The comment of each line that has one, from its `#` on."""
        readline = io.StringIO("".join(f"{line}\n" for line in self._lines)).readline
        found: dict[int, str] = {}
        with contextlib.suppress(tokenize.TokenError, SyntaxError):
            for token in tokenize.generate_tokens(readline):
                if token.type == tokenize.COMMENT:
                    found[token.start[0] - 1] = token.string
        return found

    def expression_at(self, span: Range) -> ast.expr | None:
        """The expression that stands exactly at `span`."""
        return self._by_place.get(self._place(span))

    def scope_at(self, span: Range) -> ast.expr | ast.stmt | None:
        """The expression at `span`; else the innermost simple statement around it (a finding may know lines only)."""
        expression = self.expression_at(span)
        if expression is not None:
            return expression
        wanted = self._place(span)
        around = [
            node
            for node in ast.walk(self._module)
            if isinstance(node, ast.stmt) and not hasattr(node, "body") and _encloses(_place_of(node), wanted)
        ]
        return around[-1] if around else None

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What encloses a node, from the inside out."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def methods(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The functions that stand directly in a class."""
        for node in ast.walk(self._module):
            if isinstance(node, ast.ClassDef):
                yield from (each for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))

    def same_function(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether two nodes stand in one function, where names mean the same."""
        return self._function(one) is self._function(other)

    def assigned(self, target: str) -> ast.Call | None:
        """The call whose result is assigned to `target` (`self.lstm`), where only one is."""
        calls = [
            node.value
            for node in ast.walk(self._module)
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and any(ast.unparse(each) == target for each in node.targets)
        ]
        return calls[0] if len(calls) == 1 else None

    def local_names(self, node: ast.expr) -> list[str]:
        """The variables of the function around it that an expression reads, outermost first."""
        function = self.function_around(node)
        if function is None:
            return []
        given = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
        named = [each for each in ast.walk(function) if isinstance(each, ast.Name)]
        known = given | {each.id for each in named if isinstance(each.ctx, ast.Store)}
        return [each.id for each in in_order(node) if isinstance(each, ast.Name) and each.id in known - {"self"}]

    def times_said(self, number: object) -> int:
        """How often a number is written down in the file."""
        return sum(isinstance(node, ast.Constant) and node.value == number for node in ast.walk(self.module))

    def aliases(self, module: str) -> frozenset[str]:
        """The names under which the text imports a top-level module."""
        return self._aliases.get(module, frozenset())

    def statement_at(self, span: Range) -> ast.stmt | None:
        """The innermost statement around `span`, be it simple or compound."""
        wanted = self._place(span)
        around = [
            node for node in ast.walk(self._module) if isinstance(node, ast.stmt) and _encloses(_place_of(node), wanted)
        ]
        return around[-1] if around else None

    def function_around(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost named function around a node."""
        found = self._function(node)
        return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else None

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node."""
        return next((outer for outer in self.around(node) if isinstance(outer, ast.ClassDef)), None)

    def range_of(self, node: ast.expr | ast.stmt) -> Range:
        """Where an expression stands, without parentheses around it."""
        line, column, end_line, end_column = _place_of(node)
        return Range(self._position(line, column), self._position(end_line, end_column))

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        """The source of an expression or statement, its lines joined by LF."""
        return slice_of(self._lines, self.range_of(node))

    # Edits.

    def replace(self, node: ast.expr | ast.stmt, text: str) -> TextEdit:
        """Replaces a whole expression or statement."""
        return TextEdit(self.range_of(node), text)

    def rename(self, node: ast.Attribute, name: str) -> TextEdit | None:
        """Replaces the name after the dot, where it is written as the tree has it."""
        end = self.range_of(node).end
        start = Position(end.line, end.character - len(node.attr))
        place = Range(start, end)
        return TextEdit(place, name) if slice_of(self._lines, place) == node.attr else None

    def between(self, left: ast.expr, right: ast.expr, change: tuple[str, str]) -> TextEdit:
        """Replaces the first text of `change` by the second, between two expressions that follow on each other."""
        span = Range(self.range_of(left).end, self.range_of(right).start)
        return TextEdit(span, slice_of(self._lines, span).replace(*change, 1))

    def rename_keyword(self, keyword: ast.keyword, name: str) -> TextEdit:
        """Replaces the name of an argument in a call."""
        start = self._position(keyword.lineno, keyword.col_offset)
        end = Position(start.line, start.character + utf16_length(str(keyword.arg)))
        return TextEdit(Range(start, end), name)

    def enclosed(self, node: ast.expr) -> str:
        """The source of an expression, in parentheses where an operator beside it could tear it apart."""
        text = self.text_of(node)
        return text if isinstance(node, (*_TIGHT, ast.Constant)) else f"({text})"

    def imported(self, module: str) -> tuple[str, tuple[TextEdit, ...]] | None:
        """The name of a top-level module, and the edit that imports it where nothing does; None without any import."""
        names = self.aliases(module)
        if names:
            return min(names, key=lambda name: (name != module, name)), ()
        imports = [node for node in self._module.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        usual = [node for node in imports if getattr(node, "module", "") != "__future__"]
        if not usual:
            return None
        first = next((node for node in usual if module in _packages(node)), usual[0])
        place = self.range_of(first).start
        return module, (TextEdit(Range(place, place), f"import {module}{self.newline}"),)

    def append(self, node: ast.expr, trailer: str) -> tuple[TextEdit, ...]:
        """Puts `trailer` (`.contiguous()`) behind an expression, with parentheses where it needs them."""
        place = self.range_of(node)
        end = Range(place.end, place.end)
        if isinstance(node, _TIGHT):
            return (TextEdit(end, trailer),)
        return TextEdit(Range(place.start, place.start), "("), TextEdit(end, f"){trailer}")

    def add_argument(self, call: ast.Call, argument: str) -> TextEdit | None:
        """Adds a last argument to a call; None where it cannot stand there (`f(x for x in y)`)."""
        arguments: list[ast.expr] = [*call.args, *(keyword.value for keyword in call.keywords)]
        if len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp):
            return None
        place = self.range_of(call)
        close = Position(place.end.line, place.end.character - 1)
        separator = ""
        if arguments:
            last = max(self.range_of(given).end for given in arguments)
            between = "".join(line.partition("#")[0] for line in slice_of(self._lines, Range(last, close)).split("\n"))
            separator = " " if "," in between else ", "
        return TextEdit(Range(close, close), f"{separator}{argument}")

    def add_first_parameter(self, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> TextEdit | None:
        """Puts a parameter in front of a function's others, where its parentheses are on the line of its name."""
        line = self._lines[function.lineno - 1]
        before, bracket, _ = line.partition(f"{function.name}(")
        if not bracket or before.split()[-1:] != ["def"]:
            return None
        taken = any((function.args.posonlyargs, function.args.args, function.args.kwonlyargs, function.args.kwarg))
        place = Position(function.lineno - 1, utf16_length(before + bracket))
        return TextEdit(Range(place, place), f"{name}, " if taken else name)

    # Places.

    def _function(self, node: ast.AST) -> ast.AST | None:
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        return next((each for each in self.around(node) if isinstance(each, functions)), None)

    @cached_property
    def _by_place(self) -> dict[_Place, ast.expr]:
        found: dict[_Place, ast.expr] = {}
        waiting: list[ast.AST] = [self._module]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.JoinedStr):
                continue
            if isinstance(node, ast.expr):
                found.setdefault(_place_of(node), node)  # the outermost, which is met first
            waiting += ast.iter_child_nodes(node)
        return found

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self._module) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _aliases(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for node in ast.walk(self._module):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    if alias.asname is None or alias.name == top:
                        found.setdefault(top, set()).add(alias.asname or top)
        return {name: frozenset(names) for name, names in found.items()}

    def _place(self, span: Range) -> _Place:
        return (*self._bytes(span.start), *self._bytes(span.end))

    def _bytes(self, position: Position) -> tuple[int, int]:
        if position.line >= len(self._lines):
            return position.line + 1, 0
        line = self._lines[position.line]
        column = index_of_utf16(line, position.character)
        if line.isascii():
            return position.line + 1, column
        return position.line + 1, len(line[:column].encode("utf-8", "surrogatepass"))

    def _position(self, line: int, column: int) -> Position:
        text = self._lines[line - 1]
        if text.isascii():
            return Position(line - 1, column)
        prefix = text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass")
        return Position(line - 1, utf16_length(prefix))


def _packages(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The top-level modules that a statement imports from."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return {name.partition(".")[0] for name in names}


def in_order(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, outermost first; f-strings and the bodies of functions are left out."""
    found: list[ast.AST] = [node]
    for current in found:
        if not isinstance(current, (ast.JoinedStr, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found += ast.iter_child_nodes(current)
    return found


@lru_cache(maxsize=4)
def tree_of(text: str) -> Tree | None:
    """The shared tree of a text; None where it does not parse or is too long for the daemon to try."""
    if len(text) > LARGEST_PARSED:
        return None
    module = parse(text)
    return None if isinstance(module, SyntaxFault) else Tree(text, module)


def _place_of(node: ast.expr | ast.stmt) -> _Place:
    return (
        node.lineno,
        node.col_offset,
        node.lineno if node.end_lineno is None else node.end_lineno,
        node.col_offset if node.end_col_offset is None else node.end_col_offset,
    )


def _encloses(outer: _Place, inner: _Place) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
