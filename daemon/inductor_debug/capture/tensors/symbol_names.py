"""Calls symbols what users are shown: torch names a size by its input (`s77`), their code `batch` or `T`.

A symbol is recognised by the number that stands behind it, so this works where those numbers tell sizes apart, as
inference sees to. Read against torch 2.11 to 2.13 (`ShapeEnv.var_to_val`, `backed_var_to_val`); where the numbers are
not to be had, torch's names stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_names: dict[int, str] = {}
_met: dict[tuple[int, str], tuple[Any, Any]] = {}
"""Named symbols that were written since names were last given, each with its environment."""
_texts: dict[tuple[int, Any], tuple[Any, str, int | None]] = {}
"""What `written` has told under the present names, each with its environment."""


@contextmanager
def naming_symbols(names: Mapping[int, str]) -> Iterator[None]:
    """Meanwhile, symbols behind which a number of `names` stands are called so."""
    before = dict(_names)
    _met.clear()
    _rename(names)
    try:
        yield
    finally:
        _rename(before)


def _rename(names: Mapping[int, str]) -> None:
    _texts.clear()
    _names.clear()
    _names.update(names)


def written(expression: Any, environment: Any) -> tuple[str, int | None]:
    """An expression of torch's symbols as text, and what it is for the numbers that stand behind these.

    None where a symbol has no number. The same few sizes are asked for at every operation, so both are kept.
    """
    known = _texts.get((id(environment), expression))
    if known is None:
        number = _number_behind(expression, environment)
        known = environment, _text(expression, environment), number
        if number is not None:
            _texts[id(environment), expression] = known
    return known[1:]


def _text(expression: Any, environment: Any) -> str:
    if not _names:
        return str(expression)
    values = _values(environment)
    changes = {}
    for symbol in getattr(expression, "free_symbols", ()):
        name = _names.get(_number(values.get(symbol)))
        if name is not None:
            changes[symbol] = type(symbol)(name, integer=True, positive=True)
            _met[id(environment), str(symbol)] = environment, symbol
    return str(expression.xreplace(changes) if changes else expression)


def _number_behind(expression: Any, environment: Any) -> int | None:
    values = _values(environment)
    symbols = getattr(expression, "free_symbols", ())
    if not all(symbol in values for symbol in symbols):
        return None
    try:
        return int(expression.xreplace({symbol: values[symbol] for symbol in symbols}))
    except (AttributeError, TypeError, ValueError):
        return None


def _values(environment: Any) -> Mapping[Any, Any]:
    return getattr(environment, "backed_var_to_val", None) or getattr(environment, "var_to_val", None) or {}


def some_became_numbers() -> bool:
    """Whether torch has put a number in the place of a symbol that got a name of the last `naming_symbols`."""
    return any(
        getattr(getattr(environment, "replacements", {}).get(symbol), "is_number", False)
        for environment, symbol in _met.values()
    )


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return -1
