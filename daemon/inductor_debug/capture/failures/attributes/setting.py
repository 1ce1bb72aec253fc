"""The attributes that a piece of code sets, on its own object or on others, and whether it computes their names.

A name of which a part is computed (`f"{kind}_scale"`) is kept with "*" in place of that part.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

Function = ast.FunctionDef | ast.AsyncFunctionDef
_REGISTERING = frozenset(
    ("setattr", "register_buffer", "register_parameter", "register_module", "add_module", "__setattr__")
)
_DYNAMIC_NAMES = frozenset(("__dict__", "__class__"))
_TABLES = frozenset(("_modules", "_parameters", "_buffers"))
_DYNAMIC_CALLS = frozenset(("vars", "exec", "eval"))


@dataclass
class AttributeSetting:
    """What code sets: `own` on the object of the class whose method it is, `others` on anything else.

    `own_computed` and `others_computed` say that names are computed, so that they may be any.
    """

    own: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    own_computed: bool = False
    others_computed: bool = False


def of_class(node: ast.ClassDef) -> AttributeSetting:
    """What the body and the methods of a class set; classes inside it are not looked into."""
    found = AttributeSetting()
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            found.own.add(item.target.id)
        _take(item, first_parameter(item) if isinstance(item, Function) else "", found)
    return found


def of_function(function: Function) -> AttributeSetting:
    """What a method sets."""
    found = AttributeSetting()
    _take(function, first_parameter(function), found)
    return found


def set_by(function: Function) -> set[str]:
    """What a method sets on its own object by name."""
    return of_function(function).own


def outside_classes(tree: ast.Module) -> AttributeSetting:
    """What the rest of a module sets."""
    found = AttributeSetting()
    for item in _outside_classes(tree):
        _take(item, "", found)
    return found


def is_among(name: str, names: Iterable[str]) -> bool:
    """Whether an attribute is one of those that are set, "*" in which may be anything."""
    return any(name == item or ("*" in item and fnmatchcase(name, item)) for item in names)


def first_parameter(function: Function) -> str:
    """The name that a method knows its object by; empty where it is not given it, or all arguments come as one."""
    decorators = {getattr(item, "id", "") for item in function.decorator_list}
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[0].arg if parameters and not decorators & {"staticmethod", "classmethod"} else ""


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all that is inside it, but for classes."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.ClassDef):
            yield from own_nodes(child)


def _outside_classes(tree: ast.Module) -> Iterator[ast.stmt]:
    for item in tree.body:
        if not isinstance(item, ast.ClassDef):
            yield item


def _take(statement: ast.AST, own: str, found: AttributeSetting) -> None:
    for node in own_nodes(statement):
        if isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id == own
            if isinstance(node.ctx, ast.Store) and node.attr not in _DYNAMIC_NAMES:
                (found.own if is_own else found.others).add(node.attr)
            elif node.attr == "__dict__" or (node.attr in _DYNAMIC_NAMES and isinstance(node.ctx, ast.Store)):
                found.own_computed |= is_own or not isinstance(node.value, ast.Name)
                found.others_computed |= not is_own
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _is_table(node.value):
            found.own_computed |= not isinstance(node.slice, ast.Constant)
        elif isinstance(node, ast.Call):
            _take_call(node, own, found)


def _is_table(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _TABLES


def _take_call(node: ast.Call, own: str, found: AttributeSetting) -> None:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _DYNAMIC_CALLS and isinstance(function, ast.Name):
        found.own_computed = found.others_computed = True
    if name not in _REGISTERING:
        return
    receiver = function.value if isinstance(function, ast.Attribute) else None
    if name in ("setattr", "__setattr__") and node.args:
        receiver = receiver if name == "__setattr__" and len(node.args) == 2 else node.args[0]
    is_own = isinstance(receiver, ast.Name) and receiver.id == own
    written = _pattern(_name_argument(node, name))
    if written.strip("*"):
        (found.own if is_own else found.others).add(written)
    elif is_own or isinstance(receiver, ast.Call):
        found.own_computed = True
    else:
        found.others_computed = True


def _name_argument(node: ast.Call, function: str) -> ast.expr | None:
    """What a call that sets an attribute is given as its name."""
    place = {"setattr": 1, "__setattr__": len(node.args) - 2}.get(function, 0)
    if 0 <= place < len(node.args):
        return node.args[place]
    return next((item.value for item in node.keywords if item.arg == "name"), None)


def _pattern(node: ast.expr | None) -> str:
    """A text, with "*" in place of what is computed."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "*"
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_pattern, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _pattern(node.left) + _pattern(node.right)
    return "*"
