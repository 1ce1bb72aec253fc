"""Places in source files, in the units of the Language Server Protocol.

Every position that leaves the worker is already zero-based, UTF-16 and end-exclusive, so that nothing above the
worker has to look at source bytes to convert one. This module never reads files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

from inductor_debug_schema.codec import to_wire


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two characters: zero-based `line`, zero-based UTF-16 code unit `character`."""

    line: int
    character: int


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """A stretch of text from `start` to `end`, the end exclusive (LSP 3.17, `Range`)."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A range in the file at the absolute `path`."""

    path: str
    range: Range


def place_fields(place: Union[Location, None]) -> dict[str, Any]:
    """The `path` and `range` that a JSON document has of a place; both are null where there is none."""
    return {"path": None, "range": None} if place is None else {"path": place.path, "range": to_wire(place.range)}


@dataclass(frozen=True, slots=True)
class Related:
    """A further place that explains a finding: a caller, a consumer, the line that declared a parameter."""

    path: str
    range: Range
    message: str
