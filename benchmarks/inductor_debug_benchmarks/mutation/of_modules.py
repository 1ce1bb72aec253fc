"""Mistakes about modules: features, kernels and paddings that are off by one, and arguments in the wrong order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from inductor_debug_benchmarks.mutation.mutated_source import MutationEdit
from inductor_debug_benchmarks.mutation.mutation_registry import (
    Site,
    argument,
    called,
    constructed,
    number,
    one_more,
    operator,
)

_LAYER = re.compile(r"(Lazy)?(Linear|Conv(Transpose)?\dd|LSTM|GRU|RNN|(LSTM|GRU|RNN)Cell|Conv1D)")
_NORM = re.compile(r"(Layer|Batch|Instance|RMS)Norm\w*")
_WINDOW = re.compile(r"Conv(Transpose)?\dd|(Max|Avg)Pool\dd|(max|avg)_pool\dd|conv(_transpose)?\dd")


@operator("features off by one")
def _features_off_by_one(site: Site) -> Iterator[MutationEdit]:
    node = site.node
    if not isinstance(node, ast.Call):
        return
    name = constructed(node)
    widths = 2 if _LAYER.fullmatch(name) else 1 if _NORM.fullmatch(name) else 0
    for keywords, position in ((("in_features", "in_channels"), 0), (("out_features", "out_channels"), 1))[:widths]:
        found = [item for word in keywords if (item := argument(node, word, position)) is not None]
        if found and not isinstance(found[0], ast.Starred | ast.List | ast.Tuple):
            yield site.source.exchanged(node, (found[0], one_more(site.source, found[0])))


@operator("window off by one")
def _window_off_by_one(site: Site) -> Iterator[MutationEdit]:
    """A kernel, stride or padding of a convolution or of pooling."""
    node = site.node
    if not isinstance(node, ast.Call) or not _WINDOW.fullmatch(constructed(node)):
        return
    pooling = "ool" in called(node)
    for position, keyword in enumerate(("kernel_size", "stride", "padding"), start=0 if pooling else 2):
        item = argument(node, keyword, position + (called(node)[0].islower() and pooling))
        if item is not None and not isinstance(item, ast.Tuple | ast.List | ast.Constant | ast.Starred):
            yield site.source.exchanged(node, (item, one_more(site.source, item)))
        elif item is not None and (value := number(item)) is not None:
            yield site.source.exchanged(node, (item, str(value + 1)))
            if value > 1 or (value == 1 and keyword == "padding"):
                yield site.source.exchanged(node, (item, str(value - 1)))


@operator("arguments exchanged")
def _arguments_exchanged(site: Site) -> Iterator[MutationEdit]:
    """The first two arguments of a call; those of `view` and its like are dims, and another operator's."""
    node = site.node
    if not isinstance(node, ast.Call) or len(node.args) < 2 or called(node) in _OTHERS:
        return
    first, second = node.args[:2]
    one, other = site.source.quoted(first), site.source.quoted(second)
    if one != other and not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
        yield site.source.exchanged(node, (first, other), (second, one))


_OTHERS = frozenset(
    (
        *("view", "reshape", "permute", "transpose", "swapaxes", "expand", "repeat", "unflatten", "max", "min"),
        *("isinstance", "getattr", "setattr", "hasattr", "zip", "range", "super", "print", "add", "mul"),
    )
)
"""Calls whose arguments are dims, commute, or are Python's own."""
