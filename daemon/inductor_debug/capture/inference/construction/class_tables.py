"""Tables beside a class that say how it is built: `{"small": {"model": Net, "options": {"width": 16, "depth": 2}}}`.

Projects that offer one class in many sizes keep them so. The tables are values of the file that was executed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from inductor_debug.capture.inference.construction import signatures

_DEEPEST = 3
_MOST_ENTRIES = 64


def written_in_tables(
    kind: Any, parameters: list[inspect.Parameter], namespace: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The options that stand beside a class in tables of its file, where they are all that its constructor needs.

    Args:
        kind: the class.
        parameters: what its constructor takes.
        namespace: what the file's names stand for.
    """
    required = {item.name for item in parameters if item.default is inspect.Parameter.empty}
    known = {item.name for item in parameters}
    _, any_name = signatures.takes_more(kind)
    for value in list(namespace.values()):
        for options in _beside(kind, value, 0):
            if options and required <= options.keys() and (any_name or options.keys() <= known):
                yield dict(options)


def _beside(kind: Any, value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if type(value) not in (dict, list, tuple) or depth > _DEEPEST:
        return
    items = list(value.values() if type(value) is dict else value)[:_MOST_ENTRIES]
    if any(item is kind for item in items):
        yield from (item for item in items if type(item) is dict and all(type(key) is str for key in item))
    for item in items:
        yield from _beside(kind, item, depth + 1)
