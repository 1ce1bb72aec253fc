"""What user code prints: kept out of every protocol, bounded, and readable in one file per project.

A process writes into an unlinked file of its own, which never blocks it; `OutputSpool` copies that to the project's
log while the job runs, and cuts it when it grows. `ProjectLog` is the only writer of the log file. Losing output is
allowed (a flood is shortened), failing because of it is not.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import time
from pathlib import Path

from inductor_debug.engine.pool.temporary import output_file

SPOOL_LIMIT = 4 << 20
"""Bytes in a process's own file before it is cut back to nothing."""

COPY_LIMIT = 256 << 10
"""Bytes copied at a time; of more, the last ones."""

LOG_LIMIT = 8 << 20
"""Bytes in the project's log before its older half is dropped."""

_PUNCH_HOLE = 0x02 | 0x01
"""`FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE` of `linux/falloc.h`."""

TAIL_BYTES = 8 << 10
"""Bytes of a job's output that are kept for its ending."""


class ProjectLog:
    """The file that a user opens to see what their code printed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, data: bytes) -> None:
        """Adds output; a log that cannot be written is given up silently, since it must not stop a job."""
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab") as stream:
                stream.write(data)
                size = stream.tell()
            if size > LOG_LIMIT:
                self._drop_older_half()

    def _drop_older_half(self) -> None:
        with open(self.path, "rb") as stream:
            stream.seek(-LOG_LIMIT // 2, os.SEEK_END)
            stream.readline()
            kept = stream.read()
        shortened = self.path.with_name(self.path.name + ".new")
        shortened.write_bytes(kept)
        os.replace(shortened, self.path)


class OutputSpool:
    """The stdout and stderr of one process, on the way to the project's log."""

    def __init__(self, log: ProjectLog) -> None:
        self._log = log
        self._file = output_file()
        self._copied = self._freed = 0
        self._tail = b""
        self._title = b""
        if os.name != "nt":
            import fcntl

            # Every process that inherits it appends, so that cutting it leaves no hole.
            fcntl.fcntl(self._file, fcntl.F_SETFL, fcntl.fcntl(self._file, fcntl.F_GETFL) | os.O_APPEND)

    def fileno(self) -> int:
        """The descriptor to hand to the process."""
        return self._file.fileno()

    def entitle(self, title: str) -> None:
        """Puts a line before whatever is printed from now on."""
        self._title = f"--- {time.strftime('%H:%M:%S')} {title}\n".encode("utf-8", "backslashreplace")

    @property
    def size(self) -> int:
        """Bytes written and not yet cut."""
        return 0 if self._file.closed else os.fstat(self._file.fileno()).st_size

    def pump(self) -> None:
        """Copies new output to the project's log, and bounds the file."""
        if self._file.closed:
            return
        data = self._unread()
        if self._copied - self._freed > SPOOL_LIMIT and not self._free():
            # What is printed between the last look and the cut is lost: so look once more, which takes next to no time.
            data += self._unread()
            self._file.truncate(0)
            self._copied = self._freed = 0
        if data:
            self._log.append(self._title + data)
            self._title = b""
            self._tail = (self._tail + data)[-TAIL_BYTES:]

    def _free(self) -> bool:
        """Gives the disk back what was copied, while the file stays as long as it is; False where a system cannot.

        Nothing is lost by it that is printed meanwhile: `fallocate(2)`, Linux, for most kinds of file systems.
        """
        allocate = getattr(ctypes.CDLL(None), "fallocate", None) if sys.platform == "linux" else None
        length = ctypes.c_int64(self._copied)
        if allocate is None or allocate(self._file.fileno(), _PUNCH_HOLE, ctypes.c_int64(0), length) != 0:
            return False
        self._freed = self._copied
        return True

    def _unread(self) -> bytes:
        """What was printed since the last call, at most the last `COPY_LIMIT` bytes of it."""
        size = self.size
        new = size - self._copied
        self._copied = size
        if new <= 0:
            return b""
        self._file.seek(size - min(new, COPY_LIMIT))
        data = self._file.read(min(new, COPY_LIMIT))
        return f"[{new - COPY_LIMIT} bytes left out]\n".encode() + data if new > COPY_LIMIT else data

    def tail(self) -> str:
        """The last that was printed, whole lines."""
        self.pump()
        text = self._tail.decode("utf-8", "replace")
        return text.partition("\n")[2] if len(self._tail) == TAIL_BYTES else text

    def close(self) -> None:
        """Copies what is left and lets go of the file."""
        self.pump()
        self._file.close()
