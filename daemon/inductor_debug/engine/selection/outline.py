"""One file's syntax, as far as choosing needs it: what its names stand for, what it defines, what runs when it loads.

Syntax only: nothing is imported or executed, other files are not looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class FileSketch:
    """What a file's names mean.

    `names` maps a local name to the dotted name that it was imported as or assigned from; those of relative imports
    keep their leading dots. `stars` are the modules whose names are all imported, `modules` everything that an import
    statement names, `classes` and `functions` what the file defines outside of functions.
    """

    tree: ast.Module
    names: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def dotted(self, node: ast.AST) -> str | None:
        """What an expression such as `nn.Module` is called where it comes from (`torch.nn.Module`); None if unknown.

        A name that the file neither imports nor assigns stands for itself.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        return ".".join([self.names.get(node.id, node.id), *reversed(parts)])


def outline_of(tree: ast.Module) -> FileSketch:
    """Reads a file's outline."""
    outline = FileSketch(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                outline.modules.append(alias.name)
                bound = alias.asname or alias.name.partition(".")[0]
                outline.names.setdefault(bound, alias.name if alias.asname else bound)
        elif isinstance(node, ast.ImportFrom):
            _read_import_from(node, outline)
    for statement in statements(tree.body):
        if isinstance(statement, ast.ClassDef):
            outline.classes[statement.name] = statement
        elif isinstance(statement, Function):
            outline.functions[statement.name] = statement
        elif isinstance(statement, ast.Assign) and (value := outline.dotted(statement.value)) is not None:
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            outline.names.update({name: value for name in names if name != value})
    return outline


def _read_import_from(node: ast.ImportFrom, outline: FileSketch) -> None:
    home = "." * node.level + (node.module or "")
    outline.modules.append(home)
    for alias in node.names:
        if alias.name == "*":
            outline.stars.append(home)
            continue
        full = home + alias.name if home.endswith(".") else f"{home}.{alias.name}"
        outline.names.setdefault(alias.asname or alias.name, full)
        outline.modules.append(full)


def statements(body: Sequence[ast.stmt], *, handlers: bool = True) -> Iterator[ast.stmt]:
    """Statements that run with `body`, those inside of `if`, `try`, loops and `with` included.

    Without `handlers`, what only runs after an exception is left out.

    What stands under `if __name__ == "__main__":` or `if TYPE_CHECKING:` does not run when a file is imported.
    """
    pending = list(reversed(body))  # no recursion: a chain of `elif` is as deep as it is long
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and _is_false_when_imported(node.test):
            pending += reversed(node.orelse)
            continue
        yield node
        if not isinstance(node, Definition):
            pending += reversed(_inside(node, handlers))


def _inside(node: ast.stmt, handlers: bool) -> list[ast.stmt]:
    """The statements directly inside of one, all its branches together."""
    branches = [node, *(getattr(node, "handlers", ()) if handlers else ()), *getattr(node, "cases", ())]
    blocks = [getattr(branch, name, ()) for branch in branches for name in ("body", "orelse", "finalbody")]
    return [statement for block in blocks for statement in block]


def is_main_guard(test: ast.expr) -> bool:
    """Whether a condition is `__name__ == "__main__"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, test.comparators[0])
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides) and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )


def _is_false_when_imported(test: ast.expr) -> bool:
    if is_main_guard(test):
        return True
    return getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING"


class LoadingCode:
    """The expressions and loops that run while a file is imported and nothing fails.

    Calls of the file's own functions and constructors are followed, for `main()` at the end of a script is as good as
    its body there; what other files do is theirs.
    """

    def __init__(self, outline: FileSketch) -> None:
        self._outline = outline
        self._entered: set[int] = set()
        self.calls: list[ast.Call] = []
        self.loops: list[ast.For | ast.AsyncFor | ast.While] = []
        self.mentions: list[ast.Name | ast.Attribute] = []
        """Names as they are used, decorators among them."""
        self._run(outline.tree.body)

    def _run(self, body: Sequence[ast.stmt]) -> None:
        for statement in statements(body, handlers=False):
            if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
                self.loops.append(statement)
            if isinstance(statement, ast.ClassDef):
                self._run(statement.body)
            for expression in _own_expressions(statement):
                self._evaluate(expression)

    def _evaluate(self, expression: ast.expr) -> None:
        for node in _outside_of_lambdas(expression):
            if isinstance(node, ast.Name | ast.Attribute):
                self.mentions.append(node)
            elif isinstance(node, ast.Call):
                self.calls.append(node)
                self._enter(node.func)

    def _enter(self, called: ast.expr) -> None:
        name = called.id if isinstance(called, ast.Name) else ""
        function = self._outline.functions.get(name)
        if function is None and (kind := self._outline.classes.get(name)) is not None:
            function = next(
                (node for node in kind.body if isinstance(node, Function) and node.name == "__init__"), None
            )
        if function is not None and id(function) not in self._entered:
            self._entered.add(id(function))
            self._run(function.body)


def _own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates itself, without those of statements inside of it."""
    if isinstance(statement, Function):
        yield from (*statement.decorator_list, *statement.args.defaults)
        yield from (default for default in statement.args.kw_defaults if default is not None)
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr
        elif isinstance(child, ast.keyword):
            yield child.value


def _outside_of_lambdas(node: ast.AST) -> Iterator[ast.AST]:
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.Lambda):
            pending += ast.iter_child_nodes(node)
