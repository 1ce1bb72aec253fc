"""What workers inferred for the classes of files, kept for the next job on the same file.

Never believed: a worker runs what it is given. With the inputs with which a class last ran an edit of it is judged, so
they are kept for each set of declarations (`InferenceHint.evidence`): a signature that is half typed takes nothing
away. With a folder they outlive the daemon, so that a file that is opened tomorrow is judged by what ran today.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inductor_debug_schema import InferenceHint, WireError, from_wire, to_wire

from inductor_debug.engine.results.remembered_files import Place, RecentFiles

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
        self._files = RecentFiles(folder, capacity, _known)

    def keep(self, place: Place, hint: InferenceHint) -> None:
        """Takes a hint in, in place of an earlier one for the same target and declarations."""
        known = self._files.to_change(place)
        if known.pop((hint.target, hint.evidence), None) == hint:
            known[hint.target, hint.evidence] = hint
            return
        known[hint.target, hint.evidence] = hint
        same = [key for key in known if key[0] == hint.target]
        for key in same[: -_DECLARATIONS - 1]:
            del known[key]
        if hint.evidence:
            self._files.write(place, [to_wire(each) for each in known.values() if each.evidence])

    def of(self, place: Place) -> list[InferenceHint]:
        """The hints for a file."""
        return list(self._files.of(place).values())

    def forget(self, path: str) -> None:
        """Forgets what was inferred for one file, for good."""
        self._files.forget(path)

    def forget_refusals(self) -> None:
        """Forgets for what nothing could be inferred; the reason may be gone."""
        for known in map(self._files.of, self._files):
            for key in [key for key in known if not key[1]]:
                del known[key]

    def clear(self) -> None:
        """Forgets everything, for good as far as it was asked for."""
        self._files.forget()


def _known(content: Any) -> _Known:
    """The hints of a document that may have been written by anybody."""
    try:
        hints = [from_wire(InferenceHint, item) for item in content or ()]
    except (TypeError, WireError):
        return {}
    return {(hint.target, hint.evidence): hint for hint in hints}
