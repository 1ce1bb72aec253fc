"""Moves places along with an edit: those in the facts of findings, of whatever dataclasses, and blocks of code."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast

from inductor_debug_schema import Location, UntakenBlock

from inductor_debug.source.text_changes import TextChange

T = TypeVar("T")


def moved_facts(facts: T, path: str, edit: TextChange) -> T:
    """The facts with every place in the file at `path` where it is after the edit; a place that is gone stays."""
    return cast(T, _moved(facts, path, edit))


def moved_blocks(blocks: Iterable[UntakenBlock], edit: TextChange) -> Iterator[UntakenBlock]:
    """The blocks where they are after the edit, without those whose text is gone."""
    for block in blocks:
        moved = edit.moved(block.range)
        if moved is not None:
            yield dataclasses.replace(block, range=moved)


def _moved(value: Any, path: str, edit: TextChange) -> Any:
    if isinstance(value, Location):
        moved = edit.moved(value.range) if value.path == path else None
        return value if moved is None else Location(path, moved)
    if isinstance(value, list):
        return [_moved(item, path, edit) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _moved(getattr(value, field.name), path, edit) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value
