"""Forgets what memoised functions (`functools.lru_cache`, `cache`) remember of tensors that are no more.

A table of positions that was made without weights, or on the meta device, must not meet the tensors of another rung or
run. Who makes such a function is noticed from the moment that `listen` is called, which is before any code of users or
their libraries is imported; torch's own and Python's hold no model's tensors and are let be.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

_LET_BE = frozenset(("torch", "inductor_debug", *sys.stdlib_module_names)) - {"__main__"}
_MEMOISED: weakref.WeakSet[Any] = weakref.WeakSet()
_lru_cache = functools.lru_cache


def listen() -> None:
    """From now on every memoised function is noticed."""
    functools.lru_cache = _noticing


def forget_memoised() -> None:
    """Empties the caches of all functions that were noticed."""
    for memoised in list(_MEMOISED):
        memoised.cache_clear()


@contextlib.contextmanager
def memoised_apart() -> Iterator[None]:
    """Nothing that is remembered meanwhile is known afterwards, nor the other way round."""
    forget_memoised()
    try:
        yield
    finally:
        forget_memoised()


@functools.wraps(functools.lru_cache)
def _noticing(maxsize: Any = 128, typed: bool = False) -> Any:
    made = _lru_cache(maxsize, typed)
    return _noticed(made) if callable(maxsize) else _decorating(made)


def _decorating(decorate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda function: _noticed(decorate(function))


def _noticed(memoised: Any) -> Any:
    if str(memoised.__module__).partition(".")[0] not in _LET_BE:
        _MEMOISED.add(memoised)
    return memoised
