"""What a file's syntax tree tells about its bytecode: which expressions are evaluated on a line, in which order.

The order is that of the instructions of Python 3.10, and so are the lines: a method's call is noted where the method's
name ends. It reads text only and knows nothing of code objects; `expressions` counts their instructions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

_NODE_KINDS: dict[type[ast.AST], str] = {
    ast.Call: "call",
    ast.BinOp: "binary",
    ast.UnaryOp: "unary",
    ast.Subscript: "subscript",
    ast.Slice: "slice",
    ast.Attribute: "attribute",
    ast.Name: "name",
    ast.Raise: "raise",
    # A comprehension is a function that is called at once.
    ast.ListComp: "call",
    ast.SetComp: "call",
    ast.DictComp: "call",
    ast.GeneratorExp: "call",
}
_COMPREHENSIONS: dict[type[ast.AST], str] = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}


_Node = ast.expr | ast.stmt


class SourcePositions(NamedTuple):
    """Where an instruction comes from: one-based lines and UTF-8 columns, as in `dis.Positions`."""

    lineno: int | None
    end_lineno: int | None
    col_offset: int | None
    end_col_offset: int | None


class Key(NamedTuple):
    """Expressions that are told apart by their order alone: name and first line of the scope, line, kind."""

    scope: str
    scope_line: int
    line: int
    kind: str


_Scope = tuple[str, int]
"""Name and first line of what a code object is made for."""


@dataclass(frozen=True, slots=True)
class EvaluatedSource:
    """What one file's syntax tree tells: expressions in the order of evaluation, and the functions' full names.

    `copied` are the lines that the compiler may emit more than once: a loop's condition, a `finally` block, what ends
    a function. `ends` are the functions' last lines.
    """

    expressions: dict[Key, list[SourcePositions]]
    names: dict[_Scope, str]
    copied: frozenset[int]
    ends: dict[_Scope, int]

    def first_line(self, name: str, line: int) -> int:
        """Where the innermost function `name` around `line` begins; 0 where there is none."""
        around = (first for (other, first), end in self.ends.items() if other == name and first <= line <= end)
        return max(around, default=0)


@lru_cache(maxsize=64)
def read(text: str) -> EvaluatedSource:
    """What `text` tells; nothing where it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return EvaluatedSource({}, {}, frozenset(), {})
    expressions: dict[Key, list[SourcePositions]] = {}
    for node, kind, (scope, scope_line) in _evaluated(tree, ("<module>", 1)):
        line, positions = _place(node)
        expressions.setdefault(Key(scope, scope_line, line, kind), []).append(positions)
    return EvaluatedSource(expressions, dict(_full_names(tree, "")), frozenset(_copied_lines(tree)), _ends(tree))


def _ends(tree: ast.AST) -> dict[_Scope, int]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {(node.name, _first_line(node)): node.end_lineno or node.lineno for node in functions}


def _copied_lines(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        copied: list[_Node] = [node.test] if isinstance(node, ast.While) else list(getattr(node, "finalbody", ()))
        copied += [node] if isinstance(node, ast.Return | ast.Raise) else []
        for part in copied:
            yield from range(part.lineno, (part.end_lineno or part.lineno) + 1)


def _place(node: _Node) -> tuple[int, SourcePositions]:
    """The line that Python 3.10 notes for the instruction, and the place that later ones do."""
    positions = SourcePositions(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
    name = node.func if isinstance(node, ast.Call) else node
    if not isinstance(name, ast.Attribute) or name.end_lineno is None or name.end_col_offset is None:
        return node.lineno, positions
    if name.end_lineno != name.lineno:
        start = name.end_col_offset - len(name.attr.encode())
        positions = positions._replace(lineno=name.end_lineno, col_offset=start)
    method = isinstance(node, ast.Call) and not node.keywords and not any(isinstance(x, ast.Starred) for x in node.args)
    return (name.end_lineno if method or name is node else node.lineno), positions


def _evaluated(node: ast.AST, scope: _Scope) -> Iterator[tuple[_Node, str, _Scope]]:
    """All expressions below and at `node` in the order of evaluation, each with the scope that evaluates it."""
    if isinstance(node, ast.AugAssign):
        yield from _augmented(node, scope)
        return
    for child, inner in _children(node, scope):
        yield from _evaluated(child, inner)
    kind = _NODE_KINDS.get(type(node))
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from [(node, "import", scope)] * _import_instructions(node)
    elif isinstance(node, ast.Compare):
        yield from [(node, "compare", scope)] * len(node.ops)
    elif isinstance(node, ast.Assert):
        yield from [(node, "call", scope)] * (node.msg is not None)
        yield node, "raise", scope
    elif isinstance(node, ast.expr | ast.stmt) and kind is not None and _is_read(node):
        yield node, kind, scope


def _is_read(node: ast.AST) -> bool:
    """Names that are written or deleted leave no instruction that is counted."""
    return not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load)


def _augmented(node: ast.AugAssign, scope: _Scope) -> Iterator[tuple[_Node, str, _Scope]]:
    """The target is read before the value is evaluated, and written after."""
    if isinstance(node.target, ast.Name):
        yield node.target, "name", scope
    else:
        yield from _evaluated(node.target, scope)
    yield from _evaluated(node.value, scope)
    yield node, "binary", scope
    if not isinstance(node.target, ast.Name):
        yield node.target, _NODE_KINDS[type(node.target)], scope


def _import_instructions(node: ast.Import | ast.ImportFrom) -> int:
    if isinstance(node, ast.ImportFrom):
        return 1 + len(node.names)
    # `import a.b as c` walks down to `b`.
    return sum(1 + (name.name.count(".") if name.asname else 0) for name in node.names)


def _children(node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.AST, _Scope]]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from ((child, scope) for child in (node.value, *targets) if child is not None)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from ((child, scope) for child in node.decorator_list)
        apart = {id(child) for child in node.body} | {id(child) for child in node.decorator_list}
        yield from ((child, scope) for child in ast.iter_child_nodes(node) if id(child) not in apart)
        yield from ((child, (node.name, _first_line(node))) for child in node.body)
    elif isinstance(node, ast.arguments):
        defaults = [default for default in (*node.defaults, *node.kw_defaults) if default is not None]
        yield from ((child, scope) for child in defaults)
        yield from ((child, scope) for child in ast.iter_child_nodes(node) if isinstance(child, ast.arg))
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        yield from ((child, scope) for pair in pairs for child in pair if child is not None)
    elif isinstance(node, ast.Lambda):
        yield node.args, scope
        yield node.body, ("<lambda>", node.lineno)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        inside = (_COMPREHENSIONS[type(node)], node.lineno)
        outer = node.generators[0].iter
        yield outer, scope
        for generator in node.generators:
            parts = [generator.target, generator.iter, *generator.ifs]
            yield from ((part, inside) for part in parts if part is not outer)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        yield from ((part, inside) for part in results)
    else:
        yield from ((child, scope) for child in ast.iter_child_nodes(node))


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _full_names(node: ast.AST, outer: str) -> Iterator[tuple[_Scope, str]]:
    for child in ast.iter_child_nodes(node):
        inner = outer
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield (child.name, _first_line(child)), outer + child.name
            inner = f"{outer}{child.name}." if isinstance(child, ast.ClassDef) else f"{outer}{child.name}.<locals>."
        elif isinstance(child, ast.Lambda):
            yield ("<lambda>", child.lineno), f"{outer}<lambda>"
            inner = f"{outer}<lambda>.<locals>."
        elif isinstance(child, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            name = _COMPREHENSIONS[type(child)]
            yield (name, child.lineno), outer + name
            inner = f"{outer}{name}.<locals>."
        yield from _full_names(child, inner)
