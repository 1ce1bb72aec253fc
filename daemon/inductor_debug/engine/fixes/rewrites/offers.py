"""Which rewrites there are at a place of a text: the one list of what is looked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inductor_debug_schema import Range

from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.rewrites import attention, buffers, compiler_prints
from inductor_debug.engine.fixes.tree import Tree, tree_of


@dataclass(frozen=True)
class Rewrite:
    """Something that can be said otherwise: the lines that it takes up, and the guesses, the likeliest first.

    `owner` is the class that it stands in, "" outside of any.
    """

    first: int
    last: int
    guesses: tuple[Fix, ...]
    owner: str = ""


def rewrites(text: str, place: Range) -> list[Rewrite]:
    """The rewrites of what stands in the lines of `place`."""
    tree = tree_of(text)
    if tree is None:
        return []
    return [each for each in _all(tree) if each.first <= place.end.line and place.start.line <= each.last]


def _all(tree: Tree) -> Iterator[Rewrite]:
    for function in ast.walk(tree.module):
        if isinstance(function, ast.FunctionDef):
            for guesses in (
                *attention.guesses(tree, function),
                *buffers.guesses(tree, function),
                *compiler_prints.guesses(tree, function),
            ):
                owner = tree.class_around(function)
                yield Rewrite(*_lines(guesses), tuple(guesses), owner.name if owner is not None else "")


def _lines(guesses: Sequence[Fix]) -> tuple[int, int]:
    touched = [edit.range for edit in guesses[0].edits if edit.range.start != edit.range.end]
    return min(place.start.line for place in touched), max(place.end.line for place in touched)
