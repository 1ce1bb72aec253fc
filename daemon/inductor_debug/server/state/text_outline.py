"""What the text of a document says without running it: assignments, returns, classes that are modules.

Everything here is syntax, in the protocol's positions; a text that does not parse has no outline.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from inductor_debug_schema import DefinitionKind, Position, Range

from inductor_debug.source.parsing import LARGEST_PARSED, SyntaxFault, parse
from inductor_debug.source.text_changes import TextChange
from inductor_debug.source.text_lines import split_lines, utf16_length

_NO_TENSORS = frozenset({"list", "tuple", "dict", "set", "frozenset", "map", "filter", "zip", "iter", "reversed"})
"""What is called by these names gives no tensor, whatever ran inside."""
_MODULE_BASES = frozenset({"Module", "LightningModule", "PreTrainedModel"})


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A name (or attribute, at `place`) that is given a value, or a value that is returned (`returned`).

    `values` are the ranges of the expressions that may be it; `slot` is None, or which of `slots` parts of the value
    the name gets.
    """

    place: Range
    values: tuple[Range, ...]
    slot: int | None = None
    slots: int = 1
    returned: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A class or function that can be reached by name.

    `line` is that of `class` or `def`, `top` with decorators; `nested` says that it stands inside of an `if` or the
    like, `required` which arguments a class cannot be made without, as far as its own `__init__` says.
    """

    name: str
    line: int
    kind: DefinitionKind = DefinitionKind.FUNCTION
    top: int = 0
    nested: bool = False
    required: tuple[str, ...] = ()

    @property
    def is_module(self) -> bool:
        """Whether it is a class that derives from a module of torch."""
        return self.kind is DefinitionKind.MODULE


@dataclass
class DocumentOutline:
    """The outline of one text; `bindings` are in the order of the text."""

    bindings: list[NamedValue] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)

    def definition(self, name: str) -> Definition | None:
        """The last definition of a name, which is the one that holds."""
        return next((found for found in reversed(self.definitions) if found.name == name), None)

    def line_of(self, name: str) -> int | None:
        """The line of the definition of a name."""
        found = self.definition(name)
        return None if found is None else found.line

    def moved(self, edit: TextChange) -> DocumentOutline:
        """The same definitions at their lines in an edited text, without bindings: their values are in doubt."""
        definitions = [
            replace(found, line=edit.moved_line(found.line), top=edit.moved_line(found.top))
            for found in self.definitions
        ]
        return DocumentOutline(definitions=definitions)

    @property
    def modules(self) -> list[Definition]:
        """The classes that derive from a module of torch."""
        return [found for found in self.definitions if found.is_module]


@lru_cache(maxsize=16)
def outline_of(text: str) -> DocumentOutline | None:
    """The outline of a text; None where it does not parse or is too long to be parsed while somebody waits."""
    if len(text) > LARGEST_PARSED:
        return None
    tree = parse(text)
    return None if isinstance(tree, SyntaxFault) else _Reader(text).read(tree)


class _Reader:
    def __init__(self, text: str) -> None:
        self._lines = split_lines(text.removeprefix("\ufeff"))
        self._outline = DocumentOutline()
        self._modules = set(_MODULE_BASES)

    def read(self, tree: ast.Module) -> DocumentOutline:
        for statement in _statements(tree.body):
            self._statement(statement)
        for definition in _reachable(tree.body):
            self._definition(definition)
        self._outline.bindings.sort(key=lambda binding: binding.place)
        return self._outline

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign):
            values = self._values(statement.value)
            for target in statement.targets if values else ():
                self._target(target, values)
        elif isinstance(statement, ast.AugAssign):
            self._target(statement.target, (self._range(statement),))
        elif isinstance(statement, ast.Return) and statement.value is not None:
            values = self._values(statement.value)
            if values:
                self._outline.bindings.append(NamedValue(self._range(statement.value), values, returned=True))

    def _target(self, target: ast.expr, values: tuple[Range, ...]) -> None:
        if isinstance(target, ast.Name | ast.Attribute):
            self._outline.bindings.append(NamedValue(self._range(target), values))
        elif isinstance(target, ast.Tuple | ast.List):
            if any(isinstance(part, ast.Starred) for part in target.elts):
                return
            for slot, part in enumerate(target.elts):
                if isinstance(part, ast.Name | ast.Attribute):
                    self._outline.bindings.append(NamedValue(self._range(part), values, slot, len(target.elts)))

    def _values(self, value: ast.expr) -> tuple[Range, ...]:
        if isinstance(value, ast.IfExp):
            return (*self._values(value.body), *self._values(value.orelse))
        if isinstance(value, ast.NamedExpr):
            return self._values(value.value)
        if isinstance(value, ast.Call) and _gives_no_tensor(value.func):
            return ()
        if isinstance(value, ast.Name | ast.Constant | ast.Lambda):
            return ()
        return (self._range(value),)

    def _definition(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        kind, required = self._kind(node), _required(node)
        if kind is DefinitionKind.MODULE:
            self._modules.add(node.name)
        top = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno) - 1
        nested = node.col_offset > 0
        self._outline.definitions.append(Definition(node.name, node.lineno - 1, kind, top, nested, required))

    def _kind(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> DefinitionKind:
        if not isinstance(node, ast.ClassDef):
            return DefinitionKind.FUNCTION
        is_module = any(_last_name(base) in self._modules for base in node.bases)
        return DefinitionKind.MODULE if is_module else DefinitionKind.CLASS

    def _range(self, node: ast.expr | ast.stmt) -> Range:
        start = self._position(node.lineno, node.col_offset)
        if node.end_lineno is None or node.end_col_offset is None:
            return Range(start, start)
        return Range(start, self._position(node.end_lineno, node.end_col_offset))

    def _position(self, line: int, byte: int) -> Position:
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        if not text.isascii():
            byte = utf16_length(text.encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore"))
        return Position(line - 1, byte)


def _gives_no_tensor(function: ast.expr) -> bool:
    """Whether a call makes a container, or an object of a class (`nn.Linear(8, 8)`)."""
    if isinstance(function, ast.Name) and function.id in _NO_TENSORS:
        return True
    return _last_name(function)[:1].isupper()


def _last_name(base: ast.expr) -> str:
    """`Module` of `nn.Module`; generic bases count by what is subscripted."""
    if isinstance(base, ast.Subscript):
        return _last_name(base.value)
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else ""


def _required(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """The arguments of a class's own `__init__` that have no default."""
    for item in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            given = item.args
            positional = [*given.posonlyargs, *given.args]
            needed = positional[1 : len(positional) - len(given.defaults)]
            keywords = zip(given.kwonlyargs, given.kw_defaults, strict=True)
            needed += [argument for argument, default in keywords if default is None]
            return tuple(argument.arg for argument in needed)
    return ()


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        yield part.body


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, those inside of others included."""
    for statement in body:
        yield statement
        for block in _blocks(statement):
            yield from _statements(block)


def _reachable(body: list[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """The definitions at module level, those inside `if` and `try` included."""
    for statement in body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement
        else:
            for block in _blocks(statement):
                yield from _reachable(block)
