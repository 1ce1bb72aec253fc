"""Images that come as rows of patches, beside a grid that says how the patches lie (`grid_thw`, `spatial_shapes`).

A grid is looked at as numbers, and the rows are as many as it says: those of one image. Where patches lie may also be
said of each patch (`pixel_position_ids`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from inductor_debug.capture.inference.specs.specs import Spec, TensorSpec

_GRID = re.compile(r"(?:\w+_)?(?:grid_(?P<axes>t?hws?)|(?:spatial|patch|image|target)_(?P<sizes>shapes|sizes))")
_PATCHES = ("pixel_values", "hidden_states", "patches")
_MASKS = ("pixel_attention_mask", "patch_attention_mask", "padding_mask")
_POSITIONS = ("pixel_position_ids", "patch_position_ids", "image_position_ids")
_MERGED = ("merge_sizes",)
_MERGES = ("spatial_merge_size", "merge_size", "merge_kernel_size", "downsample_factor", "pooling_kernel_size")
_LEAST_SIDE = 4
"""Patches along each axis of a grid, in merging encoders some times as many as are merged into one."""


def grid_axes(name: str) -> int:
    """How many numbers an argument called `name` says of each image; zero where it is no grid."""
    match = _GRID.fullmatch(name)
    return 0 if match is None else 3 if (match["axes"] or "").startswith("t") else 2


def patched_inputs(arguments: Iterable[str], config: Any, channels: int) -> dict[str, list[Spec]]:
    """What arguments of a model are where one of them says how patches lie; empty where none does.

    Args:
        arguments: their names.
        config: the configuration of what looks at the images.
        channels: those of an image.
    """
    names = list(arguments)
    axes = max(map(grid_axes, names), default=0)
    patch = _first(config, ("patch_size",))
    if patch is None or not (axes or any(name in _POSITIONS for name in names)):
        return {}
    merge = _first(config, _MERGES) or 1
    side = max(_LEAST_SIDE, 2 * merge)
    rows = side * side
    values = channels * patch * patch * (_first(config, ("temporal_patch_size",)) or 1)
    packed = [(rows, values), (rows, channels, patch, patch), (1, rows, channels, patch, patch)]
    batched = [(1, rows, values), (1, channels, patch, rows * patch)]
    ordered = [*packed, *batched, (rows, merge * patch, merge * patch, channels)] if axes > 2 else [*batched, *packed]
    found: dict[str, list[Spec]] = {}
    for name in names:
        if grid_axes(name):
            found[name] = [TensorSpec((1, grid_axes(name)), "int64", (1, side, side)[-grid_axes(name) :])]
        elif name in _POSITIONS:
            found[name] = [TensorSpec((1, rows, 2), "int64")]
        elif name in _MERGED:
            found[name] = [TensorSpec((1,), "int64", merge)]
        elif name in _PATCHES:
            found[name] = [TensorSpec(dims) for dims in ordered]
        elif name in _MASKS:
            found[name] = [TensorSpec((1, rows), "int64", 1), TensorSpec((1, rows), "bool")]
    return found


def _first(config: Any, names: tuple[str, ...]) -> int | None:
    for name in names:
        value = getattr(config, name, None)
        value = value[0] if isinstance(value, list | tuple) and value else value
        if isinstance(value, int) and value > 0:
            return value
    return None
