"""Has Dynamo write where instructions stand, also where an expression goes over several lines.

What runs after a graph break is code of Dynamo's making, whose table of places it writes itself. An instruction of more
than eight code units, as the start of a method call is, has several entries there, and Dynamo moves each of them on by
the lines that the first one moved on: all that follows in the function is told too far down. Here each entry is written
by a call of its own, so that the later ones move by nothing.

`linetable_311_writer` of `torch._dynamo.bytecode_transformation` is private, and was read in torch 2.13; where there is
none, places are as Dynamo writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_MOST_UNITS = 8
"""Code units that one entry is for at most."""
_WRITER = "linetable_311_writer"


@contextmanager
def true_line_tables() -> Iterator[None]:
    """Dynamo's code has its places right that is made while this is entered."""
    from torch._dynamo import bytecode_transformation

    original: Any = getattr(bytecode_transformation, _WRITER, None)
    if original is None:
        yield
        return

    def writer(first_line: int) -> tuple[list[int], Callable[[Any, int], None]]:
        table, update = original(first_line)

        def update_in_parts(positions: Any, size: int) -> None:
            while size > _MOST_UNITS:
                update(positions, _MOST_UNITS)
                size -= _MOST_UNITS
            update(positions, size)

        return table, update_in_parts

    setattr(bytecode_transformation, _WRITER, writer)
    try:
        yield
    finally:
        setattr(bytecode_transformation, _WRITER, original)
