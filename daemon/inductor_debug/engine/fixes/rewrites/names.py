"""What names stand for in straight code: which statement gave them their value, and whether that is used once.

Nothing is known of loops and branches: a name that is given a value in an inner block stays a name.
"""

from __future__ import annotations

import ast

from inductor_debug.engine.fixes.edits import TextEdit
from inductor_debug.engine.fixes.statements import block_of, indentation, without
from inductor_debug.engine.fixes.tree import Tree


class Straight:
    """The statements before an expression, in its own block."""

    def __init__(self, tree: Tree, function: ast.FunctionDef, at: ast.expr) -> None:
        self._tree, self._function = tree, function
        statement = next(outer for outer in tree.around(at) if isinstance(outer, ast.stmt))
        block = block_of(tree, statement)
        self._last = statement
        self._before = block[: block.index(statement)] if statement in block else []
        self._until = len(self._before)
        self._read: list[ast.stmt] = []

    def value(self, node: ast.expr) -> ast.expr:
        """What a name stands for, where one statement gave it that value and nothing else reads it."""
        if not isinstance(node, ast.Name):
            return node
        for index in range(self._until - 1, -1, -1):
            statement = self._before[index]
            if not _stores(statement, node.id):
                continue
            if not self._only_once(statement, node.id):
                return node
            self._read.append(statement)
            self._until = index
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                return self.value(statement.value) if isinstance(statement.value, ast.Name) else statement.value
            if isinstance(statement, ast.AugAssign):
                made = ast.BinOp(statement.target, statement.op, statement.value)
                made.left = ast.copy_location(ast.Name(node.id, ast.Load()), statement.target)
                return ast.copy_location(made, statement)
            return node
        return node

    def peek(self, node: ast.expr) -> ast.expr:
        """What a name stands for, whoever else reads it."""
        if isinstance(node, ast.Name):
            for statement in reversed(self._before[: self._until]):
                if isinstance(statement, ast.Assign) and _stores(statement, node.id):
                    return statement.value
        return node

    def holds_still(self, node: ast.expr) -> bool:
        """Whether an expression means the same at the end: none of its names gets another value on the way."""
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        start = self._tree.range_of(node).start
        later = [each for each in self._before if self._tree.range_of(each).start > start and each not in self._read]
        return not any(_stores(statement, name) for statement in later for name in names)

    def comes_from_outside(self, node: ast.expr) -> bool:
        """Whether an expression reads a parameter of the function, other than `self`."""
        arguments = self._function.args
        parameters = {each.arg for each in (*arguments.posonlyargs, *arguments.args[1:], *arguments.kwonlyargs)}
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        return bool(names & parameters)

    @property
    def can_be_left_out(self) -> bool:
        """Whether every statement that was read can be taken away."""
        return all(isinstance(edit, TextEdit) for edit in map(self._without, self._read))

    def left_out(self) -> tuple[TextEdit, ...]:
        """Takes every statement away that was read."""
        return tuple(edit for edit in map(self._without, self._read) if edit is not None)

    def _without(self, statement: ast.stmt) -> TextEdit | None:
        return without(self._tree, statement) if indentation(self._tree, statement) is not None else None

    def _only_once(self, statement: ast.stmt, name: str) -> bool:
        """Whether the value that a statement gives is read once, before the name gets another one."""
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if len(targets) != 1 or not isinstance(targets[0], ast.Name):
            return False
        after = self._before[self._before.index(statement) + 1 :]
        following = next((each for each in after if _stores(each, name)), None)
        start = self._tree.range_of(statement).end
        end = self._tree.range_of(following).end if following is not None else None
        reads = 0
        for node in ast.walk(self._function):
            if isinstance(node, ast.Name) and node.id == name:
                place = self._tree.range_of(node).start
                inside = place >= start and (end is None or place <= end)
                augmented = isinstance(following, ast.AugAssign) and node is following.target
                reads += inside and (isinstance(node.ctx, ast.Load) or augmented)
        return reads == 1


def called(node: ast.expr) -> str | None:
    """The last name of what a call calls."""
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


def method_of(call: ast.Call) -> tuple[ast.expr | None, list[ast.expr]]:
    """The tensor of a call and its other arguments: of `x.softmax(-1)` as of `torch.softmax(x, -1)`."""
    function = call.func
    if isinstance(function, ast.Attribute) and not _is_module(function.value):
        return function.value, list(call.args)
    return (call.args[0], list(call.args[1:])) if call.args else (None, [])


def declared(tree: Tree, call: ast.Call, kind: str) -> ast.Call | None:
    """The layer of that kind that `self.name(...)` calls, as the class makes it."""
    function, owner = call.func, tree.class_around(call)
    if owner is None or not isinstance(function, ast.Attribute) or not _is_self(function.value):
        return None
    made = [
        node.value
        for node in ast.walk(owner)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and any(
            isinstance(each, ast.Attribute) and _is_self(each.value) and each.attr == function.attr
            for each in node.targets
        )
    ]
    return made[0] if len(made) == 1 and called(made[0]) == kind else None


def number(node: ast.expr) -> float | None:
    """The number that an expression is (`-1`, `1e-5`)."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def is_number(node: ast.expr, *, at_most: float) -> bool:
    """Whether an expression is surely no more than that: a number, minus infinity, the least one of a dtype."""
    value = number(node)
    if value is not None:
        return value <= at_most
    text = ast.unparse(node).replace('"', "'")
    least = "finfo" in text and text.endswith((".min", ".max"))
    return text in ("float('-inf')", "-float('inf')", "-math.inf", "-torch.inf", "-np.inf") or (
        least and text.startswith("-") == text.endswith(".max")
    )


def _stores(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(statement)
    )


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_module(node: ast.expr) -> bool:
    """Whether a name is that of a module: `torch`, `F`, `nn.functional`."""
    return ast.unparse(node) in ("torch", "F", "nn.functional", "torch.nn.functional", "functional")
