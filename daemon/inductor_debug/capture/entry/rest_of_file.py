"""What a file would still show after the line where its run was left, and the statements that show it.

A script is left where it looks at values that its tensors do not have here, and where it only calls again what is known
(a training loop). What it defines and compiles after that is to be checked all the same, or to be named as what was
not. So statements of the top level that define, compile or call what is compiled are run, with those that make what
they read; loops, plots and prints between them are not. Nothing is run here.
"""

from __future__ import annotations
import __future__

import ast
import functools
import traceback
from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import dataclass, field
from types import CodeType, TracebackType

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_COMPILING = {
    "torch": frozenset({"compile"}),
    "torch.export": frozenset({"export", "draft_export"}),
    "torch._dynamo": frozenset({"explain", "optimize"}),
}
"""What is given what is to be captured, by the module that it is in (`other_ways` has the calls taken down)."""


@dataclass(frozen=True, slots=True)
class NotReached:
    """Something that would be a target if the file were run to its end: its name and its zero-based line."""

    name: str
    line: int


@dataclass
class RestOfFile:
    """The rest of a program behind the lines where its frames stood when it was left.

    Args:
        tree: the file.
        path: its path.
        met: the traceback of what ended its run.
    """

    tree: ast.Module
    path: str
    met: TracebackType | None
    lines: list[int] = field(init=False)
    """One-based, the outermost frame of the file's first."""

    def __post_init__(self) -> None:
        frames = traceback.walk_tb(self.met)
        self.lines = [line for frame, line in frames if frame.f_code.co_filename == self.path]

    @property
    def line(self) -> int | None:
        """The one-based line of the file's top level where it was left; None where its own code was not at work."""
        return self.lines[0] if self.lines else None

    def statements(self, compiled: Collection[str], declared: Collection[str]) -> list[ast.stmt]:
        """The statements of the top level behind it that show something, and those that make what these read.

        Args:
            compiled: names of what `torch.compile` gave, of which further calls tell something new.
            declared: names that comments say to check.
        """
        following = self._following()
        shown = {*compiled, *self._functions_that_show(compiled)}
        kept: list[ast.stmt] = []
        for statement in following:
            if self._shows(statement, shown):
                shown |= _set_in(statement) | _changed_in(statement) | _decorated(statement)
        needed: set[str] = set()
        for statement in reversed(following):
            if isinstance(statement, (*_DEFINITIONS, *_IMPORTS)):
                kept.append(statement)
                used = isinstance(statement, ast.ClassDef) or not needed.isdisjoint(_defined(statement))
                needed |= _read_in([statement]) if used or _decorated(statement) else _read_at_once(statement)
            elif (
                self._shows(statement, shown)
                or not needed.isdisjoint(_set_in(statement) | _changed_in(statement))
                or not _set_in(statement).isdisjoint(declared)
            ):
                kept.append(statement)
                needed |= _read_in([statement])
        return kept[::-1]

    def code_of(self, statement: ast.stmt) -> CodeType:
        """One statement of the top level, as the file compiles it."""
        flags = 0
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                features = (getattr(__future__, alias.name, None) for alias in node.names)
                flags |= sum(feature.compiler_flag for feature in features if feature is not None)
        code: CodeType = compile(ast.Module([statement], []), self.path, "exec", flags, dont_inherit=True)
        return code

    def not_reached(self, names: Collection[str], offered: Set[int]) -> list[NotReached]:
        """What the file would have shown and did not.

        Args:
            names: what it has defined by now.
            offered: the zero-based lines from which something was given to `torch.compile`.
        """
        found: dict[str, NotReached] = {}
        for node in self._behind():
            if isinstance(node, ast.ClassDef) and node.name not in names and any(map(_is_module, node.bases)):
                found.setdefault(node.name, NotReached(node.name, node.lineno - 1))
            elif (
                isinstance(node, ast.Call)
                and (name := self._compiled_by(node)) is not None
                and offered.isdisjoint(range(node.lineno - 1, node.end_lineno or node.lineno))
            ):
                found.setdefault(name, NotReached(name, node.lineno - 1))
        return list(found.values())

    def _following(self) -> list[ast.stmt]:
        """The statements of the top level after the one that was left; what a main program does is not among them."""
        line = self.line
        return [] if line is None else [node for node in self.tree.body if _first_line(node) > line]

    def _behind(self) -> Iterator[ast.AST]:
        """Every node that was not come to: what follows in each function that was at work, and what that calls."""
        functions = {node.name: node for node in self.tree.body if isinstance(node, _FUNCTIONS)}
        pending: list[ast.AST] = []
        for line in self.lines:
            scope = _scope_at(self.tree, line)
            pending += [node for node in _own_nodes(scope) if getattr(node, "lineno", 0) > line]
        entered: set[str] = set()
        while pending:
            node = pending.pop()
            yield node
            if isinstance(node, ast.Name) and node.id in functions and node.id not in entered:
                entered.add(node.id)
                pending += _own_nodes(functions[node.id])

    def _functions_that_show(self, compiled: Collection[str]) -> set[str]:
        """The functions of the top level in which something is compiled or called that was, also by way of others."""
        functions = [node for node in self.tree.body if isinstance(node, _FUNCTIONS)]
        showing: set[str] = set()
        while True:
            more = {
                node.name
                for node in functions
                if node.name not in showing and any(self._shows(each, {*showing, *compiled}) for each in node.body)
            }
            if not more:
                return showing
            showing |= more

    def _shows(self, statement: ast.stmt, shown: Collection[str]) -> bool:
        return not _asks_for_main(statement) and any(
            (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in shown)
            or (isinstance(node, ast.Call) and self._compiled_by(node) is not None)
            or (isinstance(node, _FUNCTIONS) and any(map(self._is_torchs, node.decorator_list)))
            for node in ast.walk(statement)
        )

    def _is_torchs(self, decorator: ast.expr) -> bool:
        """Whether a decorator is `torch.compile` itself; with arguments it is a call of it."""
        return self._compiled_by(ast.Call(decorator, [], [])) is not None

    def _compiled_by(self, call: ast.Call) -> str | None:
        """What a call of `torch.compile` and its like, or of a model's `compile`, compiles, as it is written.

        None for other calls.
        """
        called = call.func
        if isinstance(called, ast.Name):
            if called.id not in self._torchs_own:
                return None
            compiled = call.args[0] if call.args else None
        elif isinstance(called, ast.Attribute) and called.attr != "compile":
            if called.attr not in _COMPILING.get(self._module_named(ast.unparse(called.value)), ()):
                return None
            compiled = call.args[0] if call.args else None
        elif isinstance(called, ast.Attribute) and called.attr == "compile":
            root = called.value
            of_module = isinstance(root, ast.Name) and root.id in self._imported
            if of_module and ast.unparse(root) not in self._torch:
                return None
            compiled = (call.args[0] if call.args else None) if of_module else root
        else:
            return None
        while isinstance(compiled, ast.Call):
            compiled = compiled.func
        return ast.unparse(compiled) if isinstance(compiled, ast.Name | ast.Attribute) else "torch.compile"

    @property
    def _imported(self) -> set[str]:
        """The names of modules that the file imports."""
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Import))
        return {(alias.asname or alias.name).partition(".")[0] for node in nodes for alias in node.names}

    @property
    def _torch(self) -> set[str]:
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Import))
        return {alias.asname or "torch" for node in nodes for alias in node.names if alias.name == "torch"} | {"torch"}

    @functools.cached_property
    def _torchs_own(self) -> set[str]:
        """What the file calls `torch.compile` and its like that it imports by name."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)]
        return {
            alias.asname or alias.name
            for node in nodes
            for alias in node.names
            if alias.name in _COMPILING.get(node.module or "", ())
        }

    @functools.cached_property
    def _aliases(self) -> dict[str, str]:
        """Modules by what the file calls them: `dynamo` for `torch._dynamo`."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found.update({alias.asname: alias.name for alias in node.names if alias.asname is not None})
            elif isinstance(node, ast.ImportFrom):
                found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
        return found

    def _module_named(self, written: str) -> str:
        root, dot, rest = written.partition(".")
        return self._aliases.get(written) or f"{self._aliases.get(root, root)}{dot}{rest}"


def _asks_for_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in _read_in([statement.test])


def _first_line(node: ast.stmt) -> int:
    """Where a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _scope_at(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function around a line, or the file."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, key=lambda node: node.lineno, default=tree)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a file or function, without those of the functions in it and of its main program."""
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _FUNCTIONS) and not (isinstance(node, ast.stmt) and _asks_for_main(node)):
            pending += ast.iter_child_nodes(node)


def _is_module(base: ast.expr) -> bool:
    return ast.unparse(base).rpartition(".")[2].endswith("Module")


def _read_in(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        each.id
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def _defined(statement: ast.stmt) -> set[str]:
    return {statement.name} if isinstance(statement, _DEFINITIONS) else set()


def _decorated(statement: ast.stmt) -> set[str]:
    return _defined(statement) if getattr(statement, "decorator_list", []) else set()


def _read_at_once(statement: ast.stmt) -> set[str]:
    """The names that a definition reads when it is made: decorators, defaults, bases."""
    if not isinstance(statement, _DEFINITIONS):
        return set()
    parts: list[ast.AST] = list(statement.decorator_list)
    parts += statement.bases if isinstance(statement, ast.ClassDef) else [statement.args]
    return _read_in(parts)


def _set_in(statement: ast.stmt) -> set[str]:
    return {
        node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def _changed_in(statement: ast.stmt) -> set[str]:
    """The names of objects that a statement sets something of, or calls a method of and forgets what that gives."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        targets = [statement.value.func]
    changed = set()
    for target in targets:
        root = target
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name) and root is not target:
            changed.add(root.id)
    return changed
