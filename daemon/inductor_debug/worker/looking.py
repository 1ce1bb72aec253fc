"""Which files and folders a job looks at, so that its results are known to hold while these stay as they are.

Python tells of every file that it opens and every folder that it lists: modules that are imported, data that user code
reads, and what inference looks up in the project. What is only asked for (`os.path.exists`), and what C code reads by
itself, is not heard.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import torch

from inductor_debug.capture.runtime import audit
from inductor_debug.capture.runtime.loading import is_installed, is_standard

_SYSTEM = ("/proc", "/dev", "/sys")
_CACHE = f"{os.sep}__pycache__{os.sep}"
"""Byte code, which Python itself holds to its source."""


class Looked:
    """What this process has looked at since this was made.

    Args:
        scratch: a folder in which nothing counts, for temporary files; none if it is empty.
    """

    def __init__(self, scratch: str) -> None:
        folders = (*_SYSTEM, *filter(None, (scratch, os.path.realpath(scratch) if scratch else "")))
        self._left_out = tuple(os.path.join(folder, "") for folder in folders)
        # What was imported before the fork is looked for no more, yet hangs on where it would be found.
        self._given = {path for path in sys.path if os.path.isabs(path)}
        self._given.add(os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "version.py"))
        self._heard: set[str] = set()
        audit.listen(("open", "os.listdir", "os.scandir"), self._hear)

    def paths(self) -> list[str]:
        """The absolute paths, sorted. Files of libraries are left out: the names beside them tell their versions."""
        heard = {path for path in self._heard if not (is_installed(path) or is_standard(path) or _CACHE in path)}
        return sorted(path for path in heard | self._given if not f"{path}{os.sep}".startswith(self._left_out))

    def _hear(self, _event: str, arguments: tuple[Any, ...]) -> None:
        path = arguments[0] if arguments[0] is not None else "."
        if isinstance(path, str | bytes):
            self._heard.add(os.path.abspath(os.fsdecode(path)))
