"""Places in source files, in the units of the Language Server Protocol.

Every position that leaves the worker is already zero-based, UTF-16 and end-exclusive, so that nothing above the
worker has to look at source bytes to convert one. This module never reads files.
"""

from __future__ import annotations

from dataclasses import dataclass


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

    def encloses(self, inner: Range) -> bool:
        """Whether all of `inner` is in it; both may be the same."""
        return self.start <= inner.start and inner.end <= self.end


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A range in the file at the absolute `path`."""

    path: str
    range: Range


@dataclass(frozen=True, slots=True)
class Related:
    """A further place that explains a finding: a caller, a consumer, the line that declared a parameter.

    `again` says that the finding holds there as well: one cause that shows at several places is told at the first.
    """

    path: str
    range: Range
    message: str
    again: bool = False
