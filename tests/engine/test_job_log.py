"""The log of what user code prints stays bounded and keeps the end."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.engine.pool import job_log, temporary
from inductor_debug.engine.pool.job_log import OutputSpool, ProjectLog
from inductor_debug.engine.pool.job_outcomes import describe_status, innermost_line
from inductor_debug.engine.pool.launch import StartFailedError


def test_output_is_copied_as_it_comes_under_one_title(tmp_path: Path) -> None:
    spool = OutputSpool(ProjectLog(tmp_path / "folder" / "log"))
    spool.entitle("job 4: /m.py")
    for word in (b"one\n", b"two\n"):
        os.write(spool.fileno(), word)
        spool.pump()
    spool.close()
    title, *lines = (tmp_path / "folder" / "log").read_text().splitlines()
    assert title.endswith("job 4: /m.py")
    assert lines == ["one", "two"]
    assert spool.tail() == "one\ntwo\n"


@pytest.mark.skipif(sys.platform != "linux", reason="files in memory are Linux's")
def test_a_full_disk_takes_nobodys_output_nor_their_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = tempfile.mkdtemp

    def full(suffix: str | None = None, prefix: str | None = None, dir: str | None = None, **_: Any) -> str:
        if dir is None:
            raise FileNotFoundError(2, "No usable temporary directory found")
        return real(suffix, prefix, dir)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    spool = OutputSpool(ProjectLog(tmp_path / "log"))
    os.write(spool.fileno(), b"printed\n")
    assert spool.tail() == "printed\n"
    spool.close()
    with temporary.scratch_folder() as folder:
        assert Path(folder).is_dir()
    assert not Path(folder).exists()

    monkeypatch.setattr(temporary, "_IN_MEMORY", str(tmp_path / "log"))  # no folder either
    with pytest.raises(StartFailedError, match=r"No temporary folder can be made: .*Make room"):
        temporary.scratch_folder()


def test_a_job_that_prints_nothing_leaves_no_line(tmp_path: Path) -> None:
    spool = OutputSpool(ProjectLog(tmp_path / "log"))
    spool.entitle("job 4")
    spool.close()
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("system", ["frees what lies in a file", "cuts files alone"])
def test_a_flood_takes_no_disk_and_its_end_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    if system == "cuts files alone":
        monkeypatch.setattr(job_log, "_PUNCH_HOLE", 1 << 30)  # which no system knows
    spool = OutputSpool(ProjectLog(tmp_path / "log"))
    os.write(spool.fileno(), b"x" * (job_log.SPOOL_LIMIT + 1) + b"\nlast\n")
    spool.pump()
    assert os.fstat(spool.fileno()).st_blocks * 512 < 64 << 10
    assert spool.tail() == "last\n"
    os.write(spool.fileno(), b"after\n")
    assert spool.tail() == "last\nafter\n"
    log = (tmp_path / "log").read_bytes()
    assert len(log) < job_log.COPY_LIMIT + 100
    assert b"bytes left out]\n" in log
    assert log.endswith(b"last\nafter\n")


class BusyLog(ProjectLog):
    """A log whose file takes so long to write that the process has printed again meanwhile."""

    descriptor = -1

    def append(self, data: bytes) -> None:
        super().append(data)
        if self.descriptor >= 0:
            descriptor, self.descriptor = self.descriptor, -1
            os.write(descriptor, b"last\n")


def test_what_is_printed_while_a_flood_is_copied_is_not_lost(tmp_path: Path) -> None:
    log = BusyLog(tmp_path / "log")
    spool = OutputSpool(log)
    log.descriptor = spool.fileno()
    os.write(spool.fileno(), b"x" * (job_log.SPOOL_LIMIT + 1) + b"\n")
    spool.pump()
    assert spool.tail() == "last\n"


def test_the_older_half_of_a_long_log_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_log, "LOG_LIMIT", 1000)
    log = ProjectLog(tmp_path / "log")
    for number in range(300):
        log.append(f"line {number}\n".encode())
    lines = log.path.read_text().splitlines()
    assert lines[-1] == "line 299"
    assert lines == [f"line {number}" for number in range(300 - len(lines), 300)]
    assert log.path.stat().st_size <= 1000


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    spool = OutputSpool(ProjectLog(tmp_path / "file" / "log"))
    os.write(spool.fileno(), b"word\n")
    assert spool.tail() == "word\n"


@pytest.mark.parametrize(
    ("status", "words"),
    [(0, "exited with code 0"), (-11, "killed by SIGSEGV"), (-15, "killed by SIGTERM"), (-99, "killed by signal 99")],
)
def test_a_status_in_words(status: int, words: str) -> None:
    assert describe_status(status) == words


STACK = """  File "/m.py", line 1 in printed by the user
Current thread 0x00007f (most recent call first):
  File "/lib/torch.py", line 9 in call
  File "/m.py", line 12 in forward
  File "/m.py", line 30 in <module>
"""


@pytest.mark.parametrize(("text", "path", "line"), [(STACK, "/m.py", 11), (STACK, "/x.py", None), ("", "/m.py", None)])
def test_the_innermost_line_of_the_analysed_file(text: str, path: str, line: int | None) -> None:
    assert innermost_line(text, path) == line
