"""A backend that only the user's file knows, as source for a script: the function and what it needs of the file.

Read off the file's text, statement by statement, so a script has it as the user wrote it. What it needs has to be
torch, the standard library, or a plain statement of the same file; whatever else it needs is the reason why a script
cannot have it. Nothing of the file runs here.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from inductor_debug.accelerators.installed import InstalledAdapter

LONGEST = 400
"""Lines of source that are carried; more is no minimal reproducer."""
_TAKEN = frozenset({
    "failing", "make_inputs", "outcome", "causes", "reproduces", "relative_error", "wide", "load", "found", "saved",
    "functional", "program", "json", "pathlib", "operator", "subprocess",
})  # fmt: skip
"""Names that a script uses itself; imports that give the same are no harm."""
_THERE = frozenset({"torch", "sys", "traceback"})


@dataclass(frozen=True)
class BackendSource:
    """How a script names a backend: `expression`, after the `code` that defines it and its `imports`.

    `problem` says why the script cannot have it, "" where it has; `needs` is a library that has to be installed.
    """

    name: str
    expression: str
    imports: tuple[str, ...] = ()
    code: str = ""
    problem: str = ""
    needs: str = ""


class _NotCarriedError(Exception):
    """The message goes on from "its source cannot be carried into a script: "."""


def known_to_torch(name: str, library: str = "") -> BackendSource:
    """A backend that torch, or an installed library, registers under a name."""
    return BackendSource(name, f'"{name}"', needs=library)


def of_adapter(adapter: InstalledAdapter) -> BackendSource:
    """The compiler of an installed accelerator: asked of its adapter, as this tool does."""
    module, _, attribute = adapter.value.partition(":")
    made = f"{attribute}() if isinstance({attribute}, type) else {attribute}"
    code = f"accelerator = ({made}).compiler()"
    root = attribute.partition(".")[0]
    needs = module.partition(".")[0]
    return BackendSource(adapter.name, "accelerator", (f"from {module} import {root}",), code, needs=needs)


def carried(name: str, backend: Any, namespace: Mapping[str, Any], text: str) -> BackendSource:
    """The backend as source.

    Args:
        name: what it is called to the user.
        backend: the function, or whatever compiles.
        namespace: the names that its file defines.
        text: the file's text.
    """
    own = _own_name(name, backend, namespace)
    try:
        source = _Source(namespace, ast.parse(text), text)
        if own is None:
            raise _NotCarriedError("it is no function of the file by itself, but made by another one")
        source.need(own, bare=isinstance(backend, types.FunctionType) and backend.__qualname__ == own)
        code = "\n\n\n".join(source.parts())
        if code.count("\n") > LONGEST:
            raise _NotCarriedError(f"that would be {code.count(chr(10))} lines")
    except (_NotCarriedError, SyntaxError, RecursionError) as error:
        return BackendSource(
            name, f'"{name}"', problem=f"the source of backend {name} cannot be carried into it: {error}"
        )
    return BackendSource(name, own, tuple(sorted(source.imports)), code)


def _own_name(name: str, backend: Any, namespace: Mapping[str, Any]) -> str | None:
    called = (name, getattr(backend, "__name__", ""))
    for candidate in called:
        if namespace.get(candidate) is backend and candidate:
            return candidate
    found = next((known for known, value in namespace.items() if value is backend), None)
    if found is None and isinstance(backend, types.FunctionType) and backend.__qualname__ == backend.__name__:
        return backend.__name__  # registered by a decorator that gives something else back
    return found


@dataclass
class _Source:
    """The statements that are needed so far, by line."""

    namespace: Mapping[str, Any]
    tree: ast.Module
    text: str
    imports: set[str] = field(default_factory=set)
    _needed: dict[int, str] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def parts(self) -> list[str]:
        return [self._needed[line] for line in sorted(self._needed)]

    def need(self, name: str, *, bare: bool = False) -> None:
        """Takes what defines `name`, and what that needs; `bare` leaves out what decorates it."""
        if name in self._seen or name in _THERE:
            return
        self._seen.add(name)
        statement = self._definition(name)
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            self.imports.add(_import_of(statement, name))
            return
        if name in _TAKEN:
            raise _NotCarriedError(f"the script has a `{name}` of its own")
        line = statement.lineno
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            # Registering is what a decorator of the backend's does: the script names the function instead.
            above = [] if bare else statement.decorator_list
            source = "\n".join([*(f"@{self._segment(node)}" for node in above), self._segment(statement)])
        else:
            source = self._segment(statement)
        self._needed[line] = source
        for node in ast.walk(statement):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                _checked(node)
        for inner in _free_names(source):
            if inner in self.namespace:
                self.need(inner)

    def _definition(self, name: str) -> ast.stmt:
        for statement in reversed(self.tree.body):
            if name in _bound(statement):
                return statement
        value = self.namespace.get(name)
        what = "a module" if isinstance(value, types.ModuleType) else f"a {type(value).__name__}"
        raise _NotCarriedError(f"it needs `{name}`, {what} that no plain statement of the file defines")

    def _segment(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.text, node) or ast.unparse(node)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a file's top level defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {item.asname or item.name.split(".")[0] for item in statement.names}
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _stores(node)}
    return set()


def _stores(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _import_of(statement: ast.Import | ast.ImportFrom, name: str) -> str:
    _checked(statement)
    (alias,) = [item for item in statement.names if (item.asname or item.name.split(".")[0]) == name][:1]
    if isinstance(statement, ast.Import):
        return ast.unparse(ast.Import([alias]))
    return ast.unparse(ast.ImportFrom(statement.module, [alias], 0))


def _checked(statement: ast.Import | ast.ImportFrom) -> None:
    """Refuses what a clean process does not have."""
    modules = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else [i.name for i in statement.names]
    for module in modules:
        root = module.split(".")[0]
        if isinstance(statement, ast.ImportFrom) and statement.level:
            raise _NotCarriedError("it needs another file of the project")
        if root != "torch" and root not in sys.stdlib_module_names:
            raise _NotCarriedError(f"it needs `{root}`, and a reproducer needs torch alone")


def _free_names(source: str) -> Iterator[str]:
    """The global names that a statement reads."""
    waiting = [symtable.symtable(source, "<backend>", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            outside = table.get_type() == "module" or symbol.is_global()
            if outside and symbol.is_referenced() and not hasattr(builtins, symbol.get_name()):
                yield symbol.get_name()
