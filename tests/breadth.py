"""Families of tests that all show the same on ever other models: the suite has some of each, the nightly run all.

A test that takes its cases from here is marked `broad`, and `npm run properties` runs it with all of them. For families
whose members differ in what users get there is `pytest.mark.parametrize` alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
_ALL = os.environ.get("INDUCTOR_DEBUG_PROPERTIES") == "search"


def some_of(cases: Iterable[Case], *, every: int) -> list[Case]:
    """From the first on every second case, or whatever `every` says; all of them in the nightly run."""
    return list(cases)[:: 1 if _ALL else every]


def some(names: Any, cases: Iterable[Any], *, every: int) -> Callable[[Any], Any]:
    """`pytest.mark.parametrize` with some of the cases."""
    return lambda test: pytest.mark.broad(pytest.mark.parametrize(names, some_of(cases, every=every))(test))
