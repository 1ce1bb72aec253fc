"""Mistakes about shapes: dimensions that are forgotten, exchanged, joined or split in the wrong place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from inductor_debug_benchmarks.mutation.mutated_source import MutatedSource, MutationEdit
from inductor_debug_benchmarks.mutation.mutation_registry import (
    Site,
    argument,
    called,
    is_library,
    is_method_call,
    number,
    one_more,
    operator,
    receiver,
)

_TURNING = ("transpose", "permute", "t", "swapaxes", "movedim")
_LAYING_OUT = ("view", "reshape", "unflatten")
_JOINING = ("cat", "concat", "concatenate", "stack")


def _without_call(site: Site, names: tuple[str, ...]) -> Iterator[MutationEdit]:
    """Leaves out a call that only looks at its tensor in another way: `x.name(…)` and `torch.name(x, …)` become `x`."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in names:
        if is_method_call(node):
            yield site.source.replaced(node, receiver(site.source, node))
        elif node.args and isinstance(node.func, ast.Attribute) and not isinstance(node.args[0], ast.Starred):
            yield site.source.replaced(node, f"({site.source.quoted(node.args[0])})")


@operator("transpose dropped")
def _transpose_dropped(site: Site) -> Iterator[MutationEdit]:
    yield from _without_call(site, _TURNING)
    match site.node:
        case ast.Attribute(value=value, attr="T" | "mT") if not is_library(value):
            start, end = site.source.span(site.node)
            yield MutationEdit(start, end, site.source.text[start:end].rpartition(".")[0].rstrip())


@operator("dims exchanged")
def _dims_exchanged(site: Site) -> Iterator[MutationEdit]:
    """Two neighbours of a permutation or of a layout change places; a transposition turns another dim."""
    node = site.node
    if not isinstance(node, ast.Call) or not is_method_call(node):
        return
    name = called(node)
    if name in ("permute", *_LAYING_OUT):
        for first, second in pairwise(node.args):
            texts = site.source.quoted(first), site.source.quoted(second)
            if texts[0] != texts[1] and not any(isinstance(item, ast.Starred) for item in (first, second)):
                yield site.source.exchanged(node, (first, texts[1]), (second, texts[0]))
    elif name in ("transpose", "swapaxes") and len(node.args) == 2:
        one, other = map(number, node.args)
        if one is not None and other is not None:
            yield site.source.exchanged(
                node, (node.args[0], str(next(dim for dim in (one - 1, one + 1) if dim != other)))
            )


@operator("unsqueeze dropped")
def _unsqueeze_dropped(site: Site) -> Iterator[MutationEdit]:
    yield from _without_call(site, ("unsqueeze", "squeeze"))
    match site.node:
        case ast.Subscript(value=value, slice=ast.Tuple(elts=items), ctx=ast.Load()) as node:
            kept = [item for item in items if not (isinstance(item, ast.Constant) and item.value is None)]
            if 0 < len(kept) < len(items):
                start, _ = site.source.span(node)
                head = site.source.text[start : site.source.span(value)[1]]
                yield site.source.replaced(node, f"{head}[{', '.join(map(site.source.quoted, kept))}]")


@operator("joined along another dim")
def _joined_wrongly(site: Site) -> Iterator[MutationEdit]:
    node = site.node
    if isinstance(node, ast.Call) and called(node) in _JOINING:
        dim = argument(node, "dim", 1)
        value = number(dim) if dim is not None else None
        if dim is not None and value is not None:
            yield site.source.exchanged(node, (dim, str(value - 1 if value > 0 or value == -1 else value + 1)))
        elif dim is None and len(node.args) == 1:
            yield site.source.with_argument(node, "dim=1")


@operator("heads split wrongly")
def _heads_split_wrongly(site: Site) -> Iterator[MutationEdit]:
    """What is divided among heads is not, and heads and their width change places with the division gone."""
    match site.node:
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right) as node if "head" in site.source.quoted(right):
            start, _ = site.source.span(node)
            yield site.source.replaced(node, site.source.text[start : site.source.span(left)[1]])


@operator("another layout")
def _another_layout(site: Site) -> Iterator[MutationEdit]:
    """A size of `view` and its like is off by one; `flatten` begins a dimension later."""
    node = site.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    name, function = called(node), is_library(node.func.value)
    if name in ("view", "reshape"):
        for item in _sizes(node, 1 if function else 0):
            if number(item) != -1 and not isinstance(item, ast.Starred):
                yield site.source.exchanged(node, (item, one_more(site.source, item)))
    elif name == "flatten":
        first = argument(node, "start_dim", 1 if function else 0)
        if first is not None and number(first) is not None:
            yield site.source.exchanged(node, (first, one_more(site.source, first)))


def _sizes(call: ast.Call, first: int) -> list[ast.expr]:
    sizes = call.args[first:]
    return sizes[0].elts if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List) else sizes


@operator("another mask")
def _another_mask(site: Site) -> Iterator[MutationEdit]:
    """A mask has a column less, is one wider than made for, or is no longer cut to the sequence."""
    node, source = site.node, site.source
    if isinstance(node, ast.Call):
        for mask in _masks(node):
            yield source.exchanged(node, (mask, _column_less(source, mask)))
        if called(node) in ("tril", "triu") and node.args and isinstance(node.args[0], ast.Call):
            for size in _sizes(node.args[0], 0)[-1:]:
                if not isinstance(size, ast.Starred):
                    yield source.exchanged(node, (size, one_more(source, size)))
    if isinstance(node, ast.Subscript) and "mask" in source.quoted(node.value) and isinstance(node.ctx, ast.Load):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(item, ast.Slice) and item.upper is not None for item in items):
            yield source.replaced(node, source.quoted(node.value))


def _masks(call: ast.Call) -> list[ast.expr]:
    found = call.args[:1] if called(call) in ("masked_fill", "masked_fill_") and is_method_call(call) else []
    found += [item.value for item in call.keywords if item.arg is not None and "mask" in item.arg]
    return [item for item in found if not isinstance(item, ast.Constant)]


def _column_less(source: MutatedSource, mask: ast.expr) -> str:
    text = source.quoted(mask)
    plain = isinstance(mask, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return f"{text}[..., 1:]" if plain else f"({text})[..., 1:]"
