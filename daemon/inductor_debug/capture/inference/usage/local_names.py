"""What the local names of a function stand for: tracked arguments, and modules or tensors of the built model."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.usage import expression_kinds as read
from inductor_debug.capture.inference.usage.usage import Tracked
from inductor_debug.capture.runtime import foreign

_SAME_TENSOR = ("detach", "clone", "to", "type_as", "float", "cuda", "cpu")
"""Methods after which a tensor has the shape that it had."""


@dataclass
class WalkBudget:
    """What all functions have together: how many nodes may still be looked at, and what belongs together."""

    nodes: int = 4000
    alike: list[tuple[Tracked, Tracked]] = field(default_factory=list)
    """What is added or multiplied with each other, so that it has most likely the same rank."""


class FunctionScope:
    """One function's names. Attributes are read from the instances' own dictionaries: no property is ever run."""

    def __init__(self, owner: nn.Module | None, budget: WalkBudget, depth: int = 0) -> None:
        self.owner, self.budget, self.depth = owner, budget, depth
        self.tracked: dict[str, Tracked] = {}
        self.modules: dict[str, Any] = {}
        self.globals: dict[str, Any] = {}
        self.itself: Any = None
        """The function that is walked."""
        self.numbers: dict[str, int] = {}
        """The counters of loops that are gone through one round after the other."""
        self.keys: dict[str, str] = {}
        """The same of loops over the keys of a dict of modules."""
        self.sizes: set[str] = set()
        """The names of sizes, as `b, n, c = x.shape` gives them."""
        self.returned: list[Tracked | None] = []
        """What the function gives back, by its statements that do so."""

    def index(self, node: ast.expr) -> int | None:
        """The whole number that an expression is: a literal, or the counter of a loop."""
        return self.numbers.get(node.id) if isinstance(node, ast.Name) else read.integer(node)

    def key(self, node: ast.expr) -> str | None:
        """The text that an expression is: a literal, or the key that a loop is at."""
        if isinstance(node, ast.Name):
            return self.keys.get(node.id)
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

    def module(self, node: ast.expr) -> Any:
        """The module or other attribute that `self.blocks[0].attn` is; None for anything else."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.module(node.value)
            return foreign.members_of(owner).get(node.attr) if isinstance(owner, nn.Module) else None
        if isinstance(node, ast.Subscript):
            owner = self.module(node.value)
            if isinstance(owner, nn.ModuleList | nn.Sequential) and len(owner):
                index = self.index(node.slice)
                return part_of(owner, index or 0)
            if isinstance(owner, nn.ModuleDict) and len(owner):
                key = self.key(node.slice)
                return owner[key] if key is not None and key in owner else next(iter(owner.values()))
        return None

    def named_globally(self, node: ast.expr) -> Any:
        """What a name of the function's file, or of a module that it imports, stands for; None for anything else."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self.globals.get(node.value.id)
            return foreign.namespace(owner).get(node.attr) if isinstance(owner, ModuleType) else None
        return self.globals.get(node.id) if isinstance(node, ast.Name) else None

    def inherited(self, node: ast.Attribute) -> Any:
        """The method that `super().forward` is where the function stands; None for anything else."""
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if not isinstance(called, ast.Name) or called.id != "super" or self.owner is None:
            return None
        kinds = type(self.owner).__mro__
        code = foreign.code_of(self.itself)
        homes = (at for at, kind in enumerate(kinds) for item in vars(kind).values() if foreign.code_of(item) is code)
        above = kinds[next(homes, len(kinds)) + 1 :] if code is not None else ()
        found = next((vars(kind)[node.attr] for kind in above if node.attr in vars(kind)), None)
        return found.__get__(self.owner) if inspect.isfunction(found) else None

    def attribute_shape(self, node: ast.expr) -> list[int | str] | None:
        """The shape of a parameter or buffer like `self.scale`, `self.mean.view(1, 3, 1, 1)` or `self.pe[:, :n]`.

        Sliced dimensions are unknown.
        """
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _SAME_TENSOR:
                return self.attribute_shape(node.func.value)
            written = [read.integer(item) for item in node.args] if node.func.attr in ("view", "reshape") else []
            if not written or None in written or self.attribute_shape(node.func.value) is None:
                return None
            return [size if size is not None and size > 0 else f"?{at}" for at, size in enumerate(written)]
        if isinstance(node, ast.Subscript):
            if read.inserted(node.slice):
                return self.inserted_shape(node)
            shape = self.attribute_shape(node.value)
            removed, used = read.selected(node.slice)
            if shape is None or used is None or removed or used > len(shape):
                return None
            return [f"?{index}" if index in read.cut(node.slice) else size for index, size in enumerate(shape)]
        found = self.module(node) if isinstance(node, ast.Attribute) else None
        if not isinstance(found, torch.Tensor) or found.dim() == 0:
            return None
        return [int(size) for size in found.shape]

    def inserted_shape(self, node: ast.Subscript) -> list[int | str] | None:
        """The shape of `self.mean[None, :, None, None]`, where nothing but whole dimensions is taken."""
        shape, taken = self.attribute_shape(node.value), list[int | str]()
        rest = list(shape or ())
        for item in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if isinstance(item, ast.Constant) and item.value is None:
                taken.append(1)
            elif rest and isinstance(item, ast.Slice) and item.lower is item.upper is item.step is None:
                taken.append(rest.pop(0))
            else:
                return None
        return [*taken, *rest] if shape is not None else None


def part_of(container: nn.ModuleList | nn.Sequential, index: int) -> nn.Module:
    """One of the modules in a container, the first where it has not so many: they may have names and no numbers."""
    parts = list(container)
    return parts[index] if -len(parts) <= index < len(parts) else parts[0]
