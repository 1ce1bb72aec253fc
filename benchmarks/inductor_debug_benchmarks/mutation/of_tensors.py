"""Mistakes about what tensors are: their dtype and their device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_benchmarks.mutation.mutated_source import MutationEdit
from inductor_debug_benchmarks.mutation.mutation_registry import (
    Site,
    called,
    is_library,
    is_method_call,
    operator,
    receiver,
)

_CASTS = ("long", "float", "double", "half", "int", "bool")
_MAKERS = ("zeros", "ones", "arange", "full", "rand", "randn", "eye", "linspace", "tensor", "empty")


@operator("dtypes mixed")
def _dtypes_mixed(site: Site) -> Iterator[MutationEdit]:
    """One operand of a product, or what a module of the class is given, has another precision."""
    match site.node:
        case ast.BinOp(op=ast.MatMult(), left=ast.Name() as operand):
            yield site.source.replaced(operand, f"{operand.id}.double()")
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self")), args=[ast.Name() as operand, *_]) as call:
            yield site.source.exchanged(call, (operand, f"{operand.id}.double()"))
        case ast.Call(func=ast.Attribute(value=library, attr="matmul" | "bmm" | "einsum"), args=args) if is_library(
            library
        ):
            last = args[-1] if args else None
            if isinstance(last, ast.Name):
                yield site.source.exchanged(site.node, (last, f"{last.id}.half()"))


@operator("cast dropped")
def _cast_dropped(site: Site) -> Iterator[MutationEdit]:
    node = site.node
    if not isinstance(node, ast.Call) or not is_method_call(node):
        return
    plain = called(node) in _CASTS and not node.args
    to_dtype = called(node) in ("to", "type", "type_as") and len(node.args) + len(node.keywords) == 1
    if plain or to_dtype:
        yield site.source.replaced(node, receiver(site.source, node))


@operator("devices mixed")
def _devices_mixed(site: Site) -> Iterator[MutationEdit]:
    """A tensor that the class makes lies on a device of its own; `meta` is one that every machine has."""
    node = site.node
    if isinstance(node, ast.Call) and called(node) in _MAKERS and isinstance(node.func, ast.Attribute):
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "torch"):
            return
        given = [item.value for item in node.keywords if item.arg == "device"]
        if given:
            yield site.source.exchanged(node, (given[0], '"meta"'))
        else:
            yield site.source.with_argument(node, 'device="meta"')
