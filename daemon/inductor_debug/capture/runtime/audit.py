"""Hears what Python is about to do (audit events, PEP 578), for everybody in the process who wants to know of some.

There is one hook, however many listen: Python calls each hook for every event, a hundred thousand times in an ordinary
analysis, most of them for events that nobody wants. A hook cannot be taken away again, so only a process that ends with
its job should listen. It judges nothing itself; what a listener raises ends what was about to be done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

Listener = Callable[[str, tuple[Any, ...]], None]
"""Told the event's name and its arguments, with what does it two frames up from its own."""

_LISTENERS: dict[str, tuple[Listener, ...]] = {}


class DeedRefusedError(PermissionError):
    """What a listener raises who refuses a deed. An `OSError`, for which libraries are prepared."""


def listen(events: Iterable[str], listener: Listener) -> None:
    """Has a listener told of these events before they happen, for the rest of the process's life."""
    if not _LISTENERS:
        sys.addaudithook(_hear)
    for event in events:
        _LISTENERS[event] = (*_LISTENERS.get(event, ()), listener)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _LISTENERS:
        for listener in _LISTENERS[event]:
            listener(event, arguments)
