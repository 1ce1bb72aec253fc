"""Mistakes about names: `self` is forgotten, or an attribute misspelt."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator

from inductor_debug_benchmarks.mutation.mutated_source import MutationEdit
from inductor_debug_benchmarks.mutation.mutation_registry import Site, operator


@operator("self missing in parameters")
def _self_parameter(site: Site) -> Iterator[MutationEdit]:
    function = site.node
    if not isinstance(function, ast.FunctionDef) or site.owner is None or not function.args.args:
        return
    first, *others = function.args.args
    if first.arg != "self":
        return
    start, end = site.source.span(first)
    stop = site.source.span(others[0])[0] if others else end
    following = site.source.text[stop : stop + 1]
    if others or following == ")":
        yield MutationEdit(start, stop, "")


@operator("self missing in front")
def _self_in_front(site: Site) -> Iterator[MutationEdit]:
    match site.node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Load()) as node:
            yield site.source.replaced(node, name)


@operator("attribute misspelt")
def _attribute_misspelt(site: Site) -> Iterator[MutationEdit]:
    match site.node:
        case ast.Attribute(value=ast.Name(id="self" | "F" | "torch"), attr=name, ctx=ast.Load()) as node:
            middle = len(name) // 2
            wrong = name[:middle] + name[middle + 1 :] if len(name) > 2 else name + name[-1]
            if not keyword.iskeyword(wrong) and wrong not in site.source.text.replace(name, ""):
                start, end = site.source.span(node)
                yield MutationEdit(start, end, site.source.text[start : end - len(name)] + wrong)
