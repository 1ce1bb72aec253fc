"""Results of runs that ended well, for as long as the text and everything that the run looked at stay what they were.

In memory only, with all that editors show; `kept_runs` keeps on disk what makes a report. A run that crashed,
timed out or failed is never kept, since the reason may lie outside of the files we know.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from inductor_debug_schema import FileStatus

from inductor_debug.engine.results.merge import Results
from inductor_debug.engine.results.stamps import Stamp, stamps_of

CAPACITY = 128
"""Results that are kept; the least recently used go first."""
GRAPHS_KEPT = 16
"""Results that keep the graphs of their targets, up to some megabytes each."""

_KEPT = (FileStatus.CLEAN, FileStatus.FINDINGS, FileStatus.NO_TARGET)


class ResultCache:
    """Finished results by key; `key_of` makes one."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[str, tuple[Results, list[Stamp]]] = OrderedDict()

    def get(self, key: str) -> Results | None:
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

    def put(self, key: str, results: Results, started: int) -> None:
        """Keeps a result, unless it failed or a dependency changed after the run `started` (nanoseconds since 1970)."""
        if results.status not in _KEPT:
            return
        stamps = stamps_of(results.surroundings(), before=started)
        if stamps is None:
            return
        self._entries[key] = (results, stamps)
        self._entries.move_to_end(key)
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


def key_of(path: str, text: str, run_digest: str, torch_version: str | None) -> str:
    """What a run's result depends on, except for its dependencies."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return "\0".join((path, digest, run_digest, torch_version or ""))
