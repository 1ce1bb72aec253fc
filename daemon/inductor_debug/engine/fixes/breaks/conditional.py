"""A branch of several statements as `torch.cond`: its sides become functions, which keep their lines as they stand.

Only branches that give values to names, or return, can become functions: none that writes to attributes or elements,
leaves a loop or raises. A name that a side reads before it sets it is handed in; one that a side does not set is given
back as a copy, for a side may not return what it was handed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inductor_debug_schema import Position, Range

from inductor_debug.engine.fixes.breaks.guards import quoted
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.statements import block_of, deeper, indentation, unit
from inductor_debug.engine.fixes.tree import Tree
from inductor_debug.source.text_lines import index_of_utf16, utf16_length

_SIDES = ("when_true", "when_false")
"""What the functions are called, with a number behind where a name is taken."""
_REFUSED = (
    ast.Break, ast.Continue, ast.Raise, ast.Delete, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await,
    ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.NamedExpr,
)  # fmt: skip


def fixes(tree: Tree, branch: ast.If, condition: str, torch: str, imports: tuple[TextEdit, ...]) -> Iterator[Fix]:
    """The branch as a call of `torch.cond`."""
    function, indent = tree.function_around(branch), indentation(tree, branch)
    if function is None or indent is None or _is_chained(tree, branch) or branch.test.lineno != branch.lineno:
        return
    sides = [branch.body, branch.orelse]
    if not all(map(_can_move, [statement for side in sides for statement in side])):
        return
    if indentation(tree, branch.body[0]) is None:
        return
    made = _Functions(tree, branch, f"{torch}.cond({condition}", _free_names(function))
    edits = _returning(made) or _assigning(made)
    if edits is not None:
        title = f"Branch by `torch.cond` on `{quoted(tree, branch.test)}`"
        witness = tree.range_of(branch.test)
        yield Fix(title, (*imports, *edits), keeps_results=True, witness=witness, condition=True)


@dataclass(frozen=True)
class _Functions:
    """A branch whose sides become functions: `names` are theirs, `call` the beginning of the call that takes them."""

    tree: Tree
    branch: ast.If
    call: str
    names: tuple[str, str]

    @property
    def indent(self) -> str:
        """What stands before the branch."""
        return indentation(self.tree, self.branch) or ""

    def called(self, parameters: list[str]) -> str:
        """The call of `torch.cond`."""
        handed = f"({', '.join(parameters)}{',' if len(parameters) == 1 else ''})"
        return f"{self.call}, {', '.join(self.names)}, {handed})"

    def defined(self, side: int, parameters: list[str]) -> str:
        """The header of a side's function."""
        return f"def {self.names[side]}({', '.join(parameters)}):"

    def header(self, parameters: list[str]) -> TextEdit:
        """`def when_true(x):` in place of `if ...:`, a line apart from what stands before it."""
        tree, branch = self.tree, self.branch
        start, test = tree.range_of(branch).start, tree.range_of(branch.test)
        colon = tree.lines[test.end.line].index(":", _column(tree, test.end))
        is_first = block_of(tree, branch)[0] is branch or not tree.lines[start.line - 1].strip()
        gap = "" if is_first else tree.newline
        end = Position(test.end.line, utf16_length(tree.lines[test.end.line][: colon + 1]))
        return TextEdit(Range(Position(start.line, 0), end), f"{gap}{self.indent}{self.defined(0, parameters)}")

    def between(self, text: str) -> tuple[TextEdit, ...]:
        """The text in place of `else:`."""
        tree, branch = self.tree, self.branch
        last, first = tree.range_of(branch.body[-1]).end, tree.range_of(branch.orelse[0]).start
        for line in range(last.line + 1, first.line):
            if tree.lines[line].split("#")[0].strip() == "else:":
                end = Position(line, tree.lines[line].index("else:") + len("else:"))
                return (TextEdit(Range(Position(last.line, utf16_length(tree.lines[last.line])), end), text),)
        return ()

    def behind(self, statement: ast.stmt, text: str) -> TextEdit:
        """The text behind a statement and its comment."""
        line = self.tree.range_of(statement).end.line
        end = Position(line, utf16_length(self.tree.lines[line]))
        return TextEdit(Range(end, end), text)


def _returning(made: _Functions) -> tuple[TextEdit, ...] | None:
    """Both sides end with `return`; what follows the branch is its other side where it has none."""
    tree, branch = made.tree, made.branch
    block = block_of(tree, branch)
    rest = block[block.index(branch) + 1 :]
    if not _returns(branch.body) or not isinstance(next(tree.around(branch), None), ast.FunctionDef):
        return None
    parameters = sorted(_read_first(branch.body) | _read_first(branch.orelse or rest))
    gap = f"{tree.newline}{tree.newline}{made.indent}"
    call, header = f"{gap}return {made.called(parameters)}", made.header(parameters)
    if branch.orelse and _returns(branch.orelse) and not rest:
        edits = made.between(gap + made.defined(1, parameters))
        return (header, *edits, made.behind(branch.orelse[-1], call)) if edits else None
    if branch.orelse or not _returns(rest) or not all(map(_can_move, rest)):
        return None
    opening = made.behind(branch.body[-1], gap + made.defined(1, parameters))
    return header, opening, *deeper(tree, rest), made.behind(rest[-1], call)


def _assigning(made: _Functions) -> tuple[TextEdit, ...] | None:
    """Both sides give values to the same names, or leave them as they are."""
    tree, branch = made.tree, made.branch
    sides = (branch.body, branch.orelse)
    if any(isinstance(node, ast.Return) for node in ast.walk(branch)):
        return None
    names = sorted((_set_by(branch.body) | _set_by(branch.orelse)) & _read_outside(tree, branch))
    if not names:
        return None
    unset = {name for side in sides for name in names if name not in _set_by(side)}
    parameters = sorted(unset | _read_first(branch.body) | _read_first(branch.orelse))
    step = unit(tree, branch.body[0])

    def given(side: Sequence[ast.stmt]) -> str:
        mine = _set_by(side)
        values = [name if name in mine else f"{name}.clone()" for name in names]
        return f"{tree.newline}{made.indent}{step}return {', '.join(values)}"

    gap = f"{tree.newline}{tree.newline}{made.indent}"
    second = f"{given(branch.body)}{gap}{made.defined(1, parameters)}"
    end = f"{given(branch.orelse)}{gap}{', '.join(names)} = {made.called(parameters)}"
    header = made.header(parameters)
    if not branch.orelse:
        return header, made.behind(branch.body[-1], second + end)
    edits = made.between(second)
    return (header, *edits, made.behind(branch.orelse[-1], end)) if edits else None


def _free_names(function: ast.AST) -> tuple[str, str]:
    """What the functions can be called where the names are not taken."""
    known = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    one, other = _SIDES
    number = 1
    while {one, other} & known:
        number += 1
        one, other = (f"{side}_{number}" for side in _SIDES)
    return one, other


def _column(tree: Tree, position: Position) -> int:
    """The index of a position in its line."""
    return index_of_utf16(tree.lines[position.line], position.character)


def _read_outside(tree: Tree, branch: ast.If) -> set[str]:
    """Names of the function that may be read once the branch is over: behind it, and in a loop also before it."""
    function = tree.function_around(branch)
    if function is None:
        return set()
    around = [
        each for each in tree.around(branch) if isinstance(each, (ast.For, ast.While)) and each in ast.walk(function)
    ]
    inside = set(ast.walk(branch))
    end = tree.range_of(branch).end
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and _is_read(node) and node not in inside
        if around or tree.range_of(node).start >= end
    }


def _read_first(side: Sequence[ast.stmt]) -> set[str]:
    """Names that are set in the side and read there before."""
    own, done, found = _set_by(side), set[str](), set[str]()
    for statement in side:
        read = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _is_read(node)}
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read.add(statement.target.id)
        found |= (read & own) - done
        done |= _set_by([statement])
    return found


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _set_by(side: Sequence[ast.stmt]) -> set[str]:
    return {
        node.id
        for statement in side
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _returns(side: Sequence[ast.stmt]) -> bool:
    """Whether the last statement returns a value, and no other one returns."""
    returns = [node for statement in side for node in ast.walk(statement) if isinstance(node, ast.Return)]
    return bool(side) and returns == [side[-1]] and returns[0].value is not None


def _can_move(statement: ast.stmt) -> bool:
    """Whether a statement means the same inside of a function of its own."""
    for node in ast.walk(statement):
        if isinstance(node, _REFUSED):
            return False
        stored = isinstance(getattr(node, "ctx", None), ast.Store)
        if stored and isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            return False
    return True


def _is_chained(tree: Tree, branch: ast.If) -> bool:
    """Whether the branch is an `elif`, or has one."""
    parent = next(tree.around(branch), None)
    is_elif = isinstance(parent, ast.If) and parent.orelse == [branch] and not _own_line(tree, branch)
    has_elif = (
        len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If) and not _own_line(tree, branch.orelse[0])
    )
    return is_elif or has_elif


def _own_line(tree: Tree, branch: ast.stmt) -> bool:
    return tree.lines[tree.range_of(branch).start.line].lstrip().startswith("if")
