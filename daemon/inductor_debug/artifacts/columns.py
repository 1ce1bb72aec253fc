"""Columns of numbers as byte strings, the alphabet of `graph_columns`: typed arrays, always little-endian.

A browser turns such a byte string into a typed array without looking at single numbers. Nothing here knows graphs.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from inductor_debug.artifacts.errors import ArtifactError

NONE = -1
"""Stands for "no value" in every column that may have one."""
_SWAPPED = sys.byteorder == "big"


def integers(values: Iterable[int]) -> bytes:
    """An `<i4` column.

    Raises:
        ArtifactError: a value has more than 32 bits.
    """
    return _packed("i", values)


def numbers(values: Iterable[float]) -> bytes:
    """An `<f8` column, exact for whole numbers up to 2**53."""
    return _packed("d", values)


def read_integers(content: Any, *, lowest: int = 0, below: int | None = None) -> Sequence[int]:
    """The values of an `<i4` column, each at least `lowest` and less than `below`.

    Raises:
        ArtifactError: it is no such column, or a value is out of bounds.
    """
    values = _unpacked("i", content)
    if values and (min(values) < lowest or (below is not None and max(values) >= below)):
        raise ArtifactError("a column refers to what is not there")
    return values


def read_numbers(content: Any) -> Sequence[float]:
    """The values of an `<f8` column.

    Raises:
        ArtifactError: it is no such column.
    """
    return _unpacked("d", content)


def offsets(lengths: Iterable[int]) -> bytes:
    """Where each list of a column of lists begins in the flat column, and where the last one ends."""
    return integers(list(accumulate(lengths, initial=0)))


def read_lists(column: Any, count: int, flat: Sequence[Any]) -> list[list[Any]]:
    """The `count` lists that offsets cut out of `flat`. An empty column stands for empty lists.

    Raises:
        ArtifactError: the offsets do not fit.
    """
    if column == b"":
        return [[] for _ in range(count)]
    found = read_integers(column, below=len(flat) + 1)
    if len(found) != count + 1:
        raise ArtifactError("a column of lists has the wrong length")
    return [list(flat[start:end]) for start, end in pairwise(found)]


def _packed(code: str, values: Iterable[Any]) -> bytes:
    """With `struct`, in half the time that an `array` takes; a `Struct` of its own takes a tuple without copying it."""
    known = values if isinstance(values, tuple) else tuple(values)
    try:
        return struct.Struct(f"<{len(known)}{code}").pack(*known)
    except (struct.error, OverflowError):
        raise ArtifactError("a number is too large for its column") from None


def _unpacked(code: str, content: Any) -> Sequence[Any]:
    column = array(code)
    if not isinstance(content, bytes) or len(content) % column.itemsize:
        raise ArtifactError("a column is no column of numbers")
    column.frombytes(content)
    if _SWAPPED:
        column.byteswap()
    return column
