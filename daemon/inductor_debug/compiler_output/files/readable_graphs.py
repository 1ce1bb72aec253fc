"""Graphs as `GraphModule.print_readable` writes them: `fx_graph_*.py`, and graphs in structured traces.

The text is parsed as Python and never run. Before each group of nodes a comment names the file, the line and the code
that they come from; it is all that such a text knows of the source. Read against torch 2.11 to 2.13.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from inductor_debug_schema import NodeRole

from inductor_debug.compiler_output.files.confined_files import FileFaultError
from inductor_debug.compiler_output.files.python_text import python_tree
from inductor_debug.compiler_output.files.tensor_types import TensorType, tensor_type
from inductor_debug.source.line_expressions import names_of

_CLASS = re.compile(r"^([ \t]*class )<\w+>(\()", re.MULTILINE)
"""Graphs of functions are classes with a name that is none."""
_COMMENT = re.compile(r"^\s*#.*? File: (?P<path>.+?):(?P<line>\d+) in (?P<function>.+?), code: (?P<code>.*)$")
_NO_SOURCE = re.compile(r"^\s*#.*No stacktrace found")
_MOST_BAD_LINES = 20
_LONGEST_DETAIL = 300
_LONGEST_COMMENT = 4000
"""Characters of a comment that says where nodes come from; the code in it is one line of somebody's."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """What a comment says of nodes: the file, the zero-based line, the function, and what stood on the line."""

    path: str
    line: int
    function: str
    code: str


@dataclass(frozen=True, slots=True)
class TextNode:
    """One node; `inputs` are names of nodes, with repetitions, in the order of the arguments."""

    name: str
    op: str
    role: NodeRole
    inputs: list[str]
    detail: str = ""
    type: TensorType | None = None
    source: SourceLine | None = None


@dataclass(frozen=True, slots=True)
class ReadableGraph:
    """The nodes of a graph in the order of the text, those of a body before its call, and lines that are no Python."""

    nodes: list[TextNode]
    unread_lines: list[int] = field(default_factory=list)
    names: frozenset[str] = frozenset()


def read_readable_graph(text: str) -> ReadableGraph:
    """Reads a graph.

    Raises:
        FileFaultError: it is none.
    """
    tree, unread = _parsed(text)
    module = next((each for each in tree.body if isinstance(each, ast.ClassDef)), None)
    forward = _forward_of(module) if module is not None else None
    if module is None or forward is None:
        raise FileFaultError("there is no graph in it")
    reader = _Reader(_sources(text))
    reader.read(module, forward, "")
    return ReadableGraph(reader.nodes, unread, frozenset(node.name for node in reader.nodes))


def _parsed(text: str) -> tuple[ast.Module, list[int]]:
    """The tree, and the one-based lines that had to be left out of it because they are no Python."""
    lines = _CLASS.sub(r"\1GraphModule\2", text).split("\n")
    unread: list[int] = []
    while True:
        tree = python_tree("\n".join(lines))
        if isinstance(tree, ast.Module):
            return tree, unread
        at = tree.lineno or 0
        if not 1 <= at <= len(lines) or at in unread or len(unread) >= _MOST_BAD_LINES or not lines[at - 1].strip():
            raise FileFaultError(f"it is no Python: {tree.msg} (line {at})")
        unread.append(at)
        lines[at - 1] = lines[at - 1][: len(lines[at - 1]) - len(lines[at - 1].lstrip())] + "pass"


def _forward_of(module: ast.ClassDef) -> ast.FunctionDef | None:
    return next((each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == "forward"), None)


def _sources(text: str) -> dict[int, SourceLine | None]:
    """What the comments say, by their one-based lines."""
    found: dict[int, SourceLine | None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = _COMMENT.match(line) if len(line) <= _LONGEST_COMMENT else None
        if match is not None and len(match["line"]) < 9:
            found[number] = SourceLine(match["path"], max(int(match["line"]) - 1, 0), match["function"], match["code"])
        elif _NO_SOURCE.match(line):
            found[number] = None
    return found


class _Reader:
    def __init__(self, sources: dict[int, SourceLine | None]) -> None:
        self.nodes: list[TextNode] = []
        self._sources = sources
        self._marks = sorted(sources)
        self._at = 0
        self._source: SourceLine | None = None

    def read(self, module: ast.ClassDef, forward: ast.FunctionDef, prefix: str) -> None:
        """Takes in one graph; bodies of higher-order ops are classes in the class."""
        bodies = {each.name: each for each in module.body if isinstance(each, ast.ClassDef)}
        known: dict[str, str] = {}
        for argument in forward.args.args[1:]:
            self._add(
                prefix,
                known,
                argument.arg,
                TextNode("", "placeholder", NodeRole.INPUT, [], type=_type(argument.annotation)),
            )
        for statement in forward.body:
            self._statement(statement, prefix, known, bodies)

    def _statement(
        self, statement: ast.stmt, prefix: str, known: dict[str, str], bodies: dict[str, ast.ClassDef]
    ) -> None:
        self._enter(statement.lineno)
        if isinstance(statement, ast.Return):
            inputs = _names(statement.value, known) if statement.value is not None else []
            self._add(prefix, known, "output", TextNode("", "output", NodeRole.OUTPUT, inputs))
            return
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name, annotation, value = statement.target.id, statement.annotation, statement.value
            if value is None:  # an argument that is unpacked further down
                self._add(prefix, known, name, TextNode("", "placeholder", NodeRole.INPUT, [], type=_type(annotation)))
                return
        elif (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            name, annotation, value = statement.targets[0].id, None, statement.value
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            name, annotation, value = "", None, statement.value
        else:
            return  # `x = y = None`, which ends lives
        if isinstance(value, ast.Constant) and value.value is None:
            return
        if isinstance(value, ast.Name) and value.id in known:
            known[name] = known[value.id]  # `l_x_ = L_x_`
            return
        assert value is not None
        self._node(name, annotation, value, prefix, known, bodies)

    def _node(
        self,
        name: str,
        annotation: ast.expr | None,
        value: ast.expr,
        prefix: str,
        known: dict[str, str],
        bodies: dict[str, ast.ClassDef],
    ) -> None:
        body = _body_name(value)
        if body in bodies:  # `true_graph_0 = self.true_graph_0`
            inner = bodies[body]
            forward = _forward_of(inner)
            before = self._source
            if forward is not None:
                self.read(inner, forward, f"{prefix}{body}.")
            self._source = before
            self._add(prefix, known, name, TextNode("", "get_attr", NodeRole.CONSTANT, [], detail=body))
            return
        if body:
            self._add(prefix, known, name, TextNode("", "get_attr", NodeRole.CONSTANT, [], body, _type(annotation)))
            return
        op, arguments = _operation(value)
        inputs = [found for argument in arguments for found in _names(argument, known)]
        detail = ", ".join(ast.unparse(each) for each in arguments if not _names(each, known))[:_LONGEST_DETAIL]
        node = TextNode("", op, NodeRole.OP, inputs, detail, _type(annotation), self._source)
        self._add(prefix, known, name or f"_{op.rpartition('.')[2]}_{len(self.nodes)}", node)

    def _add(self, prefix: str, known: dict[str, str], name: str, node: TextNode) -> None:
        known[name] = f"{prefix}{name}"
        self.nodes.append(TextNode(known[name], node.op, node.role, node.inputs, node.detail, node.type, node.source))

    def _enter(self, line: int) -> None:
        """Goes on to a line: the last comment before it says where its node comes from."""
        if self._at and line < self._marks[self._at - 1]:
            self._at = 0  # back from a body, which stands before the code that calls it
        while self._at < len(self._marks) and self._marks[self._at] < line:
            self._source = self._sources[self._marks[self._at]]
            self._at += 1


def _body_name(value: ast.expr) -> str:
    """`name` of `self.name`."""
    parts = []
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    return ".".join(reversed(parts)) if parts and isinstance(value, ast.Name) and value.id == "self" else ""


def _operation(value: ast.expr) -> tuple[str, list[ast.expr]]:
    """What is called, and with what."""
    if isinstance(value, ast.Call):
        arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
        if isinstance(value.func, ast.Attribute) and not _is_dotted(value.func):
            return value.func.attr, [value.func.value, *arguments]
        called = ast.unparse(value.func)
        if isinstance(value.func, ast.Attribute) and not called.startswith(
            ("torch.", "operator.", "math.", "builtins.")
        ):
            return value.func.attr, [value.func.value, *arguments]  # a method of a node
        return called.removeprefix("torch.ops."), arguments
    names = names_of(value)
    if names:
        operands = [each for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr)]
        return f"operator.{names[0]}", operands
    if isinstance(value, ast.Attribute):
        return f"getattr.{value.attr}", [value.value]
    return type(value).__name__.lower(), [value]


def _is_dotted(value: ast.expr) -> bool:
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)


def _names(value: ast.AST, known: dict[str, str]) -> list[str]:
    return [known[each.id] for each in _in_order(value) if isinstance(each, ast.Name) and each.id in known]


def _in_order(value: ast.AST) -> Iterator[ast.AST]:
    pending = [value]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(list(ast.iter_child_nodes(each)))


def _type(annotation: ast.expr | None) -> TensorType | None:
    return (
        tensor_type(annotation.value)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
        else None
    )
