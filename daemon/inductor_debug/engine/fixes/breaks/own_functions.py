"""A function of the file's own that Dynamo cannot follow, put into the graph as a whole by `nonstrict_trace`.

What the function computes is recorded by running it once, and nothing else of it is kept or guarded. So this is sound
only for a function whose results come of its arguments and of what never changes, and that does nothing to the world.
`torch.compiler.allow_in_graph` asks for the same and promises less, so that it is never offered. Where what the text
shows is not enough to be sure, there is no fix.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from inductor_debug_schema import GraphBreak, Position, Range

from inductor_debug.engine.fixes.breaks.foreign_functions import OF_THE_CODE
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.tree import Tree
from inductor_debug.source.writes import CHANGING

_ELSEWHERE = frozenset({"random", "time", "datetime", "os", "sys", "uuid", "secrets", "logging", "warnings", "numpy"})
"""Modules whose functions say something else every time, or do something to the world."""
_DEEDS = frozenset({"print", "open", "input", "exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "id"})
_IMPURE = frozenset(
    {
        "backends", "backward", "data_ptr", "f_back", "getouterframes", "item", "load", "manual_seed", "numpy", "save",
        "seed", "set_default_device", "set_default_dtype", "set_grad_enabled", "tolist",
    }
)  # fmt: skip
"""Attributes that ask for what a recording does not have, or change what is not the function's own."""


def fixes(tree: Tree, node: ast.AST, facts: GraphBreak) -> Iterator[Fix]:
    """The decorator for the function around a break, where it is defined by the file itself and is pure."""
    function = next((each for each in (node, *tree.around(node)) if isinstance(each, ast.FunctionDef)), None)
    torch = tree.imported("torch")
    if facts.breaks_by not in OF_THE_CODE or function is None or torch is None or function.decorator_list:
        return
    if function not in tree.module.body or not _is_pure(tree.module, function, ()):
        return
    call = next((each for each in ast.walk(tree.module) if _calls(each, function.name)), None)
    if not isinstance(call, ast.Call):
        return
    line = Position(tree.range_of(function).start.line, 0)
    edits = (*torch[1], TextEdit(Range(line, line), f"@{torch[0]}._dynamo.nonstrict_trace{tree.newline}"))
    title = f"Put all of `{function.name}` into the graph (`torch._dynamo.nonstrict_trace`)"
    yield Fix(title, edits, keeps_results=True, witness=tree.range_of(call))


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _is_pure(module: ast.Module, function: ast.FunctionDef, known: tuple[str, ...]) -> bool:
    """Whether the text shows that a function only computes with its arguments and with what never changes."""
    given = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and node.attr in CHANGING and getattr(node.value, "id", "") in given:
            return False
        if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await | ast.Delete):
            return False
        if isinstance(node, ast.Attribute) and (not isinstance(node.ctx, ast.Load) or node.attr in _IMPURE):
            return False
        if isinstance(node, ast.Attribute) and node.attr.endswith("_") and not node.attr.endswith("__"):
            return False  # it writes into a tensor, which may be an argument
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.AugAssign):
            return False  # of an argument it may write into the tensor
    bound = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    bound |= {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
    bound |= {each.name for each in ast.walk(function) if isinstance(each, ast.ClassDef | ast.FunctionDef)}
    used = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)} - bound - {function.name}
    return all(name in known or _never_changes(module, name, (*known, function.name)) for name in used)


def _never_changes(module: ast.Module, name: str, known: tuple[str, ...]) -> bool:
    """Whether a name of the file stands for one and the same: a module, a constant, a function as pure as that."""
    found = [each for each in ast.walk(module) if name in _bound_by(each)]
    if not found:
        return hasattr(builtins, name) and name not in _DEEDS
    [only] = found if len(found) == 1 else [None]
    match only:
        case ast.Import():
            return not _ELSEWHERE & {each.name.partition(".")[0] for each in only.names}
        case ast.ImportFrom():
            return (only.module or "").partition(".")[0] in ("torch", "math", "functools", "itertools", "operator")
        case ast.Assign(value=ast.Constant()):
            return True
        case ast.FunctionDef():
            return only in module.body and not only.decorator_list and _is_pure(module, only, known)
    return False


def _bound_by(node: ast.AST) -> set[str]:
    """The names of the file that a statement gives a meaning; local ones of functions count, to be sure."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return {(each.asname or each.name).partition(".")[0] for each in node.names}
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Assign(targets=targets):
            return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        case ast.AugAssign(target=ast.Name(id=name)) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case ast.For(target=target):
            return {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return set()
