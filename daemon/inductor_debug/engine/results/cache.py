"""Results of runs that ended well, for as long as the text and everything that the run looked at stay what they were.

They hold, too, for a text in which only lines have moved (`moved_results`). In memory only, with all that editors show;
`kept_runs` keeps on disk what makes a report. A run that crashed, timed out or failed is never kept, since the reason
may lie outside of the files we know.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import NamedTuple

from inductor_debug_schema import FileStatus

from inductor_debug.engine.results.merge import Results
from inductor_debug.engine.results.moved_results import results_after_edit
from inductor_debug.engine.results.stamps import Stamp, stamps_of

CAPACITY = 128
"""Results that are kept; the least recently used go first."""
GRAPHS_KEPT = 16
"""Results that keep the graphs of their targets, up to some megabytes each."""

MOST_COMPARED = 4
"""The latest results of a file whose texts are held against one that is not known."""

_KEPT = (FileStatus.CLEAN, FileStatus.FINDINGS, FileStatus.NO_TARGET)


class RunKey(NamedTuple):
    """What a run's result depends on, except for its dependencies: `text` and `settings` are digests."""

    path: str
    text: str
    settings: str
    torch: str


class ResultCache:
    """Finished results by key; `key_of` makes one."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[RunKey, tuple[Results, list[Stamp]]] = OrderedDict()

    def get(self, key: RunKey) -> Results | None:
        """The result, if its dependencies have not changed since. Stats each; reads only those that were touched."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        results, stamps = entry
        if not all(stamp.holds() for stamp in stamps):
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return results

    def after_edit(self, key: RunKey, text: str) -> Results | None:
        """What one of the latest results of the file becomes for `text`, if that says nothing else; kept by its key."""
        alike = [known for known in self._entries if known._replace(text=key.text) == key]
        for known in reversed(alike[-MOST_COMPARED:]):
            earlier = self._entries[known]
            moved = results_after_edit(earlier[0], text)
            if moved is not None and self.get(known) is not None:
                self._entries[key] = (moved, earlier[1])
                self._shrink()
                return moved
        return None

    def put(self, key: RunKey, results: Results, started: int) -> None:
        """Keeps a result, unless it failed or a dependency changed after the run `started` (nanoseconds since 1970)."""
        if results.status not in _KEPT:
            return
        stamps = stamps_of(results.surroundings(), before=started)
        if stamps is None:
            return
        self._entries[key] = (results, stamps)
        self._entries.move_to_end(key)
        self._shrink()

    def _shrink(self) -> None:
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
        for older, _ in list(self._entries.values())[:-GRAPHS_KEPT]:
            older.artifacts.clear()

    def forget(self, path: str) -> None:
        """Forgets the results of one file."""
        for key in [key for key, (results, _) in self._entries.items() if results.path == path]:
            del self._entries[key]

    def clear(self) -> None:
        """Forgets everything."""
        self._entries.clear()


def key_of(path: str, text: str, run_digest: str, torch_version: str | None) -> RunKey:
    """The key of a run of a text with the settings that decide what is run."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return RunKey(path, digest, run_digest, torch_version or "")
