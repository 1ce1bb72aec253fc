"""A model's state between two trials: what `forward` set, replaced or collected is put back. Tensors are not copied."""

from __future__ import annotations

from typing import Any

from torch import nn

_CONTAINERS = (list, dict, set)
_REGISTRIES = ("_parameters", "_buffers", "_modules")
"""Dictionaries, but for those of TorchScript's modules, whose code sets nothing."""


class ModuleState:
    """The attributes of a module and of all modules in it, and what is in their plain containers."""

    def __init__(self, root: nn.Module) -> None:
        self._known = [(part.__dict__, _copied(part.__dict__)) for part in root.modules()]

    def restore(self) -> None:
        """Puts everything back."""
        for attributes, before in self._known:
            for name, (value, content) in before.items():
                if content is not None and not _same(value, content):
                    value.clear()
                    value.extend(content) if isinstance(value, list) else value.update(content)
                attributes[name] = value
            for name in attributes.keys() - before.keys():
                del attributes[name]


def _copied(attributes: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Attributes with a copy of what those hold that can be filled; None for the others."""
    found = {}
    for name, value in attributes.items():
        fillable = type(value) in _CONTAINERS or (name in _REGISTRIES and isinstance(value, dict))
        found[name] = (value, value.copy() if fillable else None)
    return found


def _same(value: Any, content: Any) -> bool:
    """Whether a container holds the very objects that it held; tensors are never compared by value."""
    if len(value) != len(content):
        return False
    if isinstance(value, dict):
        return all(key in value and value[key] is item for key, item in content.items())
    if isinstance(value, list):
        return all(first is second for first, second in zip(value, content, strict=True))
    return bool(value == content)
