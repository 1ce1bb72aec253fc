"""Which code is a model's work, so that leaving it out is worth a word. Syntax only.

A branch that raises, prints or gives a constant back has nothing that a compiler could stumble over; one for scripting
or exporting is not for this run. Of methods only those count that compute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_TALKS = ("print", "warnings")
_MODES = frozenset(
    {
        "TYPE_CHECKING",
        "__debug__",
        "is_available",
        "is_compiling",
        "is_cuda",
        "is_dynamo_compiling",
        "is_exporting",
        "is_fx_tracing",
        "is_scripting",
        "is_torch_fx_proxy",
        "is_torchdynamo_compiling",
        "is_tracing",
    }
)
"""Names in conditions that ask how and where the code runs, which is not what inputs decide."""
_COMPUTES = ("torch", "F", "functional", "nn", "einops")
_PREPARES = (
    "init",
    "optim",
    "save",
    "load",
    "no_grad",
    "manual_seed",
    "device",
    "utils",
    "Parameter",
    "inference_mode",
)
"""Parts of torch's names that do not compute with tensors."""
_NOT_OF_AN_INSTANCE = frozenset(
    {"staticmethod", "classmethod", "property", "cached_property", "abstractmethod", "overload"}
)


def is_work(nodes: Iterable[ast.AST]) -> bool:
    """Whether statements, or an expression, hold anything that could go wrong in a compiled model."""
    return any(_is_work(node) for node in nodes)


def asks_for_the_mode(condition: ast.expr) -> bool:
    """Whether a condition asks how the code runs (scripted, compiled, type-checked), or is a constant."""
    return isinstance(condition, ast.Constant) or not _MODES.isdisjoint(_names(condition))


def computing_methods(definition: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Methods that compute with tensors or modules, other than those that only construction leads to."""
    methods = {item.name: item for item in definition.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))}
    building = _reachable("__init__", methods)
    children = {name for name in methods if name not in building} | _assigned(methods.get("__init__"))
    for name, method in methods.items():
        named = {part for decorator in method.decorator_list for part in _names(decorator)}
        if name in building or name.startswith("__") or not named.isdisjoint(_NOT_OF_AN_INSTANCE):
            continue
        if is_work(method.body) and any(_computes(node, children) for node in ast.walk(method)):
            yield method


def _is_work(node: ast.AST) -> bool:
    if isinstance(node, (ast.Pass, ast.Break, ast.Continue, ast.Raise, ast.Assert, ast.Global, ast.Nonlocal)):
        return False
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Delete)):
        return False
    if isinstance(node, ast.Return):
        return node.value is not None and _is_work(node.value)
    if isinstance(node, ast.Expr):
        return _is_work(node.value) and not _talks(node.value)
    if isinstance(node, (ast.Constant, ast.Name)):
        return False
    if isinstance(node, ast.Attribute):
        return _is_work(node.value)
    if isinstance(node, ast.Tuple):
        return is_work(node.elts)
    if isinstance(node, ast.If):
        return is_work([*node.body, *node.orelse])
    return True


def _talks(node: ast.expr) -> bool:
    """Whether an expression prints, warns or logs."""
    if not isinstance(node, ast.Call):
        return False
    root: ast.expr = node.func
    while isinstance(root, (ast.Attribute, ast.Call)):
        root = root.value if isinstance(root, ast.Attribute) else root.func
    return isinstance(root, ast.Name) and (root.id in _TALKS or "log" in root.id.lower())


def _names(node: ast.AST) -> set[str]:
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return found | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _reachable(name: str, methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]) -> set[str]:
    """The methods that one of them mentions, and those that these mention."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in methods and current not in found:
            found.add(current)
            waiting += _names(methods[current]) & methods.keys()
    return found


def _assigned(method: ast.FunctionDef | ast.AsyncFunctionDef | None) -> set[str]:
    """Names of attributes that a method sets."""
    nodes = ast.walk(method) if method is not None else ()
    return {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}


def _computes(node: ast.AST, children: set[str]) -> bool:
    """Whether a node calls a module of the instance, another method of it or a function of torch's, or multiplies."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    if not isinstance(node, ast.Call):
        return False
    parts: list[str] = []
    function: ast.expr = node.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return False
    if function.id == "self":
        return not parts or parts[-1] in children
    return function.id in _COMPUTES and not any(part.startswith(_PREPARES) for part in parts)
