"""What workers inferred for the classes of files, kept for the next job on the same file.

Never believed: a worker runs what it is given. With the inputs with which a class last ran an edit of it is judged, so
they are kept for each set of declarations (`InferenceHint.evidence`): a signature that is half typed takes nothing
away. With a folder they outlive the daemon, so that a file that is opened tomorrow is judged by what ran today.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from inductor_debug_schema import InferenceHint, WireError, from_wire, to_wire

from inductor_debug.engine.results.remembered_files import Place, RememberedFiles

CAPACITY = 256
"""Files whose hints are kept; the least recently used go first."""
_DECLARATIONS = 8
"""Sets of declarations of one class for which hints are kept; the oldest go first."""

_Known = dict[tuple[str, str], InferenceHint]
"""By target and evidence, the latest last."""


class Hints:
    """The latest hint for every target of a file.

    Args:
        folder: where inputs that ran are written down; nowhere without one.
        capacity: of how many files hints are kept, in memory and in the folder.
    """

    def __init__(self, folder: Path | None = None, capacity: int = CAPACITY) -> None:
        self._written = RememberedFiles(folder, capacity)
        self._capacity = capacity
        self._files: OrderedDict[Place, _Known] = OrderedDict()

    def keep(self, place: Place, hint: InferenceHint) -> None:
        """Takes a hint in, in place of an earlier one for the same target and declarations."""
        known = self._known(place)
        if known.pop((hint.target, hint.evidence), None) == hint:
            known[hint.target, hint.evidence] = hint
            return
        known[hint.target, hint.evidence] = hint
        same = [key for key in known if key[0] == hint.target]
        for key in same[: -_DECLARATIONS - 1]:
            del known[key]
        while len(self._files) > self._capacity:
            self._files.popitem(last=False)
        if hint.evidence:
            self._written.write(place, [to_wire(each) for each in known.values() if each.evidence])

    def of(self, place: Place) -> list[InferenceHint]:
        """The hints for a file."""
        return list(self._known(place).values())

    def forget(self, path: str) -> None:
        """Forgets what was inferred for one file, for good."""
        for place in [place for place in self._files if place[2] == path]:
            del self._files[place]
            self._written.remove(place)

    def forget_refusals(self) -> None:
        """Forgets for what nothing could be inferred; the reason may be gone."""
        for known in self._files.values():
            for key in [key for key in known if not key[1]]:
                del known[key]

    def clear(self) -> None:
        """Forgets everything, for good as far as it was asked for."""
        for _, _, path in list(self._files):
            self.forget(path)

    def _known(self, place: Place) -> _Known:
        if place not in self._files:
            self._files[place] = self._read(place)
        self._files.move_to_end(place)
        return self._files[place]

    def _read(self, place: Place) -> _Known:
        content = self._written.read(place)
        try:
            hints = [from_wire(InferenceHint, item) for item in content or ()]
        except (TypeError, WireError):
            return {}
        return {(hint.target, hint.evidence): hint for hint in hints}
