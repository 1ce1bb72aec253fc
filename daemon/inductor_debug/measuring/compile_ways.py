"""Ways to compile a model of equal layers, as its user would: which layers are equal, and the model compiled in one.

Only what torch's public interface offers is done, and all of it is taken back. Nothing is timed or judged here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from inductor_debug_schema import CompileWay
from torch import nn

from inductor_debug.capture.running.target import BuiltTarget

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
"""Classes whose `forward`, where there is one, is everybody's."""
_MISSING = object()


@dataclass(frozen=True, slots=True)
class EqualLayers:
    """Layers of one class at the same place of lists, most of which have parameters of the same shapes.

    `pattern` is their dotted path with `*` for the numbers.
    """

    pattern: str
    layers: dict[str, nn.Module]

    @property
    def kind(self) -> type[nn.Module]:
        """Their class."""
        return type(next(iter(self.layers.values())))


def equal_layers(module: nn.Module | None) -> list[EqualLayers]:
    """The stacks of equal layers of a model: the outermost ones, for what is inside them comes with them."""
    found: dict[tuple[str, type[nn.Module]], dict[str, nn.Module]] = {}
    for path, part in () if module is None else module.named_modules():
        pattern = ".".join("*" if step.isdigit() else step for step in path.split("."))
        found.setdefault((pattern, type(part)), {})[path] = part
    stacks: list[EqualLayers] = []
    inside: tuple[str, ...] = ()
    for (pattern, kind), layers in found.items():  # those around others come before them
        outer = {path: layer for path, layer in layers.items() if not path.startswith(inside)}
        if _is_worth_it(kind, outer):
            stacks.append(EqualLayers(pattern, outer))
            inside += tuple(f"{path}." for path in outer)
    return stacks


def _is_worth_it(kind: type[nn.Module], layers: dict[str, nn.Module]) -> bool:
    if len(layers) < 2 or kind in _CONTAINERS:
        return False
    if kind.__module__.startswith("torch.nn.") and not any(True for _ in next(iter(layers.values())).children()):
        return False  # one operation, which has nothing to gain
    return len(layers) >= 2 * len({_shapes(layer) for layer in layers.values()})


def _shapes(layer: nn.Module) -> tuple[object, ...]:
    tensors = [*layer.named_parameters(), *layer.named_buffers()]
    return tuple((name, tuple(tensor.shape), tensor.dtype, tensor.requires_grad) for name, tensor in tensors)


@contextlib.contextmanager
def compiled_in(way: CompileWay, target: BuiltTarget, backend: Any) -> Iterator[Callable[..., Any]]:
    """The target's function, to be called compiled; its model is as it was afterwards."""
    layers = [layer for stack in equal_layers(target.module) for layer in stack.layers.values()]
    if way in (CompileWay.EACH_LAYER, CompileWay.EACH_LAYER_DYNAMIC):
        dynamic = True if way is CompileWay.EACH_LAYER_DYNAMIC else target.dynamic
        with _each_compiled(layers, backend, dynamic):
            yield target.function
        return
    kinds = {type(layer) for layer in layers} if way is CompileWay.NESTED_REGIONS else set()
    with _marked(kinds):
        yield torch.compile(target.function, backend=backend, dynamic=target.dynamic)


@contextlib.contextmanager
def _each_compiled(layers: list[nn.Module], backend: Any, dynamic: bool | None) -> Iterator[None]:
    before = [getattr(layer, "_compiled_call_impl", None) for layer in layers]
    for layer in layers:
        layer.compile(backend=backend, dynamic=dynamic)
    try:
        yield
    finally:
        for layer, compiled in zip(layers, before, strict=True):
            layer._compiled_call_impl = compiled


@contextlib.contextmanager
def _marked(kinds: set[type[nn.Module]]) -> Iterator[None]:
    """Inside, these classes are marked as regions that are compiled once."""
    own = {kind: vars(kind).get("forward", _MISSING) for kind in kinds}
    for kind in kinds:
        kind.forward = torch.compiler.nested_compile_region(kind.forward)
    try:
        yield
    finally:
        for kind, forward in own.items():
            if forward is _MISSING:
                del kind.forward
            else:
                kind.forward = forward
