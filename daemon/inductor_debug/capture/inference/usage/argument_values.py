"""Expressions of a function: which argument each one is, and what the modules and functions around it take.

Expressions like `self.blocks[0]` are looked up on the built model; no user code is called.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from torch import nn

from inductor_debug.capture.inference.specs.specs import TensorSpec
from inductor_debug.capture.inference.usage import expression_kinds as read
from inductor_debug.capture.inference.usage.module_inputs import accepted, is_passing
from inductor_debug.capture.inference.usage.shape_changes import ShapeChanges
from inductor_debug.capture.inference.usage.shape_steps import ShapeStep
from inductor_debug.capture.inference.usage.torch_operators import FUNCTIONS, INDEXING, OF_LOSSES, name_of
from inductor_debug.capture.inference.usage.usage import Tracked, is_own_function
from inductor_debug.capture.inference.values.function_syntax import Function, function_tree

DEEPEST = 5
"""Calls inside the model that are followed."""
_KEEP_RANK = nn.Linear | nn.Bilinear | nn.LayerNorm | nn.Conv1d | nn.Conv2d | nn.Conv3d | nn.BatchNorm2d
"""What gives a tensor of as many dimensions as it takes."""


_OF_EINOPS = ("rearrange", "reduce", "repeat")
_TAKE_SIZES = ("zeros", "ones", "empty", "rand", "randn", "arange", "eye")
"""What is called with the sizes of a tensor."""


class ArgumentValues(ShapeChanges):
    """Evaluates expressions; `walk.UsageWalk`, which inherits this, binds local names to tracked values or modules."""

    def function(self, tree: Function, bound: dict[str, Tracked], function: Any) -> None:
        """Walks a definition whose parameters are bound."""
        raise NotImplementedError

    def loop(self, node: ast.For) -> None:
        """Walks a loop, or a comprehension written as one."""
        raise NotImplementedError

    def condition(self, test: ast.expr) -> None:
        """Learns from what is asked of a value."""
        raise NotImplementedError

    def value(self, node: ast.expr) -> Tracked | None:
        """Walks an expression; the tracked value that it gives, if it is one."""
        self.budget.nodes -= 1
        if self.budget.nodes <= 0:
            return None
        if isinstance(node, ast.Name):
            return self.tracked.get(node.id)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Subscript):
            return self.subscript(node)
        if isinstance(node, ast.BinOp):
            left, right = self.value(node.left), self.value(node.right)
            if isinstance(node.op, ast.MatMult):
                if left is not None and (shape := self.attribute_shape(node.right)) is not None and len(shape) == 2:
                    left.takes([TensorSpec(("B", shape[0])), TensorSpec(("B", "T", shape[0]))])
                return None
            for value, other in ((left, node.right), (right, node.left)):
                if value is not None and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
                    self.broadcast(value, self.attribute_shape(other))
            if left is not None and right is not None and left is not right:
                self.budget.alike.append((left, right))
                return Tracked(left.usage, left.steps, (*left.peers, right))
            if right is None:
                return left if self.keeps_shape(node.right) else None
            return right if left is None and self.keeps_shape(node.left) else None
        if isinstance(node, ast.UnaryOp):
            return self.value(node.operand)
        if isinstance(node, ast.IfExp):
            self.condition(node.test)
            self.value(node.test)
            return self.value(node.body) or self.value(node.orelse)
        if isinstance(node, ast.Compare):
            self.compare(node)
            return None
        if isinstance(node, ast.Attribute):
            inner = self.value(node.value)
            if inner is not None:
                kept = inner.usage.attribute(node.attr) if not inner.steps else None
                if kept is not None:
                    return Tracked(kept)
                inner.usage.role("tensor")
                if node.attr in ("T", "mT"):
                    return inner.after(ShapeStep("swap", (-2, -1)))
                return inner if node.attr == "data" else None
            return None
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            self.comprehension(node)
            return None
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return None

    def keeps_shape(self, node: ast.expr) -> bool:
        """Whether an operand leaves the other one's shape as it is: a number, or what is broadcast to it."""
        return read.is_scalar(node) or self.attribute_shape(node) is not None

    def broadcast(self, value: Tracked, shape: list[int | str] | None) -> None:
        """What is added to or multiplied with a tensor of the model has at least its rank and its sizes."""
        if shape is None:
            return
        dims = [f"?{index}" if size == 1 else size for index, size in enumerate(shape)]
        if len(dims) == 1:
            value.takes([TensorSpec(("B", "T", dims[0])), TensorSpec(("B", dims[0]))], weakly=True)
        elif (len(dims) == 2 or shape[1:] == [1, 1]) and shape[0] != 1:  # a number for each channel of images
            value.takes([TensorSpec(("B", *dims)), TensorSpec(tuple(dims))])
        else:
            value.takes([TensorSpec(("B", *dims[1:]) if shape[0] == 1 else tuple(dims))])

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        """`[f(x) for f, x in zip(self.heads, features)]`."""
        for generator in node.generators:
            body: list[ast.stmt] = [ast.Expr(node.elt)] if generator is node.generators[-1] else []
            self.loop(ast.For(target=generator.target, iter=generator.iter, body=body, orelse=[]))

    def compare(self, node: ast.Compare) -> None:
        """`mode == "train"` tells a text, `n == h * w` numbers, `x.dim() == 3` nothing certain."""
        left = self.value(node.left)
        for one, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            is_size = isinstance(one, ast.Name) and one.id in self.sizes
            if is_size and isinstance(node.ops[0], ast.Eq | ast.NotEq):
                self.numbers_in([other])
        for kind, comparator in zip(node.ops, node.comparators, strict=True):
            within = self.value(comparator)
            key = self.key(node.left) if isinstance(kind, ast.In | ast.NotIn) else None
            if key is not None and within is not None and not within.steps:
                within.usage.asked_keys.add(key)
            if left is not None and isinstance(comparator, ast.Constant):
                left.usage.chooses([comparator.value])

    def subscript(self, node: ast.Subscript) -> Tracked | None:
        """`batch["image"]`, `x[:, 0]`, `x.shape[2]`."""
        of_shape = read.shape_of(node.value)
        if of_shape is not None:
            tracked, index = self.value(of_shape), read.integer(node.slice)
            if tracked is not None and index is not None:
                self.rank(tracked, index + 1 if index >= 0 else -index, exact=False)
            first = read.integer(node.slice.lower) if isinstance(node.slice, ast.Slice) else None
            if tracked is not None and first is not None:
                self.rank(tracked, first + 1 if first >= 0 else -first, exact=False)
            return None
        value = self.value(node.value)
        if value is None:
            chosen = self.value(node.slice)
            if chosen is not None:
                table = self.module(node.value)
                chosen.usage.chooses(table)
                if isinstance(table, nn.ModuleList) and not chosen.steps:
                    chosen.usage.role("place")
                if self.attribute_shape(node.value):
                    chosen.usage.indexes = True
                    chosen.takes([TensorSpec(("B",), "int64"), TensorSpec(("B", "T"), "int64")])
            return None
        key = self.key(node.slice)
        if key is not None:
            return Tracked(value.usage.part(key)) if not value.steps else None
        if isinstance(node.slice, ast.Name) and node.slice.id in self.numbers and not value.steps:
            value.usage.iterated = True
            value.usage.count = max(value.usage.count or 0, self.numbers[node.slice.id] + 1)
        index = self.index(node.slice)
        if index is not None:
            return Tracked(value.usage.part(index)) if not value.steps else None
        added = read.inserted(node.slice)
        if added:
            return value.after(*(ShapeStep("insert", (number,)) for number in added))
        removed, used = read.selected(node.slice)
        if used is None:
            return None
        self.rank(value, used, exact=False)
        value = value.after(*(ShapeStep("cut", (number,)) for number in read.cut(node.slice)))
        return value.after(ShapeStep("remove", removed)) if removed else value

    def call(self, node: ast.Call) -> Tracked | None:
        """A module, a method of the argument, a method of the model, or a function of torch."""
        arguments = [self.value(item) for item in node.args if not isinstance(item, ast.Starred)]
        named = {item.arg: self.value(item.value) for item in node.keywords if item.arg}
        for spread in (self.value(item.value) for item in node.keywords if not item.arg):
            if spread is not None and not spread.steps:
                spread.usage.spread = True
        if isinstance(node.func, ast.Subscript):
            self.value(node.func)
        for tracked in (named.get("size"), named.get("scale_factor")):
            if tracked is not None:
                tracked.usage.role("number")
        if read.name_of(node.func) in _TAKE_SIZES:
            self.numbers_in([item for item in node.args if isinstance(item, ast.Name | ast.BinOp)])
            for tracked in (self.value(item.value) for item in node.args if isinstance(item, ast.Starred)):
                if tracked is not None and not tracked.steps:
                    tracked.usage.role("sizes")
        self.sizes_in(node)
        module = self.module(node.func)
        if isinstance(module, nn.Module):
            return self.call_module(module, node, arguments, named)
        if isinstance(node.func, ast.Attribute):
            inner = self.value(node.func.value)
            if inner is not None:
                return self.method(inner, node)
            if node.func.attr in INDEXING:
                for tracked in (*arguments, *named.values()):
                    if tracked is not None:
                        tracked.usage.indexes = True
            if node.func.attr == "extend":
                for tracked in arguments:
                    if tracked is not None and not tracked.steps:
                        tracked.usage.iterated = True  # a list takes its items
            function = self.inherited(node.func) or getattr(self.module(node.func.value), node.func.attr, None)
            every = getattr(nn.Module, node.func.attr, None)  # `self.register_buffer(…)` keeps what it is given
            if (
                inspect.ismethod(function)
                and function.__func__ is not every
                and isinstance(function.__self__, nn.Module)
            ):
                return self.enter(function, function.__self__, node, arguments, named)
        elif isinstance(node.func, ast.Name) and node.func.id in self.tracked:
            self.tracked[node.func.id].usage.role("callable")
            return None
        if isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple") and len(arguments) == 1:
            return arguments[0]
        if is_own_function(followed := self.named_globally(node.func)):
            return self.enter(followed, None, node, arguments, named)
        return self.function_of_torch(node, arguments, named)

    def sizes_in(self, node: ast.Call) -> None:
        """`rearrange(x, "b (h w) c -> b c h w", h=h, w=w)` and `x.split([1, h * w], 1)` take numbers for sizes."""
        name = read.name_of(node.func)
        sizes = [item.value for item in node.keywords if item.arg] if name in _OF_EINOPS else []
        lists = (item for item in node.args if isinstance(item, ast.List | ast.Tuple)) if name == "split" else ()
        self.numbers_in([*sizes, *(size for item in lists for size in item.elts)])

    def numbers_in(self, sizes: list[ast.expr]) -> None:
        """Learns that arguments are numbers of which sizes are made."""
        while sizes:
            size = sizes.pop()
            if isinstance(size, ast.BinOp):
                sizes += [size.left, size.right]
            elif isinstance(size, ast.Name) and size.id in self.tracked and not self.tracked[size.id].steps:
                self.tracked[size.id].usage.role("number")

    def call_module(
        self, module: nn.Module, node: ast.Call, arguments: list[Tracked | None], named: dict[str, Tracked | None]
    ) -> Tracked | None:
        """Learns what the module takes; gives back the value where the module keeps its rank."""
        if is_passing(module):
            return arguments[0] if arguments else None
        known, of_torch = False, type(module).__module__.partition(".")[0] == "torch"
        offsets = isinstance(module, nn.EmbeddingBag) and (len(arguments) > 1 or "offsets" in named)
        for position, tracked in enumerate(arguments):
            if tracked is not None:
                specs = accepted(module, position) if not offsets else [TensorSpec(("BT"[position == 0],), "int64")]
                known = known or bool(specs)
                if position == 1 and isinstance(module, nn.LSTM | nn.LSTMCell) and not tracked.steps:
                    tracked.usage.count = 2
                    for index in range(2):
                        Tracked(tracked.usage.part(index)).takes(specs)
                elif specs or of_torch:
                    tracked.takes(specs)
        tracked = arguments[0] if arguments else None
        if not known and not of_torch:
            return self.enter(module.forward, module, node, arguments, named)
        if isinstance(module, nn.Sequential) and not known:
            first = next((part for part in module if not is_passing(part)), None)
            if first is not None:
                self.call_module(first, node, arguments, named)
        elif isinstance(module, nn.Flatten) and tracked is not None and module.start_dim == 1:
            return tracked.after(ShapeStep("flatten", (1,)))
        if isinstance(module, nn.Embedding) and tracked is not None:
            return tracked.after(ShapeStep("embed"))
        keeps = isinstance(module, _KEEP_RANK)
        if keeps and tracked is not None and not isinstance(module, nn.Sequential):
            return tracked.after(ShapeStep("mapped")) if not isinstance(module, nn.LayerNorm) else tracked
        return None

    def enter(
        self,
        function: Any,
        owner: nn.Module | None,
        node: ast.Call,
        arguments: list[Tracked | None],
        named: dict[str, Tracked | None],
    ) -> Tracked | None:
        """Follows the arguments into another function of the model, or of the project, which has no `owner`.

        What that gives back is told where all its `return`s give the same.
        """
        if self.depth >= DEEPEST or not any((*arguments, *named.values())):
            return None
        tree = function_tree(function)
        if tree is None:
            return None
        parameters = [item.arg for item in (*tree.args.posonlyargs, *tree.args.args)][owner is not None :]
        bound = {name: value for name, value in zip(parameters, arguments, strict=False) if value is not None}
        bound.update({name: value for name, value in named.items() if value is not None})
        inner = type(self)(owner, self.budget, self.depth + 1)
        given = dict(zip(parameters, node.args, strict=False))
        given.update({item.arg: item.value for item in node.keywords if item.arg is not None})
        for name, argument in given.items():
            part = self.module(argument) if name not in bound else None
            if part is not None:
                inner.modules[name] = part
        inner.function(tree, bound, function)
        first, *others = inner.returned or [None]
        return first if all(first is not None and first.is_same(other) for other in others) else None

    def method(self, tracked: Tracked, node: ast.Call) -> Tracked | None:
        """A method of the argument itself: `x.transpose(1, 2)`."""
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        if tracked.usage.kind is not None:
            return tracked if name in ("to", "cuda", "cpu", "clone", "detach", "float") else None
        if name in ("items", "keys", "values", "get", "pop") and not tracked.steps:
            if name in ("get", "pop") and node.args and isinstance(node.args[0], ast.Constant):
                key = node.args[0].value
                return Tracked(tracked.usage.part(key)) if isinstance(key, str) else None
            tracked.usage.mapped |= not node.args
            return tracked if name == "values" else None
        if name == "update" and not tracked.steps:
            given = node.args[0].keys if node.args and isinstance(node.args[0], ast.Dict) else []
            keys = [*(key for key in map(self.key, filter(None, given)) if key), *(item.arg for item in node.keywords)]
            tracked.usage.own_keys.update(filter(None, keys))
            return None
        tracked.usage.role("tensor")
        if name in ("view", "reshape", "unflatten"):
            for size in (self.value(item) for item in node.args):
                if size is not None and size is not tracked and not size.steps:
                    size.usage.role("number")
        other = self.value(node.args[0]) if name in ("expand_as", "view_as", "reshape_as") and node.args else None
        if other is not None:
            other.usage.role("tensor")
            self.budget.alike += [(tracked, other)] if name == "expand_as" else []
            return Tracked(other.usage, other.steps, other.peers)
        if name in ("add", "sub", "mul") and node.args:
            self.broadcast(tracked, self.attribute_shape(node.args[0]))
        return self.shape_change(tracked, name, node.args, node.keywords)

    def function_of_torch(
        self, node: ast.Call, arguments: list[Tracked | None], named: dict[str, Tracked | None]
    ) -> Tracked | None:
        """`F.cross_entropy(x, y)`, `torch.cat([x, y], -1)`, `einsum("bnd,bmd->bnm", x, y)`."""
        name = read.name_of(node.func)
        if isinstance(node.func, ast.Call):
            name = OF_LOSSES.get(read.name_of(node.func.func), "")
        if name in ("cat", "concat", "concatenate") and node.args and isinstance(node.args[0], ast.List | ast.Tuple):
            return self.joined([self.value(item) for item in node.args[0].elts], node)
        if name == "rearrange" and len(node.args) > 1 and arguments and arguments[0] is not None:
            rank = read.rank_of_pattern(node.args[1])
            if rank is not None:
                self.rank(arguments[0], rank, exact=True)
            return None
        if name == "einsum" and node.args:
            for rank, tracked in zip(read.ranks_of_einsum(node.args[0]), arguments[1:], strict=False):
                if tracked is not None:
                    self.rank(tracked, rank, exact=True)
            return None
        if name == "pack_padded_sequence":
            for tracked in (*arguments[1:2], named.get("lengths")):
                if tracked is not None:
                    tracked.takes([TensorSpec(("B",), "int64", filled="T")])
            return None
        if name in INDEXING:
            for tracked in (*arguments, *named.values()):
                if tracked is not None and tracked is not (arguments[0] if name not in ("one_hot",) else None):
                    tracked.usage.indexes = True
        for position, dims, dtype in FUNCTIONS.get(name, ()):
            given = position < len(arguments)
            tracked = arguments[position] if given else named.get(name_of(name, position))
            if tracked is not None:
                tracked.takes([TensorSpec(dims, dtype)])
        first = arguments[0] if arguments else None
        if first is not None and name and name != "len":
            return self.shape_change(first, name, node.args[1:], node.keywords)
        return None


def _is_of_a_model(function: Any) -> bool:
    """Whether something is a method that a model's own class defines: those of all modules only keep what they get."""
    if not inspect.ismethod(function) or not isinstance(function.__self__, nn.Module):
        return False
    return getattr(nn.Module, function.__name__, None) is not function.__func__
