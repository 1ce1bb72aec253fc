"""What a constructor that raised misses: an optional argument that it needs after all, or more items of a list.

`assert exists(n)`, `if size is None and scale is None: raise ValueError`, and `widths[3]` of a list that was made up
with two. Read from the statement that raised; nothing is built here, and what somebody wrote down stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType
from typing import Any

from inductor_debug.capture.failures.failed_statement import blocks_at, last_frame, statement_at
from inductor_debug.capture.inference.construction import signatures
from inductor_debug.capture.inference.construction.construction import Construction
from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.demands import demands
from inductor_debug.capture.inference.construction.invention import constructor_value
from inductor_debug.capture.inference.construction.reconciling import Changes

_ALTERNATIVES = 2
_MOST_ITEMS = 16
_PLAIN = (bool, int, float, str)


def completed(construction: Construction, error: BaseException, kind: Any) -> Iterator[Changes]:
    """Arguments that may get a constructor past what it raised, likeliest first.

    Args:
        construction: what it was given.
        error: what it raised.
        kind: the class that was built.
    """
    if isinstance(error, IndexError):
        yield from _longer(construction)
        return
    frame, line = last_frame(error)
    if frame is None or not isinstance(error, AssertionError | ValueError | TypeError | RuntimeError):
        return
    constructor = getattr(kind, "__init__", None)
    if frame.f_code is not getattr(constructor, "__code__", None):
        return
    asked = demands(kind)
    parameters = signatures.by_name(kind)
    for alternative in range(_ALTERNATIVES):
        for name in _left_out(frame, line):
            if name in parameters:
                annotation = signatures.spelled(parameters[name].annotation)
                demand = asked.get(name, Demand())
                value = constructor_value(name, annotation, dict(construction.sizes), alternative, demand)
                if _is_plain(value):
                    yield ((name, value),)


def _longer(construction: Construction) -> Iterator[Changes]:
    """Each list that was made up, twice as long."""
    for item in construction.arguments:
        value = getattr(item.spec, "value", None) if item.name in construction.invented else None
        if isinstance(value, list | tuple) and 0 < len(value) < _MOST_ITEMS and _is_plain(value):
            yield ((item.name, value * 2),)


def _left_out(frame: FrameType, line: int) -> list[str]:
    """The arguments that are None where a constructor raised: in the condition for it, or in the statement itself."""
    around = blocks_at(frame, line)
    statement = statement_at(frame, line)
    if statement is None:
        return []
    spoken_of: list[ast.AST] = [statement]
    if isinstance(statement, ast.Raise):
        spoken_of = [block.test for block in reversed(around) if isinstance(block, ast.If)]
    names = (node.id for part in spoken_of for node in ast.walk(part) if isinstance(node, ast.Name))
    return [name for name in dict.fromkeys(names) if name in frame.f_locals and frame.f_locals[name] is None]


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)
