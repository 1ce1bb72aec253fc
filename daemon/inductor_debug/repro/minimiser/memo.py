"""Remembers attempts, so that nothing is tried twice and a search that was cut off goes on where it was.

The memory of a failure is a file of lines `<digest of the program> <0|1>`, only ever appended to. A file that cannot be
written costs the memory of later runs and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

LARGEST_BYTES = 1 << 22
MOST_FILES = 200
"""Memories of failures that are kept; the oldest go."""


class Memo:
    """Verdicts by program, for the failure of that name; `folder` keeps them for later runs, None for nowhere.

    `resumed` says that some come from an earlier run, since which a backend's code may have changed.
    """

    def __init__(self, folder: Path | None, failure: str) -> None:
        self._known: dict[str, bool] = {}
        self._path: Path | None = None
        self.resumed = False
        if folder is not None:
            name = hashlib.blake2b(failure.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
            self._path = folder / f"{name}.memo"
            self._read()
            self.resumed = bool(self._known)
            _thin_out(folder)

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> bool | None:
        """Whether the program failed; None if it was not tried."""
        return self._known.get(key)

    def put(self, key: str, failed: bool) -> None:
        """Notes a verdict."""
        self._known[key] = failed
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "a", encoding="ascii") as file:
                file.write(f"{key} {int(failed)}\n")
        except OSError:
            self._path = None

    def forget(self) -> None:
        """The failure is gone or changed: what was noted of it means nothing any more."""
        self._known.clear()
        self.resumed = False
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _read(self) -> None:
        assert self._path is not None
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if self._path.stat().st_size > LARGEST_BYTES:
                return
            for line in self._path.read_text(encoding="ascii").splitlines():
                key, _, said = line.partition(" ")
                if said in ("0", "1"):
                    self._known[key] = said == "1"


def _thin_out(folder: Path) -> None:
    with contextlib.suppress(OSError):
        files = sorted(folder.glob("*.memo"), key=lambda file: file.stat().st_mtime)
        for file in files[: max(0, len(files) - MOST_FILES)]:
            file.unlink()
