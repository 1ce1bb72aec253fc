"""What a node of an FX graph says of its own value and arguments: tensors, shape, dtype, bytes, literals.

Read off what tracing left on the node; nothing is run.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from inductor_debug.capture.tensors.metadata import dtype_name, example_of
from inductor_debug.capture.tensors.metadata import sizes as sizes_of

_LONGEST_DETAIL = 200


def values_of(node: Node) -> list[torch.Tensor]:
    """The tensors that `node` stands for, as tracing saw them; they may be fake."""
    value = node.meta.get("val", node.meta.get("example_value"))
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def described(
    values: list[torch.Tensor],
) -> tuple[list[int | str] | None, str | None, int | None]:
    """Shape and dtype of a single tensor, and the bytes of all in the call that ran; None where they are not known.

    Sizes that are symbols have the names by which users know them.
    """
    if not values:
        return None, None, None
    sizes = [_bytes(value) for value in values]
    total = sum(size for size in sizes if size is not None) if None not in sizes else None
    if len(values) > 1:
        return None, None, total
    try:
        shape = [each if isinstance(each, int) else str(each) for each in sizes_of(values[0].shape)]
    except (RuntimeError, NotImplementedError):
        shape = None
    return shape, dtype_name(values[0].dtype), total


def _bytes(value: torch.Tensor) -> int | None:
    try:
        count = value.numel()
    except (RuntimeError, NotImplementedError):
        return None
    known = count if type(count) is int else example_of(count)
    return known * value.dtype.itemsize if known is not None else None


def detail_of(node: Node) -> str:
    """The literal arguments, as they would be written; of what a backward is given, what it is."""
    if node.op == "placeholder":
        output = getattr(getattr(node.meta.get("desc"), "output", None), "idx", None)
        return "" if output is None else f"gradient of output {output}"
    if node.op == "output":
        return ""
    parts = [_literal(value) for value in node.args if not _has_nodes(value)]
    parts += [f"{key}={_literal(value)}" for key, value in node.kwargs.items() if not _has_nodes(value)]
    text = ", ".join(parts)
    return text if len(text) <= _LONGEST_DETAIL else text[: _LONGEST_DETAIL - 1] + "…"


def _has_nodes(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_nodes, value))
    if isinstance(value, dict):
        return any(map(_has_nodes, value.values()))
    return isinstance(value, Node)


def _literal(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(_literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    return str(value) if isinstance(value, (torch.dtype, torch.device, torch.layout)) else repr(value)
