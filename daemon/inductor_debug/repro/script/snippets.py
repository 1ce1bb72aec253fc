"""A piece of the user's source as a function of its own: what it reads of its surroundings becomes arguments.

For failures that are not in what operations compute but in what Python does between them. Tensors become seeded
inputs, plain values literals, torch's own modules are built anew, small functions of the user's are copied. Whatever
else a piece needs is refused by name.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import sys
import textwrap
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from inductor_debug.repro.program.literals import UnprintableError, source_of
from inductor_debug.repro.program.program import Input
from inductor_debug.repro.program.program_execution import spec_of
from inductor_debug.repro.program.value_names import ValueNames
from inductor_debug.repro.script.reproducer import NotReproducibleError
from inductor_debug.repro.script.writing import constructor

_CONSTANTS = (torch.dtype, torch.device, torch.layout, torch.memory_format)


@dataclass
class SourceSnippet:
    """The source of `failing`, the names and constructors of its arguments, and what stands before it.

    `line` is the first line of the statement that was asked for, as it stands in `source`.
    """

    source: str
    arguments: list[str]
    constructors: list[str]
    definitions: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    line: str = ""


def statement_at(tree: ast.AST, line: int, column: int) -> tuple[ast.stmt | None, ast.FunctionDef | None]:
    """The innermost statement at a zero-based line and UTF-8 column, and the function around it."""
    statement: ast.stmt | None = None
    function: ast.FunctionDef | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not _contains(node, line + 1, column):
            continue
        if isinstance(node, ast.FunctionDef):
            function = node
        if statement is None or _contains(statement, node.lineno, node.col_offset):
            statement = node
    return statement, function


def _contains(node: ast.stmt, line: int, column: int) -> bool:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= (line, column) <= end


class Extraction(ast.NodeTransformer):
    """Rewrites a piece of source so that it stands alone. `values` are the names known around it.

    `own` are the names that it binds, `plain` all names that it has: attributes that become arguments get others.

    Raises (from `visit`):
        NotReproducibleError: it needs something that cannot be written down.
    """

    def __init__(self, values: Mapping[str, Any], own: frozenset[str], plain: frozenset[str]) -> None:
        self._values, self._own = values, own
        self._taken = ValueNames(own | plain)
        self._known: dict[str, str] = {}
        self.arguments: dict[str, Any] = {}
        self.definitions: dict[str, str] = {}
        self.imports: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A chain of attributes: followed until something that can be an argument."""
        chain: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            chain.insert(0, root.attr)
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self._own:
            return self.generic_visit(node)
        name, value, rest = root.id, self._lookup(root.id), list(chain)
        while rest and not _is_argument(value) and not isinstance(value, types.ModuleType):
            if not hasattr(value, rest[0]):
                break
            name, value = f"{name}.{rest[0]}", getattr(value, rest[0])
            rest.pop(0)
        replaced: ast.expr = self._named(name, value, node.ctx if not rest else ast.Load())
        for attribute in rest:
            replaced = ast.Attribute(replaced, attribute, ast.Load())
        if isinstance(replaced, ast.Attribute):
            replaced.ctx = node.ctx
        return replaced

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name: an argument, a builtin, or one of the piece's own."""
        if isinstance(node.ctx, ast.Store):
            return node
        if node.id in self._own and node.id not in self._values:
            return node
        if node.id not in self._values and hasattr(builtins, node.id):
            return node
        return self._named(node.id, self._lookup(node.id), node.ctx)

    def _lookup(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NotReproducibleError(f"the code needs `{name}`, whose value was not seen")

    def _named(self, name: str, value: Any, context: ast.expr_context) -> ast.expr:
        if isinstance(value, types.ModuleType):
            self._import(name, value)
        elif isinstance(value, types.FunctionType) and "." not in name:
            self._define(name, value)
        elif getattr(builtins, name, None) is not value:
            if name not in self._known:
                self._known[name] = self._taken.take(name.removeprefix("self.")) if "." in name else name
                self.arguments[self._known[name]] = _checked(name, value)
            return ast.Name(self._known[name], context)
        return ast.Name(name, context)

    def _import(self, name: str, module: types.ModuleType) -> None:
        root = module.__name__.split(".")[0]
        if root != "torch" and root not in sys.stdlib_module_names:
            raise NotReproducibleError(f"the code needs the library {root}, and a reproducer needs torch alone")
        if module.__name__ == name:
            if name != "torch":
                self.imports.add(f"import {name}")
        elif root == "torch":
            self.definitions.setdefault(name, f"{name} = {module.__name__}")
        else:
            self.imports.add(f"import {module.__name__} as {name}")

    def _define(self, name: str, function: types.FunctionType) -> None:
        if name in self.definitions or name in self._own:
            return
        if function.__module__.split(".")[0] == "torch":
            self.definitions[name] = f"{name} = {function.__module__}.{function.__qualname__}"
            return
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, SyntaxError, TypeError):
            raise NotReproducibleError(f"the source of `{name}` is not to be had") from None
        for node in ast.walk(tree):
            known = function.__globals__
            if isinstance(node, ast.Name) and node.id in known and node.id != name:
                value = known[node.id]
                if isinstance(value, types.ModuleType):
                    self._import(node.id, value)
                elif isinstance(value, types.FunctionType):
                    self._define(node.id, value)
                else:
                    raise NotReproducibleError(f"`{name}` needs `{node.id}`, a {type(value).__name__}")
        if function.__closure__:
            raise NotReproducibleError(f"`{name}` is a closure")
        self.definitions[name] = ast.unparse(tree)


def _is_argument(value: Any) -> bool:
    if isinstance(value, torch.nn.Module):
        return type(value).__module__.startswith("torch.nn.modules") and not list(value.children())
    if isinstance(value, (list, tuple)):
        return all(map(_is_argument, value))
    if type(value) is dict:
        return all(isinstance(key, (str, int)) and _is_argument(item) for key, item in value.items())
    return value is None or isinstance(value, (torch.Tensor, bool, int, float, complex, str, *_CONSTANTS))


def _checked(name: str, value: Any) -> Any:
    if not _is_argument(value):
        raise NotReproducibleError(f"the code needs `{name}`, a {type(value).__name__}, which cannot be written down")
    return value


def constructed(name: str, value: Any) -> str:
    """The expression that makes an argument.

    Raises:
        UnprintableError: nothing does.
    """
    if isinstance(value, torch.Tensor):
        spec = spec_of(value)
        if spec is None:
            raise UnprintableError(f"the tensor {name}, which has symbolic sizes or no strides")
        return constructor(Input(name, spec, bound=2), {}, False)
    if isinstance(value, torch.nn.Module):
        return f"torch.nn.{type(value).__name__}({value.extra_repr()})"
    if isinstance(value, torch.device):
        return f'torch.device("{value}")'
    if isinstance(value, _CONSTANTS):
        return str(value)
    if isinstance(value, (list, tuple)):
        inner = ", ".join(constructed(name, item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{source_of(key)}: {constructed(name, item)}" for key, item in value.items()) + "}"
    return source_of(value)


def stored_names(nodes: list[ast.stmt]) -> frozenset[str]:
    """The names that statements bind, those of functions and loops among them."""
    found = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return frozenset(found)


def snippet_of(
    nodes: list[ast.stmt],
    values: Mapping[str, Any],
    *,
    arguments: tuple[str, ...] = (),
    decorators: Sequence[ast.expr] = (),
    asked: ast.stmt | None = None,
) -> SourceSnippet:
    """The statements as the body of a function; they are left as they are.

    Args:
        nodes: the statements.
        values: what the names around them stand for.
        arguments: names that are arguments in any case, first.
        decorators: what stands above the function.
        asked: the statement, one of `nodes` or inside of them, whose first line is wanted.

    Raises:
        NotReproducibleError: they need something that cannot be written down.
        UnprintableError: an argument cannot be.
    """
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)):
            raise NotReproducibleError(f"the code has a `{type(node).__name__.lower()}`, which stands for itself alone")
    memory: dict[int, Any] = {}
    nodes = copy.deepcopy(nodes, memory)
    plain = {node.id for outer in (*nodes, *decorators) for node in ast.walk(outer) if isinstance(node, ast.Name)}
    extraction = Extraction(values, stored_names(nodes), frozenset((*plain, *arguments)))
    for name in arguments:
        extraction._named(name, values[name], ast.Load())
    body = [ast.fix_missing_locations(extraction.visit(node)) for node in nodes]
    above = [f"@{ast.unparse(extraction.visit(copy.deepcopy(node)))}" for node in decorators]
    names = list(extraction.arguments)
    line = ast.unparse(memory[id(asked)]).split("\n")[0] if id(asked) in memory else ""
    lines = [*above, "def failing(", *(f"    {name}," for name in names), "):"]
    lines += [textwrap.indent(ast.unparse(node), "    ") for node in body]
    if not isinstance(nodes[-1], ast.Return):
        kept = [name for name, value in extraction.arguments.items() if isinstance(value, torch.Tensor)]
        bound = _assigned(nodes[-1])
        lines.append(f"    return {', '.join(bound or kept[:1]) or 'None'}")
    makers = [constructed(name, value) for name, value in extraction.arguments.items()]
    definitions, imports = list(extraction.definitions.values()), sorted(extraction.imports)
    return SourceSnippet("\n".join(lines), names, makers, definitions, imports, line)


def _assigned(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return [node.targets[0].id]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []
