"""Tensors that never change, as buffers: they move with the module, are made once, and are no part of its state.

One that `forward` makes anew at each call, of numbers and of sizes that the constructor fixes; one that the constructor
holds as a plain attribute, which stays behind when the module moves to another device.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from inductor_debug_schema import Position, Range

from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.rewrites.names import called
from inductor_debug.engine.fixes.statements import indentation
from inductor_debug.engine.fixes.tree import Tree
from inductor_debug.source.text_lines import utf16_length

_MAKERS = frozenset({"tensor", "arange", "ones", "zeros", "full", "eye", "linspace", "logspace", "as_tensor"})
_SHAPERS = frozenset(
    {"tril", "triu", "view", "reshape", "unsqueeze", "float", "bool", "long", "exp", "log", "sqrt", "outer", "flip"}
)
"""What may be done with a constant; it is one afterwards."""
_CONSTRUCTOR = "__init__"


def guesses(tree: Tree, function: ast.FunctionDef) -> Iterator[list[Fix]]:
    """A buffer for each constant of a method of a module."""
    owner = next(tree.around(function), None)
    if not isinstance(owner, ast.ClassDef):
        return
    constructor = next(
        (each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == _CONSTRUCTOR), None
    )
    if constructor is None or not _is_module(constructor):
        return
    if function is constructor:
        for statement in ast.walk(constructor):
            held = registered(tree, statement)
            if held is not None:
                yield [held]
        return
    fixed = _fixed(owner, constructor)
    for node in _outermost(tree, function, fixed):
        yield from _made_once(tree, constructor, node, owner)


def registered(tree: Tree, statement: ast.AST) -> Fix | None:
    """`self.name = tensor` of a constructor as a buffer; None of anything else."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if not (isinstance(target, ast.Attribute) and _is_self(target.value)) or not _makes_tensor(tree, value):
        return None
    start, place = tree.range_of(statement).start, tree.range_of(value)
    edits = (
        TextEdit(Range(start, place.start), f'self.register_buffer("{target.attr}", '),
        TextEdit(Range(place.end, place.end), ", persistent=False)"),
    )
    return Fix(f"Register `{target.attr}` as a buffer", edits, keeps_results=True)


def _made_once(tree: Tree, constructor: ast.FunctionDef, node: ast.Call, owner: ast.ClassDef) -> Iterator[list[Fix]]:
    last = constructor.body[-1]
    indent = indentation(tree, last)
    statement = next((outer for outer in tree.around(node) if isinstance(outer, ast.stmt)), None)
    if indent is None or statement is None:
        return
    name = "constant"
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
    taken = {each.attr for each in ast.walk(owner) if isinstance(each, ast.Attribute)}
    while name in taken:
        name += "_buffer"
    line = tree.range_of(last).end.line
    end = Position(line, utf16_length(tree.lines[line]))
    made = _without_device(tree, node)
    text = f'{tree.newline}{indent}self.register_buffer("{name}", {made}, persistent=False)'
    edits = (TextEdit(Range(end, end), text), tree.replace(node, f"self.{name}"))
    yield [Fix(f"Make `{name}` once, as a buffer", edits, keeps_results=True, witness=tree.range_of(node))]


def _without_device(tree: Tree, call: ast.Call) -> str:
    """The source of a constant without the device that it is made on: the buffer moves with the module."""
    text = tree.text_of(call)
    for node in ast.walk(call):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "device":
                said = rf"device\s*=\s*{re.escape(tree.text_of(keyword.value))}"
                text = re.sub(rf",\s*{said}|{said}\s*,\s*", "", text, count=1)
    return text


def _outermost(tree: Tree, function: ast.FunctionDef, fixed: frozenset[str]) -> Iterator[ast.Call]:
    """The largest constant expressions of a function that make a tensor."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Call) and _makes_tensor(tree, node) and _is_constant(tree, node, fixed):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.JoinedStr)):
            waiting += ast.iter_child_nodes(node)


def _makes_tensor(tree: Tree, node: ast.expr) -> bool:
    """Whether an expression makes a tensor with torch's factories, perhaps in another shape."""
    while isinstance(node, ast.Call):
        name, function = called(node), node.func
        if not isinstance(function, ast.Attribute):
            return False
        of_torch = isinstance(function.value, ast.Name) and function.value.id in tree.aliases("torch")
        if of_torch and name in _MAKERS:
            return True
        if name not in _SHAPERS:
            return False
        if of_torch and not node.args:
            return False
        node = node.args[0] if of_torch else function.value
    return False


def _is_constant(tree: Tree, node: ast.expr, fixed: frozenset[str]) -> bool:
    """Whether an expression has the same value at every call: numbers, module-level constants, fixed attributes."""
    torch = tree.aliases("torch")
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(_is_constant(tree, each, fixed) for each in node.elts)
    if isinstance(node, ast.UnaryOp):
        return _is_constant(tree, node.operand, fixed)
    if isinstance(node, ast.BinOp):
        return _is_constant(tree, node.left, fixed) and _is_constant(tree, node.right, fixed)
    if isinstance(node, ast.Attribute):
        of_torch = isinstance(node.value, ast.Name) and node.value.id in torch
        return of_torch or (_is_self(node.value) and node.attr in fixed)
    if isinstance(node, ast.Call):
        function = node.func
        if not isinstance(function, ast.Attribute) or called(node) not in _MAKERS | _SHAPERS:
            return False
        of_torch = isinstance(function.value, ast.Name) and function.value.id in torch
        given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg != "device")]
        return (of_torch or _is_constant(tree, function.value, fixed)) and all(
            _is_constant(tree, each, fixed) for each in given
        )
    return False


def _fixed(owner: ast.ClassDef, constructor: ast.FunctionDef) -> frozenset[str]:
    """Attributes that the constructor sets once, by a plain statement, and nothing else sets."""
    stored = [
        node.attr for node in ast.walk(owner) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    ]
    own = {
        target.attr
        for statement in constructor.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, (ast.Constant, ast.Name, ast.Attribute, ast.BinOp))
        for target in statement.targets
        if isinstance(target, ast.Attribute)
    }
    return frozenset(name for name in own if stored.count(name) == 1)


def _is_module(constructor: ast.FunctionDef) -> bool:
    """Whether a constructor calls that of a class above, as a module's must."""
    return any(isinstance(node, ast.Call) and called(node) == _CONSTRUCTOR for node in ast.walk(constructor))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
