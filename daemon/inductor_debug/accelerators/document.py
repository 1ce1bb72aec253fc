"""Reads a profile's TOML document strictly: every key is known, every value has its type, every error names its place.

A document is the parsed TOML plus a `source` table that `accelerators.profile` adds (the path, and the line of each
key), so that a worker that never saw the file can still say which line is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import Enum
from typing import Any, TypeVar

from inductor_debug.accelerators.suggestions import unknown

E = TypeVar("E", bound=Enum)
T = TypeVar("T")

_ALIASES = {
    "half": "float16",
    "f16": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "float": "float32",
    "f32": "float32",
    "fp32": "float32",
    "double": "float64",
    "f64": "float64",
    "fp64": "float64",
    "int": "int32",
    "i32": "int32",
    "long": "int64",
    "i64": "int64",
    "short": "int16",
    "i8": "int8",
    "u8": "uint8",
    "byte": "uint8",
}

_UNITS = {
    "": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40, "KB": 10**3, "MB": 10**6,
    "GB": 10**9, "TB": 10**12,
}  # fmt: skip
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


class ProfileError(Exception):
    """A profile cannot be used. `key` is the dotted key at fault, `line` its zero-based line where that is known."""

    def __init__(self, message: str, *, path: str = "", key: str = "", line: int | None = None) -> None:
        place = path if line is None else f"{path}:{line + 1}"
        super().__init__(": ".join(part for part in (place, key, message) if part))
        self.message = message
        self.path = path
        self.key = key
        self.line = line


class Table:
    """One table of a document, read key by key; `finish` then refuses the keys that nobody asked for."""

    def __init__(self, values: dict[str, Any], source: dict[str, Any], prefix: str = "") -> None:
        self._values = values
        self._source = source
        self._prefix = prefix
        self._asked: list[str] = []

    def error(self, key: str, message: str) -> ProfileError:
        """The error for `key` of this table, with file and line where they are known."""
        dotted = self._prefix + key
        lines = self._source.get("lines", {})
        line = lines.get(dotted)
        if line is None and self._prefix:
            line = lines.get(self._prefix.rstrip("."))
        return ProfileError(message, path=str(self._source.get("path", "")), key=dotted, line=line)

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        self._note(key)
        return key in self._values

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        value: str = self._typed(key, default, str, "a string")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean."""
        value: bool = self._typed(key, default, bool, "true or false")
        return value

    def number(self, key: str, *, minimum: int) -> int | None:
        """An integer of at least `minimum`, or None where the key is missing."""
        value: int | None = self._typed(key, None, int, "an integer")
        if value is not None and value < minimum:
            raise self.error(key, f"must be at least {minimum}, not {value}")
        return value

    def rate(self, key: str) -> float:
        """A number above 0, whole or not (`3.12e14`)."""
        self._note(key)
        value = self._values.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.error(key, f"must be a number, not {_kind(value)}")
        if not 0 < value < float("inf"):
            raise self.error(key, f"must be above 0, not {value}")
        return float(value)

    def optional_rate(self, key: str) -> float | None:
        """A number above 0, or None where the key is missing."""
        return self.rate(key) if self.has(key) else None

    def size(self, key: str) -> int | None:
        """A number of bytes, or a text such as `16 GiB`; None where the key is missing."""
        value = self._values.get(key)
        if not isinstance(value, str):
            return self.number(key, minimum=1)
        self._note(key)
        amount = _bytes(value)
        if amount is None:
            raise self.error(key, f"must be bytes or a size such as '16 GiB', not {value!r}")
        return amount

    def rates_by_dtype(self, known: Collection[str]) -> dict[str, float]:
        """The whole table as numbers above 0 by dtype."""
        return {self.dtype_name(name, name, known): self.rate(name) for name in self._values}

    def sizes_by_dtype(self, known: Collection[str]) -> dict[str, int]:
        """The whole table as numbers of bytes by dtype."""
        found = {self.dtype_name(name, name, known): self.size(name) for name in self._values}
        return {name: amount for name, amount in found.items() if amount is not None}

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of strings, which one string may stand for."""
        return tuple(self._items(key, str, "a string or a list of strings"))

    def numbers(self, key: str) -> frozenset[int]:
        """A list of integers, which one integer may stand for."""
        return frozenset(self._items(key, int, "an integer or a list of integers"))

    def member(self, key: str, kind: type[E], default: E) -> E:
        """One of an enum's values."""
        value = self.text(key, default.value)
        try:
            return kind(value)
        except ValueError:
            raise self.error(key, unknown(value, [item.value for item in kind])) from None

    def dtypes(self, key: str, known: Collection[str]) -> frozenset[str]:
        """A list of dtypes."""
        return frozenset(self.dtype_name(key, name, known) for name in self.strings(key))

    def dtype_name(self, key: str, name: str, known: Collection[str]) -> str:
        """`name` if it is a dtype.

        Raises:
            ProfileError: it is none; the message suggests one.
        """
        if name in known:
            return name
        alias = _ALIASES.get(name.removeprefix("torch."), name.removeprefix("torch."))
        if alias in known:
            raise self.error(key, f"unknown dtype {name!r}; did you mean {alias!r}?")
        raise self.error(key, unknown(name, known, "dtype"))

    def table(self, key: str) -> Table | None:
        """A table inside this one, or None where it is missing."""
        value = self._typed(key, None, dict, "a table")
        return None if value is None else Table(value, self._source, f"{self._prefix}{key}.")

    def tables(self, key: str) -> list[Table]:
        """An array of tables."""
        values = self._typed(key, [], list, "an array of tables")
        for index, value in enumerate(values):
            if not isinstance(value, dict):
                raise self.error(key, f"must be an array of tables, but item {index} is {_kind(value)}")
        return [Table(value, self._source, f"{self._prefix}{key}[{index}].") for index, value in enumerate(values)]

    def entries(self) -> dict[str, Table]:
        """All values as tables by name."""
        found: dict[str, Table] = {}
        for key in self._values:
            table = self.table(key)
            if table is not None:
                found[key] = table
        return found

    def raw(self) -> dict[str, Any]:
        """The values as they are."""
        return dict(self._values)

    def finish(self) -> None:
        """Refuses keys that were never asked for.

        Raises:
            ProfileError: there is such a key; the message suggests the nearest known one.
        """
        for key in self._values:
            if key not in self._asked:
                raise self.error(key, unknown(key, self._asked, "key"))

    def _items(self, key: str, kind: type[T], wanted: str) -> list[T]:
        self._note(key)
        value = self._values.get(key, [])
        items = value if isinstance(value, list) else [value]
        for item in items:
            if not _is(item, kind):
                raise self.error(key, f"must be {wanted}, not {_kind(item)}")
        return items

    def _typed(self, key: str, default: Any, kind: type, wanted: str) -> Any:
        self._note(key)
        value = self._values.get(key, default)
        if value is not default and not _is(value, kind):
            raise self.error(key, f"must be {wanted}, not {_kind(value)}")
        return value

    def _note(self, key: str) -> None:
        if key not in self._asked:
            self._asked.append(key)


def _bytes(text: str) -> int | None:
    found = _SIZE.fullmatch(text)
    if found is None or found[2].upper() not in _UNITS:
        return None
    return max(int(float(found[1]) * _UNITS[found[2].upper()]), 1)


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a float"),
    (str, "a string"),
    (list, "an array"),
    (dict, "a table"),
)


def _kind(value: Any) -> str:
    return next((name for kind, name in _KINDS if isinstance(value, kind)), type(value).__name__)
