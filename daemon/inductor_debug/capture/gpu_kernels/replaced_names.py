"""Attributes of foreign modules and classes that stand for something else for a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Replacement = tuple[Any, str, Any]
"""A module, class or object, the name of an attribute, and what it is for a while."""


@contextmanager
def replaced(replacements: Iterable[Replacement]) -> Iterator[None]:
    """Sets the attributes that are there, and puts back what they were; names that this torch lacks are passed over."""
    before: list[Replacement] = []
    try:
        for owner, name, value in replacements:
            if hasattr(owner, name):
                # Of a class what it holds itself: a static method is not the function that it gives.
                before.append((owner, name, vars(owner).get(name, getattr(owner, name))))
                setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in reversed(before):
            setattr(owner, name, value)
