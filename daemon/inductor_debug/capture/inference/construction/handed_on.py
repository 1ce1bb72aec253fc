"""Arguments that a constructor takes as `*args` or `**options` and hands on: what its base class has names for."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from torch import nn

from inductor_debug.capture.inference.values.function_syntax import Function, function_tree
from inductor_debug.capture.runtime import foreign

_DEEPEST = 4
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def handed_on(kind: Any, depth: int = 0) -> list[inspect.Parameter]:
    """What the bases of a class take through its constructor, empty where that is not known.

    By position only where the constructor hands on positions.

    A class without a constructor of its own has its base's already.
    """
    owners = [item for item in foreign.attribute(kind, "__mro__") or () if "__init__" in vars(item)]
    if len(owners) < 2 or depth >= _DEEPEST or owners[1] in (object, nn.Module):
        return []
    own, base = owners[0], owners[1]
    tree = function_tree(inspect.getattr_static(own, "__init__"))
    call = _call_of_base(tree) if tree is not None else None
    taken = foreign.parameters(inspect.getattr_static(base, "__init__"))
    if tree is None or call is None or taken is None:
        return []
    arguments = (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
    given = {item.arg for item in arguments} | {item.arg for item in call.keywords if item.arg is not None}
    by_position = sum(not isinstance(item, ast.Starred) for item in call.args)
    named = [item for item in taken[1 + by_position :] if item.kind in _NAMED and item.name not in given]
    more = [item for item in handed_on(base, depth + 1) if item.name not in given]
    if _hands_on_positions(call, tree):
        options = _hands_on_options(call, tree)
        return [item for item in (*named, *more) if options or item.kind is not inspect.Parameter.KEYWORD_ONLY]
    return [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in (*named, *more)]


def _call_of_base(tree: Function) -> ast.Call | None:
    """The call of `super().__init__` that is given all further arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
            of_super = isinstance(node.func.value, ast.Call) and getattr(node.func.value.func, "id", "") == "super"
            if of_super and (_hands_on_options(node, tree) or _hands_on_positions(node, tree)):
                return node
    return None


def _hands_on_options(call: ast.Call, tree: Function) -> bool:
    rest = [item.value for item in call.keywords if item.arg is None]
    return tree.args.kwarg is not None and any(getattr(value, "id", "") == tree.args.kwarg.arg for value in rest)


def _hands_on_positions(call: ast.Call, tree: Function) -> bool:
    rest = [item.value for item in call.args if isinstance(item, ast.Starred)]
    return tree.args.vararg is not None and any(getattr(value, "id", "") == tree.args.vararg.arg for value in rest)
