"""What the code of a class asks of its constructor's arguments: a list, a text of these, a configuration with fields.

Reads syntax only, in all methods of the class, and follows arguments that are handed on to other classes of the file.
Where the code says nothing, nothing is claimed, and `invention` goes by the name.
"""

from __future__ import annotations

import ast
import copy
import inspect
import math
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.construction import annotated
from inductor_debug.capture.inference.construction.demand import CallForm, Demand
from inductor_debug.capture.inference.construction.number_conditions import condition_on, tests_of
from inductor_debug.capture.inference.construction.required_types import needed_by, roles_required_by
from inductor_debug.capture.inference.construction.signatures import mangled
from inductor_debug.capture.inference.usage import expression_kinds as read
from inductor_debug.capture.inference.values.function_syntax import Function, function_tree
from inductor_debug.capture.runtime import foreign

_DEEPEST = 4
_SMALL = 3
"""Numbers up to this one are rather asked for as special cases."""
_OF_SEQUENCES = frozenset(("append", "extend", "insert", "reverse", "index", "copy", "pop", "sort"))
_OF_MAPPINGS = frozenset(("items", "keys", "values", "get"))
_OF_TEXTS = frozenset(("lower", "upper", "startswith", "endswith", "split", "strip", "format"))
_KEEP_TEXTS = frozenset(("lower", "upper", "strip", "casefold"))
_OF_MODULES = frozenset(dir(nn.Module)) - {*dir(torch.Tensor), *dir(dict), *dir(list), *dir(str)}
_TAKE_TENSORS = ("Parameter", "from_pretrained")
_TAKE_SHARES = {  # at which place
    **dict.fromkeys(("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "Bernoulli"), 0),
    **dict.fromkeys(("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"), 1),
}
_TAKE_SEQUENCES = frozenset(
    ("len", "sum", "enumerate", "zip", "list", "tuple", "reversed", "sorted", "cumsum", "prod", "ModuleList")
)
_KEEP_ITEMS = frozenset(("ModuleList", "list", "tuple", "reversed", "sorted"))
_TAKE_INTEGERS = {
    **dict.fromkeys(("Linear", "Embedding", "LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "MultiheadAttention"), 2),
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"), 2),
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm2d"), 1),
    **dict.fromkeys(("LayerNorm", "RMSNorm", "LazyLinear", "LazyConv2d", "LazyConv1d", "range"), 1),
    **dict.fromkeys(("zeros", "ones", "empty", "randn", "rand", "eye"), 6),
}


def demands(kind: Any, depth: int = 0, method: str = "__init__") -> dict[str, Demand]:
    """What a class asks of each argument of its constructor, or of a method; empty where its source is not known."""
    constructor = inspect.getattr_static(kind, method)
    tree = function_tree(constructor)
    if tree is None or not tree.args.args:
        return {}
    every = (*tree.args.args[1:], *tree.args.kwonlyargs)
    found, others = {item.arg: Demand() for item in every}, {item.arg: Demand() for item in (tree.args.kwarg,) if item}
    globals_of = foreign.globals_of(foreign.plain_function(constructor))
    reader = _Reader(found | others, tree.args.args[0].arg, globals_of, depth, kind=kind)
    reader.defaults = _numbers_by_default(tree.args)
    reader.read(tree)
    for item in every:
        if read.is_tuple(item.annotation):
            found[item.arg].takes_on("tuple")
    if tree.args.kwarg is not None and depth < _DEEPEST:
        found |= {name: asked for name, asked in _asked_by_base(kind, depth).items() if name not in found}
    for name, function in _methods_of(kind):
        other = function_tree(function) if name != method and inspect.isfunction(function) else None
        if other is not None and other.args.args:
            _Reader({}, other.args.args[0].arg, globals_of, depth, reader.attributes).read(other)
    # Last, for the others are known by their places, too.
    return {mangled(name, constructor): asked for name, asked in (found | others).items()}


def _methods_of(kind: Any) -> Iterator[tuple[str, Any]]:
    """The methods of a class and of its bases, but those of torch's and Python's, each name once."""
    seen: set[str] = set()
    for owner in kind.__mro__:
        if foreign.module_name(owner).partition(".")[0] not in ("torch", "builtins", "abc", "typing"):
            for name, function in vars(owner).items():
                if name not in seen:
                    seen.add(name)
                    yield name, function


def _asked_by_base(kind: Any, depth: int) -> dict[str, Demand]:
    """What the constructor asks that a class's own, which it may inherit, calls; empty where it is torch's."""
    base = [*(item for item in kind.__mro__ if "__init__" in vars(item)), nn.Module, nn.Module][1]
    return {} if foreign.module_name(base).startswith(("torch.", "builtins")) else demands(base, depth + 1)


def _numbers_by_default(arguments: ast.arguments) -> dict[str, int]:
    """The arguments whose defaults are written whole numbers."""
    positional = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    pairs = [*zip(positional, arguments.defaults, strict=True)]
    pairs += [(item, value) for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return {item.arg: number for item, value in pairs if (number := read.integer(value)) is not None}


class _Defaulted(ast.NodeTransformer):
    """Writes defaults in place of names, in what nobody else reads."""

    def __init__(self, defaults: Mapping[str, int]) -> None:
        self._defaults = defaults

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """One name."""
        known = self._defaults.get(node.id)
        return node if known is None else ast.copy_location(ast.Constant(known), node)


class _Reader:
    """Reads one method. `names` are the arguments, `attributes` those that the instance keeps under a name.

    Arguments that are handed on to other methods of `kind` are followed there.
    """

    def __init__(
        self,
        names: dict[str, Demand],
        itself: str,
        namespace: Mapping[str, Any],
        depth: int,
        attributes: dict[str, Demand] | None = None,
        kind: Any = None,
    ) -> None:
        self.names, self.itself, self.namespace, self.depth, self.kind = names, itself, namespace, depth, kind
        self.attributes = attributes if attributes is not None else {}
        self.is_constructor = kind is not None
        self.defaults: dict[str, int] = {}
        """Numbers that arguments are by default: what is asked of others beside them is asked with these."""
        self.items: set[str] = set()
        """Names of items of sequences: what is called under such a name is no factory."""

    def read(self, tree: Function) -> None:
        """Reads a definition, statement by statement, so that a name that is bound anew is forgotten."""
        for statement in tree.body:
            for argument in needed_by(statement) if self.is_constructor else ():
                self.claim(argument, "needed")
            for node in ast.walk(statement):
                self.note(node)
            for node in ast.walk(statement):
                if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    for target in targets:
                        self.bind(target, node.value)

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        """`self.width = width` keeps it, `width = width // 2` makes it something else."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for one, item in zip(target.elts, value.elts, strict=True):
                self.bind(one, item)
            return
        demand = self.demand(value)
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            if target.value.id == self.itself and demand is not None:
                self.attributes[target.attr] = demand
        elif isinstance(target, ast.Name):
            if demand is not None:
                self.names[target.id] = demand
            elif not isinstance(value, ast.IfExp | ast.BoolOp):
                self.names.pop(target.id, None)

    def demand(self, node: ast.expr | None) -> Demand | None:
        """The demand that an expression's value is under, if it is an argument or a field of one."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == self.itself:
                return self.attributes.get(node.attr)
            owner = self.given(node.value)
            known = _OF_SEQUENCES | _OF_MAPPINGS | _OF_TEXTS | _OF_MODULES
            return owner.of(node.attr) if owner is not None and node.attr not in known else None
        if isinstance(node, ast.Subscript) and (owner := self.demand(node.value)) is not None:
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(key, str):
                return owner.of(key)
            if isinstance(node.slice, ast.Slice):  # a part of a list or a text is asked for the same
                return owner
            return owner.each() if isinstance(node.slice, ast.Name) else None
        if isinstance(node, ast.Call) and read.name_of(node.func) in _KEEP_ITEMS and len(node.args) == 1:
            return self.demand(node.args[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
            if node.func.attr in _KEEP_TEXTS:  # `kind = kind.lower()` is asked for the same words
                return self.demand(node.func.value)
            called = self.demand(node.func)
            return called.given_back() if called is not None else None
        if isinstance(node, ast.IfExp) and isinstance(node.orelse, ast.Constant) and node.orelse.value is None:
            return self.demand(node.body)
        return None

    def go_round(self, target: ast.expr, items: ast.expr) -> None:
        """In `for layer in layers` and `for one, other in zip(ones, others)`, what is done with each is asked of it."""
        called = read.name_of(items.func) if isinstance(items, ast.Call) else ""
        if isinstance(items, ast.Call) and called == "enumerate" and isinstance(target, ast.Tuple) and items.args:
            self.go_round(target.elts[-1], items.args[0])
        elif isinstance(items, ast.Call) and called == "zip" and isinstance(target, ast.Tuple):
            for one, several in zip(target.elts, items.args, strict=False):
                self.go_round(one, several)
        elif (demand := self.demand(items)) is not None:
            self.bind_item(target, demand.each())

    def bind_item(self, target: ast.expr, demand: Demand) -> None:
        """Calls the items of a sequence as a loop does."""
        if isinstance(target, ast.Name):
            self.names[target.id] = demand
            self.items.add(target.id)
        elif isinstance(target, ast.Tuple):
            demand.unpacked, demand.count = True, max(demand.count, len(target.elts))
            for one in target.elts:
                self.bind_item(one, demand.each())

    def note(self, node: ast.AST) -> None:
        """Takes down what one node says."""
        for argument, role in roles_required_by(node):
            self.claim(argument, role)
        for test, holds in tests_of(node):
            met = condition_on(self.with_defaults(test), holds, self.demand) or condition_on(test, holds, self.demand)
            if met is not None:
                met[0].conditions.append(met[1])
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            self.attribute(node)
        elif isinstance(node, ast.Subscript):
            self.subscript(node)
        elif isinstance(node, ast.For | ast.comprehension):
            self.claim(node.iter, "sequence")
            if isinstance(node, ast.For):
                self.go_round(node.target, node.iter)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            # Before the expression that is walked with it.
            for generator in node.generators:
                self.go_round(generator.target, generator.iter)
        elif isinstance(node, ast.Starred):
            self.claim(node.value, "sequence")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple | ast.List):
            count = len(node.targets[0].elts)
            called = self.demand(node.value.func) if isinstance(node.value, ast.Call) else None
            if called is not None:
                called.results = max(called.results, count)
            self.claim(node.value, "sequence", count)
        elif isinstance(node, ast.If | ast.IfExp):
            self.flag(node.test)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            self.claim(node.values[0], "optional")
        elif isinstance(node, ast.BinOp):
            self.operation(node)
        elif isinstance(node, ast.Compare):
            self.comparison(node)
        elif isinstance(node, ast.Call):
            self.call(node)

    def with_defaults(self, test: ast.expr) -> ast.expr:
        """A condition, with the defaults of arguments in place of these."""
        written: ast.expr = _Defaulted(self.defaults).visit(copy.deepcopy(test)) if self.defaults else test
        return written

    def claim(self, node: ast.expr | None, role: str, count: int = 0) -> None:
        """Takes down a role of an expression's value, if that is an argument."""
        demand = self.demand(node)
        if demand is not None:
            demand.takes_on(role)
            demand.count = max(demand.count, count)

    def attribute(self, node: ast.Attribute) -> None:
        """`config.width` is asked of a configuration, `sizes.append` of a list."""
        self.demand(node)
        for names, role in (
            (_OF_SEQUENCES, "sequence"),
            (_OF_MAPPINGS, "mapping"),
            (_OF_TEXTS, "text"),
            (_OF_MODULES, "module"),
        ):
            if node.attr in names:
                self.claim(node.value, role)
                if node.attr in ("items", "keys", "values"):
                    self.claim(node.value, "keyed")
                return
        if not node.attr.startswith("__"):
            self.claim(node.value, "configuration")
            if self.is_constructor:
                self.claim(node.value, "opened")

    def subscript(self, node: ast.Subscript) -> None:
        """`sizes[0]`, `sizes[i + 1]` and `sizes[1:]` tell a list, `config["width"]` a dict, `KINDS[kind]` a text."""
        if isinstance(node.ctx, ast.Load):  # what is set need not be there
            self.demand(node)
        index = read.integer(node.slice)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            self.claim(node.value, "mapping")
        elif isinstance(node.slice, ast.Tuple):
            return
        else:
            self.claim(node.value, "sequence", 0 if index is None else index + 1 if index >= 0 else -index)
        demand = self.demand(node.slice)
        if demand is not None and not self.looked_up(demand, node.value):
            demand.takes_on("index")

    def looked_up(self, demand: Demand, where: ast.expr) -> bool:
        """`KINDS[kind]` and `{"batch": nn.BatchNorm1d}.get(kind)` tell which texts; whether they do."""
        table = self.namespace.get(where.id) if isinstance(where, ast.Name) else None
        keys = list(table) if isinstance(table, dict) else []
        if isinstance(where, ast.Dict):
            keys = [item.value for item in where.keys if isinstance(item, ast.Constant)]
        self.compared(demand, keys)
        return bool(keys)

    def comparison(self, node: ast.Compare) -> None:
        """`kind == "gru"` and `kind in ("lstm", "gru")` tell which texts."""
        for kind, value in zip(node.ops, node.comparators, strict=True):
            if isinstance(kind, ast.Is | ast.IsNot) and isinstance(value, ast.Constant) and value.value is None:
                self.claim(node.left, "optional")
            if not isinstance(kind, ast.Eq | ast.In | ast.NotEq | ast.NotIn):
                continue
            if isinstance(kind, ast.In | ast.NotIn) and not isinstance(node.left, ast.Constant):
                self.claim(value, "sequence")
            for side, other in ((node.left, value), (value, node.left)):
                if _is_size(other):
                    self.claim(side, "number")
            items = value.elts if isinstance(value, ast.Tuple | ast.List | ast.Set) else [value]
            demand = self.demand(node.left)
            if demand is not None:
                written = [item.value for item in items if isinstance(item, ast.Constant)]
                self.compared(demand, written or self.listed(value))
                if isinstance(kind, ast.Eq | ast.NotEq) and isinstance(value, ast.List):
                    demand.lists += [numbers] if (numbers := _numbers(value)) else []

    def listed(self, node: ast.expr) -> list[Any]:
        """What stands in a list, a tuple or a dict of the file that has a name."""
        value = self.namespace.get(node.id) if isinstance(node, ast.Name) else None
        return list(value) if isinstance(value, list | tuple | dict) else []

    @staticmethod
    def compared(demand: Demand, values: list[Any]) -> None:
        """Takes down the texts among some values."""
        for text in values:
            if isinstance(text, str):
                demand.takes_on("text")
                demand.texts.append(text)
            elif isinstance(text, int) and not isinstance(text, bool) and text > _SMALL:
                demand.numbers.append(text)

    def flag(self, test: ast.expr) -> None:
        """`if individual` and `if not bias and bidirectional` tell flags."""
        if isinstance(test, ast.BoolOp):
            for item in test.values:
                self.flag(item)
        else:
            self.claim(test.operand if isinstance(test, ast.UnaryOp) else test, "flag")

    def operation(self, node: ast.BinOp) -> None:
        """`width // 2` and `width % heads` tell whole numbers, `3 * width` a number, `[width] + sizes` a list."""
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            for side in (node.left, node.right):
                if not isinstance(node.left, ast.Constant | ast.JoinedStr):
                    self.claim(side, "integer")
            if isinstance(node.op, ast.FloorDiv) and (divided := self.demand(node.left)) is not None:
                divided.divisor = math.lcm(divided.divisor, read.integer(node.right) or 1)
        elif isinstance(node.op, ast.Mult | ast.Div | ast.Sub | ast.Pow):
            for side, other in ((node.left, node.right), (node.right, node.left)):
                if not isinstance(other, ast.List | ast.Tuple):
                    self.claim(side, "number")
        elif isinstance(node.op, ast.Add):
            for side, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(other, ast.Constant) and isinstance(other.value, str):
                    self.claim(side, "text")
                if isinstance(other, ast.List | ast.Tuple):
                    self.claim(side, "sequence")

    def call(self, node: ast.Call) -> None:
        """What is called, and what it is given."""
        name = read.name_of(node.func)
        own = isinstance(node.func, ast.Attribute) or (isinstance(node.func, ast.Name) and node.func.id in self.items)
        self.claim(node.func, "callable" if own else "factory")
        if (called := self.demand(node.func)) is not None:
            unpacked = any(isinstance(item, ast.Starred) for item in node.args)
            called.arguments |= len(node.args) > 1 or bool(node.keywords) or unpacked
            named = tuple(item.arg for item in node.keywords if item.arg)
            if not unpacked and len(named) == len(node.keywords):
                called.calls.append(CallForm(len(node.args), named))
        if name == "range" and node.args:
            self.repeated(node.args[-1] if len(node.args) < 3 else node.args[1])
        for position, argument in enumerate(node.args):
            if position < _TAKE_INTEGERS.get(name, 0):
                self.claim(argument, "integer")
            if name in _TAKE_SEQUENCES:
                self.claim(argument, "sequence")
            if position == _TAKE_SHARES.get(name):
                self.claim(argument, "share")
            if position == 0 and name in _TAKE_TENSORS:
                self.claim(read.table_of(argument) if name == "from_pretrained" else argument, "tensor")
            if position == 0 and name == "from_numpy":
                self.claim(argument, "array")
            if name == "ModuleList" and (asked := self.demand(argument)) is not None:
                asked.each().takes_on("callable")
        if name == "get" and isinstance(node.func, ast.Attribute) and node.args:
            owner, key = self.demand(node.func.value), node.args[0]
            has_default = len(node.args) > 1
            if owner is not None and isinstance(key, ast.Constant) and isinstance(key.value, str) and not has_default:
                owner.of(key.value)
            elif (demand := self.demand(key)) is not None:
                self.looked_up(demand, node.func.value)
        for item in node.keywords:
            if item.arg is None and (table := self.demand(item.value)) is not None:
                self.unpack(table, node)
        given = (*node.args, *(item.value for item in node.keywords))
        if self.depth < _DEEPEST and any(self.given(item) is not None for item in given):
            self.handed_on(self.asked_by(node.func), node)

    def unpack(self, demand: Demand, node: ast.Call) -> None:
        """`Part(width, **settings)` asks of a dict for what the call does not give."""
        demand.takes_on("mapping")
        asked = self.asked_by(node.func) if self.depth < _DEEPEST else {}
        for name in list(asked)[len(node.args) :]:
            if not any(item.arg == name for item in node.keywords):
                demand.of(name).adds(asked[name])

    def asked_by(self, called: ast.expr) -> dict[str, Demand]:
        """What another class or function of the project, or another method of this one, asks of what it is given."""
        if isinstance(called, ast.Attribute) and called.attr == "__init__" and self.kind is not None:
            return _asked_by_base(self.kind, self.depth)
        if isinstance(called, ast.Attribute):
            base = called.value.id if isinstance(called.value, ast.Name) else ""
            if isinstance(owner := self.namespace.get(base), ModuleType):
                return self.asked_by_definition(foreign.namespace(owner).get(called.attr))
            return self.asked_by_method(called.attr) if base == self.itself and self.kind is not None else {}
        return self.asked_by_definition(self.namespace.get(called.id) if isinstance(called, ast.Name) else None)

    def asked_by_definition(self, kind: Any) -> dict[str, Demand]:
        """What a class of modules, or a function, of the project asks of what it is given; empty for anything else."""
        if inspect.isfunction(kind) and annotated.is_in_project(kind):
            return self.asked_by_function(kind)
        known = foreign.is_a(kind, type) and issubclass(kind, nn.Module)
        return demands(kind, self.depth + 1) if known and not foreign.module_name(kind).startswith("torch.") else {}

    def asked_by_method(self, name: str) -> dict[str, Demand]:
        """What another method asks of its arguments; empty where it is no plain one."""
        method = inspect.getattr_static(self.kind, name, None)
        if isinstance(method, staticmethod):
            return self.asked_by_function(method.__func__, decorated=True)
        tree = function_tree(method)
        if tree is None or not tree.args.args or tree.decorator_list:
            return {}
        found = {item.arg: Demand() for item in (*tree.args.args[1:], *tree.args.kwonlyargs)}
        itself = tree.args.args[0].arg
        _Reader(dict(found), itself, self.namespace, self.depth + 1, self.attributes, self.kind).read(tree)
        return found

    def asked_by_function(self, function: Any, *, decorated: bool = False) -> dict[str, Demand]:
        """What a function asks of its arguments; `decorated` says that it may be as a static method is."""
        tree = function_tree(function)
        if tree is None or len(tree.decorator_list) > decorated:
            return {}
        found = {item.arg: Demand() for item in (*tree.args.args, *tree.args.kwonlyargs)}
        _Reader(dict(found), "", foreign.globals_of(function), self.depth + 1).read(tree)
        return found

    def repeated(self, node: ast.expr) -> None:
        """`range(depth)`, `range(1, depths[0] + 1)`: so often something is made."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            self.repeated(node.left)
            self.repeated(node.right)
        elif isinstance(node, ast.Subscript) and not isinstance(getattr(node.slice, "value", None), str):
            if (several := self.demand(node.value)) is not None:
                several.each().takes_on("repetitions")
        else:
            self.claim(node, "repetitions")

    def handed_on(self, asked: dict[str, Demand], node: ast.Call) -> None:
        """What another class asks of the arguments that it is given."""
        given = dict(zip(asked, node.args, strict=False))
        given.update({item.arg: item.value for item in node.keywords if item.arg in asked})
        for name, argument in given.items():
            demand = self.given(argument)
            if demand is not None:
                demand.adds(asked[name])

    def given(self, argument: ast.expr) -> Demand | None:
        """The demand that what is handed on is under: of `sizes[0]` that on each item."""
        if isinstance(argument, ast.Subscript) and read.integer(argument.slice) is not None:
            several = self.demand(argument.value)
            return several.each() if several is not None else None
        return self.demand(argument)


def _numbers(node: ast.List) -> list[Any]:
    """A list of written numbers; empty where it is something else."""
    values = [item.value for item in node.elts if isinstance(item, ast.Constant)]
    return values if len(values) == len(node.elts) and all(type(value) in (int, float) for value in values) else []


def _is_size(node: ast.expr) -> bool:
    """Whether an expression is a size of a tensor: `x.shape[1]`, `x.size(1)`."""
    if isinstance(node, ast.Call):
        return read.name_of(node.func) == "size" and len(node.args) == 1
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
