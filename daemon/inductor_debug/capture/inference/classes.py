"""Which of a file's classes (and functions given to `torch.compile`) are looked at without being asked for.

Syntax decides who contains whom: a class that another one names in its body is a part of it, outermost first.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.runtime import foreign


@dataclass
class ClassOutline:
    """The definitions of a file and which of them each one names; variables of the module stand in between."""

    order: list[str] = field(default_factory=list)
    named: dict[str, set[str]] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)

    def reachable(self, roots: list[str]) -> set[str]:
        """Everything that `roots` name, directly or not; themselves only where something leads back."""
        found: set[str] = set()
        pending = [name for root in roots for name in self.named.get(root, ())]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self.named.get(name, ())
        return found


def outline(tree: ast.Module) -> ClassOutline:
    """The top-level definitions of a parsed file, those inside `if` and `try` included."""
    result = ClassOutline()
    nodes = list(_definitions(tree.body))
    result.order = [node.name for node in nodes]
    known = set(result.order)
    assigned = {
        item.targets[0].id
        for item in tree.body
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name)
    }
    for node in nodes:
        names = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)} & (known | assigned)
        names |= {text for item in ast.walk(node) if (text := _forward_reference(item))} & known
        result.named.setdefault(node.name, set()).update(names - {node.name})
        if isinstance(node, ast.ClassDef):
            result.classes[node.name] = node
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            names = {item.id for item in ast.walk(statement.value) if isinstance(item, ast.Name)} & known
            result.named.setdefault(statement.targets[0].id, set()).update(names)
    return result


def _forward_reference(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _definitions(body: list[ast.stmt]) -> list[Any]:
    found: list[Any] = []
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            for block in ("body", "orelse", "finalbody"):
                found += _definitions(getattr(node, block, []))
    return found


def candidates(module: ModuleType, shape: ClassOutline, explicit: set[str]) -> dict[str, list[str]]:
    """Names of classes to look at, outermost first, each with the classes that only it covers.

    Args:
        module: the executed file.
        shape: its outline.
        explicit: names with targets of their own; what they name is covered.
    """
    covered = shape.reachable(sorted(explicit)) | explicit
    own = [name for name in shape.classes if name not in covered and is_model(foreign.attribute(module, name), module)]
    outer: list[str] = []
    inside: set[str] = set()
    for name in own:
        others = [other for other in own if other != name and other not in inside]
        if not any(name in shape.reachable([other]) and other not in shape.reachable([name]) for other in others):
            if any(name in shape.reachable([known]) for known in outer):
                continue
            outer.append(name)
    result: dict[str, list[str]] = {}
    for name in outer:
        below = shape.reachable([name])
        result[name] = [other for other in own if other in below and other not in outer]
    return result


def is_model(kind: Any, module: ModuleType) -> bool:
    """Whether `kind` is a class of this file that can be built and called."""
    if not foreign.is_a(kind, type) or not issubclass(kind, nn.Module) or foreign.module_name(kind) != module.__name__:
        return False
    if inspect.isabstract(kind):
        return False
    # A class of `torch.jit` has one that classes cannot be asked for.
    forward = getattr(kind, "forward", None)
    if getattr(forward, "__name__", "") == "_forward_unimplemented":
        return False
    if issubclass(kind, nn.ModuleList | nn.ModuleDict | nn.ParameterList | nn.ParameterDict) and "forward" not in vars(
        kind
    ):
        return False
    return not _only_refuses(forward)


def is_model_of_others(value: Any, module: ModuleType) -> bool:
    """Whether `value` is a model whose class is of another file: it has weights, and is no single layer of torch's."""
    if not foreign.is_a(value, nn.Module) or foreign.is_a(value, torch.jit.ScriptModule):
        return False
    kind = type(value)
    home = foreign.module_name(kind)
    if home == module.__name__ or getattr(kind.forward, "__name__", "") == "_forward_unimplemented":
        return False
    if (home == "torch" or home.startswith("torch.")) and not any(True for _ in foreign.children_of(value)):
        return False
    return any(part._parameters for part in foreign.parts_of(value))


def _only_refuses(forward: Any) -> bool:
    """Whether a method does nothing but raise, which is how unfinished base classes are written."""
    from inductor_debug.capture.inference.values.function_syntax import function_tree

    tree = function_tree(forward)
    if tree is None:
        return False
    body = [node for node in tree.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    return not body or (len(body) == 1 and isinstance(body[0], ast.Raise | ast.Pass))
