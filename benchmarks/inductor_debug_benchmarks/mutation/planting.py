"""Which mistakes a class can be given, and in which order they are tried.

The order depends on the seed and the class alone, and no operator has a second turn before each has had one.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from inductor_debug_benchmarks.mutation import of_modules, of_names, of_shapes, of_tensors
from inductor_debug_benchmarks.mutation.mutated_source import MutatedSource, MutationEdit
from inductor_debug_benchmarks.mutation.mutation_registry import OPERATORS, Site
from inductor_debug_benchmarks.mutation.text_scope import methods, parts

ROOMS = (of_shapes, of_modules, of_tensors, of_names)
"""Where operators are written; importing them registers these."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mistake: which operator makes it, by which edit, and the one-based lines of the statement that it is in."""

    operator: str
    edit: MutationEdit
    lines: tuple[int, int]


def mutations(source: MutatedSource, name: str) -> list[Mutation]:
    """Every mutation of the class `name` and of what it is made of, in the order of the file. Few do not parse."""
    found: dict[MutationEdit, Mutation] = {}
    for owner, function in methods(parts(source.tree, name)):
        for statement, nodes in _statements(function):
            for node in nodes:
                site = Site(source, node, owner)
                for label, propose in OPERATORS.items():
                    for edit in propose(site):
                        found.setdefault(edit, Mutation(label, edit, _lines(statement)))
    return sorted(found.values(), key=lambda item: (item.edit.start, item.operator, item.edit.new))


def in_turns(found: list[Mutation], seed: str) -> list[Mutation]:
    """The mutations in an order of the seed's, operator after operator."""
    chance = random.Random(seed)
    by_operator: dict[str, list[Mutation]] = {}
    for item in found:
        by_operator.setdefault(item.operator, []).append(item)
    piles = list(by_operator.values())
    chance.shuffle(piles)
    for pile in piles:
        chance.shuffle(pile)
    return [item for turn in zip_longest(*piles) for item in turn if item is not None]


def _statements(function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, list[ast.AST]]]:
    """Every statement of a function with the nodes that are its own: not those of statements inside it."""
    yield function, [function]
    for statement in ast.walk(function):
        if isinstance(statement, ast.stmt) and statement is not function:
            yield statement, list(_own(statement))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.excepthandler):
            yield child
            yield from _own(child)


def _lines(statement: ast.stmt) -> tuple[int, int]:
    if isinstance(statement, ast.FunctionDef):
        return statement.lineno, max(statement.lineno, statement.body[0].lineno - 1)
    ends = [child.end_lineno or 0 for child in _own(statement) if isinstance(child, ast.expr)]
    return statement.lineno, max([statement.lineno, *ends])
