"""The tables of strings, shapes and places that the columns of `graph_columns` refer to, while a document is written.

Everything here runs once for every node and column, so it is written for speed: keys are looked up in bulk, and numbers
come as they are asked for. Nothing here knows graphs or files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from inductor_debug_schema import Location

from inductor_debug.artifacts.columns import NONE, integers, numbers, offsets

PLACE_ENDS = ("line", "character", "end_line", "end_character")
"""The columns of the table of places, beside their paths."""


class ColumnTables:
    """The strings, shapes and places of one document, each kept once and numbered as they come."""

    def __init__(self) -> None:
        self._strings: defaultdict[str, int] = _numbering()
        self._optional_strings: dict[str | None, int] = {None: NONE}
        self._shapes: defaultdict[tuple[Any, ...], int] = _numbering()
        self._places: defaultdict[_Place, int] = _numbering()

    def new_strings(self, values: Iterable[str]) -> bytes:
        """As `strings`, and quicker where most of them are not in the table yet."""
        known = self._strings
        number = known.setdefault
        return integers([number(value, len(known)) for value in values])

    def strings(self, values: Sequence[str]) -> bytes:
        """A column of strings."""
        return integers(looked_up(self._strings, values))

    def optional_strings(self, values: Sequence[str | None]) -> bytes:
        """A column of strings and None."""
        numbers_of = self._optional_strings
        try:
            return integers(looked_up(numbers_of, values))
        except KeyError:
            numbers_of.update((value, self._strings[value]) for value in dict.fromkeys(values) if value is not None)
            return integers(looked_up(numbers_of, values))

    def shapes(self, values: Iterable[Sequence[int | str] | None]) -> bytes:
        """A column of shapes."""
        numbers_of = self._shapes
        return integers([NONE if value is None else numbers_of[tuple(value)] for value in values])

    def places(self, values: Sequence[Location | None]) -> bytes:
        """A column of places. Equal ones are mostly one object, so identities come first; `values` keeps all alive."""
        identities = list(map(id, values))
        objects = dict(zip(identities, values, strict=True))
        numbers_of = {
            identity: NONE if place is None else self._places[_key(place)] for identity, place in objects.items()
        }
        return integers(looked_up(numbers_of, identities))

    def lists(self, name: str, values: list[list[str]]) -> dict[str, bytes]:
        """Both columns of a column of lists."""
        flat = list(chain.from_iterable(values))
        if not flat:
            return {name: b"", f"{name}_at": b""}
        single = len(flat) == len(values) and all(values)  # which most origins and kernels are
        at = integers(range(len(values) + 1)) if single else offsets(map(len, values))
        return {name: self.strings(flat), f"{name}_at": at}

    def columns(self) -> dict[str, Any]:
        """The tables themselves; nothing is added to them afterwards."""
        shapes = list(self._shapes)
        numbers_of = self._strings
        sizes = [-1 - numbers_of[size] if isinstance(size, str) else size for shape in shapes for size in shape]
        paths, *places = zip(*self._places, strict=True) if self._places else ((),) * 5
        found = {
            "shapes_at": offsets(map(len, shapes)),
            "shapes": numbers(sizes),
            "place_path": self.strings(paths),
            **{f"place_{end}": integers(column) for end, column in zip(PLACE_ENDS, places, strict=True)},
            "strings": list(self._strings),
        }
        for table in (self._strings, self._shapes, self._places):
            table.default_factory = None  # which refers to its table, so that only a collection would free it
        return found


_Place = tuple[str, int, int, int, int]


def _key(place: Location) -> _Place:
    """A place as a key: its own hash and comparison run in Python."""
    start, end = place.range.start, place.range.end
    return place.path, start.line, start.character, end.line, end.character


def _numbering() -> defaultdict[Any, int]:
    """A table whose new keys get the next number. A subclass of `dict` would be looked up four times as slowly."""
    table: defaultdict[Any, int] = defaultdict()
    table.default_factory = table.__len__
    return table


def looked_up(table: Mapping[Any, int], keys: Sequence[Any]) -> Sequence[int]:
    """The entries for all keys, at half the price of a comprehension."""
    if len(keys) < 2:  # an `itemgetter` of one key gives no tuple, and there is none of no key
        return [table[key] for key in keys]
    found: tuple[int, ...] = itemgetter(*keys)(table)
    return found
