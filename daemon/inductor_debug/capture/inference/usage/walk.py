"""Follows the statements of a function, line by line, and so learns how it uses its arguments.

Only straight lines are followed: where syntax is not enough, nothing is claimed and trials decide.
"""

from __future__ import annotations

import ast
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.usage import expression_kinds as read
from inductor_debug.capture.inference.usage.argument_values import ArgumentValues
from inductor_debug.capture.inference.usage.local_names import WalkBudget, part_of
from inductor_debug.capture.inference.usage.shape_steps import ShapeStep
from inductor_debug.capture.inference.usage.usage import IMAGE_RANK, Tracked, Usage, own_class
from inductor_debug.capture.inference.values.function_syntax import Function, function_tree
from inductor_debug.capture.runtime import foreign

_MOST_ROUNDS = 6


def usages(function: Any, owner: nn.Module | None) -> dict[str, Usage]:
    """How `function` (a `forward` whose module is `owner`, or a plain function) uses each of its parameters."""
    tree = function_tree(function)
    if tree is None:
        return {}
    arguments = tree.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    names = [item.arg for item in every if item is not None]
    found = {name: Usage() for name in names}
    written = foreign.annotations_of(foreign.plain_function(function))
    for name, usage in found.items():
        usage.kind = own_class(written.get(name), foreign.plain_function(function))
    budget = WalkBudget()
    UsageWalk(owner, budget).function(tree, {name: Tracked(usage) for name, usage in found.items()}, function)
    for name, usage in found.items():
        named = argument_names.specs_for(name)
        if named and len(named[0].dims) == IMAGE_RANK and not usage.specs and not usage.ranks:
            usage.likely.append(IMAGE_RANK)
    # Twice, as what is alike to one may be so to a third.
    for left, right in budget.alike * 2:
        left.shares_rank(right)
        right.shares_rank(left)
    for usage in found.values():
        usage.settle()
    return found


class UsageWalk(ArgumentValues):
    """Follows one function body."""

    def function(self, tree: Function, bound: dict[str, Tracked], function: Any) -> None:
        """Walks a definition whose parameters are bound."""
        self.tracked.update(bound)
        plain = foreign.plain_function(function)
        self.itself, self.globals = plain, foreign.globals_of(plain)
        if self.owner is not None and tree.args.args:
            first = tree.args.args[0].arg
            self.tracked.pop(first, None)
            self.modules[first] = self.owner
        self.block(tree.body)

    def block(self, body: list[ast.stmt]) -> None:
        """Walks statements in order."""
        for statement in body:
            if self.budget.nodes <= 0:
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Walks one statement."""
        self.budget.nodes -= 1
        if isinstance(node, ast.Assign):
            self.assign(node.targets, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.assign([node.target], node.value)
        elif isinstance(node, ast.For):
            self.loop(node)
        elif isinstance(node, ast.If | ast.While):
            self.condition(node.test)
            self.value(node.test)
            self.branches(node)
        elif isinstance(node, ast.With):
            for item in node.items:
                self.value(item.context_expr)
            self.block(node.body)
        elif isinstance(node, ast.Try):
            self.block(node.body)
        elif isinstance(node, ast.Return):
            self.returned.append(self.value(node.value) if node.value is not None else None)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.value(child)

    def branches(self, node: ast.If | ast.While) -> None:
        """Walks both: of two numbers of dimensions that a value needs at least, one in each, the smaller is enough."""
        before = dict(self.tracked)
        usages = {id(item.usage): item.usage for item in before.values()}
        least = {key: usage.minimum for key, usage in usages.items()}
        self.block(node.body)
        inside = {key: usage.minimum for key, usage in usages.items()}
        changed = self.tracked
        self.tracked = before
        if not node.orelse:
            self.tracked = changed
            return
        for key, usage in usages.items():
            usage.minimum = least[key]
        self.block(node.orelse)
        for key, usage in usages.items():
            both = least[key] < min(inside[key], usage.minimum)
            usage.minimum = min(inside[key], usage.minimum) if both else max(inside[key], usage.minimum)
        self.tracked = {**changed, **self.tracked}

    def assign(self, targets: list[ast.expr], expression: ast.expr) -> None:
        """Binds names, and learns from unpacking."""
        value = self.value(expression)
        module = self.module(expression) if value is None else None
        for target in targets:
            if isinstance(target, ast.Name):
                self.tracked.pop(target.id, None)
                self.modules.pop(target.id, None)
                if value is not None:
                    self.tracked[target.id] = value
                elif module is not None:
                    self.modules[target.id] = module
            elif isinstance(target, ast.Tuple | ast.List):
                self.unpack(target.elts, expression, value)
            elif isinstance(target, ast.Subscript) and (key := self.key(target.slice)) is not None:
                owner = self.value(target.value)
                if owner is not None and not owner.steps:
                    owner.usage.own_keys.add(key)

    def unpack(self, targets: list[ast.expr], expression: ast.expr, value: Tracked | None) -> None:
        """`b, c, h, w = x.shape` tells a rank, `h, c = state` a tuple, `a, b = x, y` nothing new."""
        of_shape = read.shape_of(expression)
        starred = any(isinstance(target, ast.Starred) for target in targets)
        names = [target.id if isinstance(target, ast.Name) else "_" for target in targets]
        if of_shape is not None:
            tracked = self.value(of_shape)
            if tracked is not None:
                self.rank(tracked, len(targets), exact=not starred, names=names)
            self.sizes.update(names)
        elif value is not None and not value.steps:
            value.usage.count = len(targets)
            for index, (target, name) in enumerate(zip(targets, names, strict=True)):
                part = Tracked(value.usage.part(index))
                part.usage.called = name if len(name) > 1 else ""  # a letter may be anything's name
                if isinstance(target, ast.Tuple | ast.List):
                    self.unpack(target.elts, expression, part)
                else:
                    self.tracked[name] = part
        elif (parts := self.parts_of(expression, len(targets))) is not None:
            for name in names:
                self.tracked[name] = parts
        elif isinstance(expression, ast.Tuple) and len(expression.elts) == len(targets):
            for target, item in zip(targets, expression.elts, strict=True):
                self.assign([target], item)
        else:
            for name in names:
                self.tracked.pop(name, None)

    def parts_of(self, node: ast.expr, count: int) -> Tracked | None:
        """What each of `count` names is given by `x.chunk(2, dim=1)` and `torch.split(x, [half] * 2, 1)`."""
        if not isinstance(node, ast.Call) or read.name_of(node.func) not in ("chunk", "split", "tensor_split"):
            return None
        arguments = list(node.args)
        of_torch = isinstance(node.func, ast.Attribute) and self.named_globally(node.func.value) is torch
        whole = self.value(arguments.pop(0) if of_torch and arguments else getattr(node.func, "value", node.func))
        named = next((item.value for item in node.keywords if item.arg == "dim"), None)
        dim = read.integer(named if named is not None else arguments[1] if len(arguments) > 1 else ast.Constant(0))
        if whole is None or dim is None:
            return None
        sizes = arguments[0] if arguments else None
        unequal = isinstance(sizes, ast.List | ast.Tuple) and len({ast.dump(item) for item in sizes.elts}) > 1
        return whole.after(ShapeStep("cut", (dim,)) if unequal else ShapeStep("part", (count, dim)))

    def counted(self, node: ast.For) -> tuple[str, int]:
        """The counter of a loop, and how often it goes round, else zero: known where modules are counted.

        These are `self.heads[i](features[i])` in it, and `enumerate(self.heads)`.
        """
        counter = read.counter_of(node)
        sources = [self.module(source) for source in read.loop_sources(node)[0]] if counter else []
        container = next((item for item in sources if isinstance(item, nn.ModuleList)), None)
        for item in ast.walk(node) if counter else ():
            if isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Name) and item.slice.id == counter:
                found = self.module(item.value)
                container = found if isinstance(found, nn.ModuleList) else container
        return counter, min(len(container), _MOST_ROUNDS) if container is not None else 0

    def keys_of(self, source: ast.expr) -> dict[str, Any]:
        """What a dict of modules, or a list of names, that the model has gives when it is gone through."""
        if (
            isinstance(source, ast.Call)
            and isinstance(source.func, ast.Name)
            and source.func.id in ("reversed", "list")
        ):
            return self.keys_of(source.args[0]) if source.args else {}
        method = ""
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and not source.args:
            method = source.func.attr
            source = source.func.value
        container = self.module(source) if method in ("", "items", "keys") else None
        if isinstance(container, list | tuple) and all(isinstance(item, str) for item in container):
            return dict.fromkeys(container)
        if not isinstance(container, nn.ModuleDict | nn.ParameterDict | dict):
            return {}
        return {key: item for key, item in container.items() if isinstance(key, str)}

    def keyed(self, node: ast.For) -> bool:
        """Goes through `for task, head in self.heads.items()` key by key; says whether it is such a loop."""
        container = self.keys_of(node.iter)
        if not container:
            return False
        names = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        for key, item in list(container.items())[:_MOST_ROUNDS]:
            if isinstance(names[0], ast.Name):
                self.keys[names[0].id] = key
            if len(names) == 2 and isinstance(names[1], ast.Name):
                self.modules[names[1].id] = item
            self.block(node.body)
        return True

    def loop(self, node: ast.For) -> None:
        """`for layer in self.layers` binds the first layer; `for f in features` tells a sequence."""
        if self.keyed(node):
            return
        counter, counted = self.counted(node)
        sources, targets = read.loop_sources(node)
        containers = [self.module(source) for source in sources]
        parts = [read.rest_of(source) for source in sources]
        values = [self.value(whole) for whole, _ in parts]
        lists = [item for item in containers if isinstance(item, nn.ModuleList | nn.Sequential) and len(item)]
        rounds = counted or min(max((len(item) for item in lists), default=1), _MOST_ROUNDS)
        in_step = bool(counted) or (bool(lists) and any(value is not None for value in values))
        self._note_length(node, counted)
        for index in range(rounds if in_step else 1):
            if counted:
                self.numbers[counter] = index
            for target, container, value, (_, less) in zip(targets, containers, values, parts, strict=False):
                if not isinstance(target, ast.Name):
                    continue
                if any(container is item for item in lists):
                    self.modules[target.id] = part_of(container, index)
                elif value is not None and not value.steps:
                    value.usage.iterated = True
                    value.usage.count = value.usage.count or (rounds + less if in_step else None)
                    self.tracked[target.id] = Tracked(value.usage.part(index + less))
            if in_step:
                self.block(node.body)
        if counted:
            del self.numbers[counter]
        if isinstance(node.iter, ast.Call) and read.name_of(node.iter.func) == "range":
            for argument in node.iter.args:
                value = self.value(argument)
                if value is not None:
                    value.usage.role("number")
        if not in_step:
            self.block(node.body)

    def _note_length(self, node: ast.For, counted: int) -> None:
        """`for i in range(len(features) - 1)` that goes round once for each head: there is one feature more."""
        for item in ast.walk(node.iter) if counted else ():
            if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Sub) and isinstance(item.left, ast.Call):
                less = read.integer(item.right)
                of_length = read.name_of(item.left.func) == "len" and len(item.left.args) == 1
                value = self.value(item.left.args[0]) if of_length else None
                if value is not None and not value.steps and less is not None:
                    value.usage.count = max(value.usage.count or 0, counted + less)

    def condition(self, test: ast.expr) -> None:
        """`if flag`, `if step < 1000`, `if mode == "x"` and `x is None` tell what is no tensor."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.condition(test.operand)
        elif isinstance(test, ast.BoolOp):
            for item in test.values:
                self.condition(item)
        elif isinstance(test, ast.Name) and test.id in self.tracked:
            self.tracked[test.id].usage.role("flag")
        elif isinstance(test, ast.Compare) and (
            isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE) or _asks_for_number(test)
        ):
            for item in (test.left, *test.comparators):
                if isinstance(item, ast.Name) and item.id in self.tracked:
                    self.tracked[item.id].usage.role("number")


def _asks_for_number(test: ast.Compare) -> bool:
    """Whether something is compared with one whole number, `index == 1`: of tensors that would be no yes or no."""
    return (
        len(test.ops) == 1
        and isinstance(test.ops[0], ast.Eq | ast.NotEq)
        and read.integer(test.comparators[0]) is not None
    )
