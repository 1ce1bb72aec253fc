"""What workers inferred for the classes of files, kept for the next job on the same file.

Never believed: a worker runs what it is given. With the inputs with which a class last ran an edit of it is judged, so
they are kept for each set of declarations (`InferenceHint.evidence`): a signature that is half typed takes nothing
away.
"""

from __future__ import annotations

from collections import OrderedDict

from inductor_debug_schema import InferenceHint

CAPACITY = 256
"""Files whose hints are kept; the least recently used go first."""
_DECLARATIONS = 8
"""Sets of declarations of one class for which hints are kept; the oldest go first."""

Place = tuple[str, str, str]
"""Interpreter, project root and absolute path."""


class Hints:
    """The latest hint for every target of a file."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._files: OrderedDict[Place, dict[tuple[str, str], InferenceHint]] = OrderedDict()

    def keep(self, place: Place, hint: InferenceHint) -> None:
        """Takes a hint in, in place of an earlier one for the same target and declarations."""
        hints = self._files.setdefault(place, {})
        hints.pop((hint.target, hint.evidence), None)
        hints[hint.target, hint.evidence] = hint
        same = [key for key in hints if key[0] == hint.target]
        for key in same[: -_DECLARATIONS - 1]:
            del hints[key]
        self._files.move_to_end(place)
        while len(self._files) > self._capacity:
            self._files.popitem(last=False)

    def of(self, place: Place) -> list[InferenceHint]:
        """The hints for a file."""
        return list(self._files.get(place, {}).values())

    def forget(self, place: Place) -> None:
        """Forgets what was inferred for one file."""
        self._files.pop(place, None)

    def clear(self) -> None:
        """Forgets everything."""
        self._files.clear()
