"""Where workers print to and leave temporary files, also while the disk is full.

What they print never touches a disk where the system can keep a file in memory. A folder of their own they get on the
disk, else in memory; without one nothing is run, since it could be kept from writing nowhere.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import BinaryIO

from inductor_debug.engine.pool.launch import StartFailedError
from inductor_debug.system.held_folders import HeldFolder, remove_abandoned

_IN_MEMORY = "/dev/shm"
"""A file system that Linux keeps in memory."""


def output_file() -> BinaryIO:
    """A file without a name, unbuffered; where none can be had, one that forgets what is written."""
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):
            return os.fdopen(os.memfd_create("inductor-debug-output"), "w+b", buffering=0)
    with contextlib.suppress(OSError):
        return tempfile.TemporaryFile(buffering=0)
    return open(os.devnull, "w+b", buffering=0)


def scratch_folder() -> HeldFolder:
    """A folder for one job, which removes itself.

    Raises:
        StartFailedError: none can be made.
    """
    try:
        return _folder_in(None)
    except OSError as error:
        with contextlib.suppress(OSError):
            return _folder_in(_IN_MEMORY)
        reason = error.strerror or str(error)
    raise StartFailedError(f"No temporary folder can be made: {reason}. Make room on the disk, or set TMPDIR.")


def remove_forgotten() -> None:
    """Removes the folders of jobs whose daemon was killed."""
    remove_abandoned((_IN_MEMORY,))


def _folder_in(place: str | None) -> HeldFolder:
    return HeldFolder("job", place)
