"""Where tensors come from that no recorded op made: parameters, buffers, inputs, constants.

Looked up when an op first meets one, so that a model with a thousand parameters costs nothing for those it never uses.
"""

from __future__ import annotations

import inspect
import weakref
from typing import Any, Protocol

import torch
from torch.utils import _pytree as pytree

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.rules.recording.ops import Frame, Origin, TensorMeta


class _HasFrames(Protocol):
    def frames(self) -> tuple[Frame, ...]:
        """The frames of the op that runs now."""


class OriginTable:
    """Names and declaring frames of outside tensors. `declarations` are the target's own."""

    def __init__(self) -> None:
        self.declarations: dict[str, tuple[Frame, ...]] = {}
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], str, str, tuple[Frame, ...]]] = {}

    @classmethod
    def of_target(cls, target: BuiltTarget) -> OriginTable:
        """The table of everything that a target holds and is given."""
        table = cls()
        if target.module is not None:
            table.declarations = target.declarations
            table._add_module(target.module, target.declarations)
        table._add_inputs(target)
        return table

    def origin_of(self, tensor: torch.Tensor, meta: TensorMeta, attribution: _HasFrames) -> Origin:
        """The origin of `tensor`; one that nothing declared is a constant, placed where it is first used."""
        known = self._known.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return Origin(known[1], known[2], known[3], meta)
        return Origin("constant", "", attribution.frames(), meta)

    def known(self, tensor: torch.Tensor) -> tuple[str, str, tuple[Frame, ...]] | None:
        """Kind, name and declaring frames of `tensor`, where it was declared."""
        found = self._known.get(id(tensor))
        return found[1:] if found is not None and found[0]() is tensor else None

    def same(self, alias: torch.Tensor, tensor: torch.Tensor) -> None:
        """Lets `alias` have the origin of `tensor`."""
        known = self._known.get(id(tensor))
        if known is not None and known[0]() is tensor:
            self._known[id(alias)] = (weakref.ref(alias), *known[1:])

    def add(self, tensor: torch.Tensor, kind: str, name: str, frames: tuple[Frame, ...]) -> None:
        """Declares one tensor; the first declaration of a tensor counts."""
        if id(tensor) not in self._known:
            self._known[id(tensor)] = (weakref.ref(tensor), kind, name, frames)

    def _add_module(self, root: torch.nn.Module, declarations: dict[str, tuple[Frame, ...]]) -> None:
        for prefix, module in root.named_modules():
            dotted = prefix + "." if prefix else ""
            groups: tuple[tuple[str, dict[str, Any]], ...] = (
                ("parameter", module._parameters),
                ("buffer", module._buffers),
                ("constant", module.__dict__),
            )
            for kind, members in groups:
                for name, tensor in members.items():
                    if isinstance(tensor, torch.Tensor):
                        full = dotted + name
                        self.add(tensor, kind, full, declarations.get(full, ()))

    def _add_inputs(self, target: BuiltTarget) -> None:
        parameters = _parameter_names(target.function)
        named = [(_name_at(parameters, index), value) for index, value in enumerate(target.args)]
        for argument, value in [*named, *target.kwargs.items()]:
            for path, leaf in pytree.tree_flatten_with_path(value)[0]:
                name = argument + "".join(str(step) for step in path)
                if isinstance(leaf, torch.Tensor):
                    self.add(leaf, "input", name, target.input_frames)
                else:
                    for member, tensor in _members(leaf):
                        self.add(tensor, "input", f"{name}.{member}", target.input_frames)


def _parameter_names(function: Any) -> list[inspect.Parameter]:
    called = function.forward if isinstance(function, torch.nn.Module) else function
    return foreign.parameters(called) or []


def _name_at(parameters: list[inspect.Parameter], index: int) -> str:
    """What the function calls its positional argument `index`."""
    if index < len(parameters) and parameters[index].kind is not inspect.Parameter.VAR_POSITIONAL:
        return parameters[index].name
    return f"input {index}"


def _members(value: Any) -> list[tuple[str, torch.Tensor]]:
    """The tensors directly inside an object that pytree does not know, such as a dataclass or a batch."""
    found = foreign.namespace(value)
    data = foreign.attribute(value, "data")
    if type(data) is dict:
        found |= data
    return [(str(name), item) for name, item in found.items() if foreign.is_a(item, torch.Tensor)]
