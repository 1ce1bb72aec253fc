"""What workers inferred for the classes of files, kept for the next job on the same file.

In memory only, and never believed: a worker that is given a hint first looks whether it is about the same text, and
then runs it. So a wrong hint costs one run and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict

from inductor_debug_schema import InferenceHint

CAPACITY = 256
"""Files whose hints are kept; the least recently used go first."""

Place = tuple[str, str, str]
"""Interpreter, project root and absolute path."""


class Hints:
    """The latest hint for every target of a file."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._files: OrderedDict[Place, dict[str, InferenceHint]] = OrderedDict()

    def keep(self, place: Place, hint: InferenceHint) -> None:
        """Takes a hint in, in place of an earlier one for the same target."""
        self._files.setdefault(place, {})[hint.target] = hint
        self._files.move_to_end(place)
        while len(self._files) > self._capacity:
            self._files.popitem(last=False)

    def of(self, place: Place) -> list[InferenceHint]:
        """The hints for a file."""
        return list(self._files.get(place, {}).values())

    def clear(self) -> None:
        """Forgets everything."""
        self._files.clear()
