"""What a check told is told again without running, while everything that its run looked at is what it was."""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path

import pytest
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug.engine.results.stamps import Stamp, stamps_of
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.system.wall_clock import ClockReading
from inductor_debug_schema import Checked, FileReport, FileStatus, to_wire

OLD = 1_600_000_000
MODEL = """\
import torch
from helper import WIDTH
SCALE = float(open("scale.txt").read())

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, WIDTH)

    def forward(self, x):
        print(x)
        return self.linear(x) * SCALE
"""


def test_a_file_is_what_stands_in_it(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one")
    stamp = Stamp.of(str(file))
    os.utime(file, (OLD, OLD))
    assert stamp.holds()
    file.write_text("two")
    assert not stamp.holds()
    file.unlink()
    assert not stamp.holds()


def test_a_folder_is_the_names_in_it(tmp_path: Path) -> None:
    stamp = Stamp.of(str(tmp_path))
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / ".hidden").touch()
    assert stamp.holds()
    (tmp_path / "new.py").touch()
    assert not stamp.holds()


def test_what_is_missing_must_stay_missing(tmp_path: Path) -> None:
    stamp = Stamp.of(str(tmp_path / "none" / "a.txt"))
    assert stamp.holds()
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "a.txt").touch()
    assert not stamp.holds()


def test_what_changes_meanwhile_has_no_stamp(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.touch()
    written = file.stat().st_mtime_ns
    assert stamps_of([str(file)], before=written) is None
    assert stamps_of([str(file)], before=written + 1) is not None


class Project:
    """A project of one model, checked by an engine of its own each time, as by one command after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".git").mkdir(parents=True)
        for name, text in (("model.py", MODEL), ("helper.py", "WIDTH = 4\n"), ("scale.txt", "2")):
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        os.utime(file, (OLD, time.time() - 60))

    async def check(self, **said: object) -> tuple[FileReport, bool]:
        """The report, and whether anything ran."""
        ran: list[str] = []

        def pool(*, interpreter: str, project_root: str, log_path: Path) -> WorkerPool:
            ran.append(interpreter)
            return WorkerPool(interpreter=interpreter, project_root=project_root, log_path=log_path)

        engine = Engine(
            settings_for=SettingsResolver(command_line=said, environ={}),
            listener=lambda update: None,
            pool_factory=pool,
            cache_folder=self.folder.parent / "cache",
            keeps_runs=True,
        )
        try:
            report = await engine.check(str(self.folder / "model.py"))
            assert engine.versions.torch
            return report, bool(ran)
        finally:
            await engine.shutdown()


@pytest.mark.torch
async def test_an_unchanged_file_is_told_again_and_a_changed_neighbour_runs_it_anew(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    first, ran = await project.check()
    assert ran
    assert [finding.rule for finding in first.findings] == ["graph-break"]
    again, ran = await project.check()
    assert not ran
    assert to_wire(again) == to_wire(first)

    project.write("helper.py", "WIDTH = 'wide'\n")  # what it imports
    broken, ran = await project.check()
    assert ran
    assert to_wire(broken) != to_wire(first)
    project.write("helper.py", "WIDTH = 4\n")
    assert (await project.check())[1]

    project.write("scale.txt", "30")  # what it reads
    assert (await project.check())[1]
    assert not (await project.check())[1]
    project.write("other.py", "from model import Net\n")  # who may say how its classes are built
    assert (await project.check())[1]


@pytest.mark.torch
@pytest.mark.parametrize("jump", [-3600, 3600])
async def test_a_run_while_which_somebody_set_the_clock_is_not_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    project = Project(tmp_path / "project")
    read, asked = time.time_ns, itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr("time.time_ns", lambda: read() + (jump * 10**9 if next(asked) else 0))
        first, ran = await project.check()
    assert ran
    again, ran = await project.check()
    assert ran, "what was changed meanwhile looks as old as the clock was set"
    assert to_wire(again.findings) == to_wire(first.findings)
    assert not (await project.check())[1]


def test_a_clock_that_runs_evenly_was_not_set() -> None:
    assert not ClockReading.now().clock_was_set()
    assert ClockReading().clock_was_set(), "nobody knows when that was"
    now = ClockReading.now()
    assert not ClockReading(now.wall - 10**9, now.steady - 10**9).clock_was_set()
    assert ClockReading(now.wall + 10**9, now.steady - 10**9).clock_was_set()


@pytest.mark.torch
async def test_a_missing_library_is_told_again_until_it_is_there(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    (project.folder / "helper.py").unlink()
    missing, ran = await project.check()
    assert ([finding.rule for finding in missing.findings], ran) == (["import-error"], True)
    assert (await project.check()) == (missing, False)
    project.write("helper.py", "WIDTH = 4\n")
    found, ran = await project.check()
    assert (found.status, ran) == (FileStatus.FINDINGS, True)


@pytest.mark.torch
async def test_a_file_that_its_own_code_keeps_from_loading_is_told_again_until_that_changes(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.write("helper.py", "WIDTH = None.width\n")
    broken, ran = await project.check()
    assert (broken.status, ran, [finding.rule for finding in broken.findings]) == (
        FileStatus.FAILED,
        True,
        ["capture-error"],
    )
    assert (await project.check()) == (broken, False)
    project.write("helper.py", "WIDTH = 4\n")
    found, ran = await project.check()
    assert (found.status, ran) == (FileStatus.FINDINGS, True)


@pytest.mark.torch
async def test_what_another_program_wrote_into_the_cache_is_not_believed(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    first, _ = await project.check()
    (kept,) = (tmp_path / "cache" / "runs").iterdir()
    for content in ("", "[]", '{"told": [1]}', json.dumps({"told": [], "versions": {}, "stamps": [{"path": 1}]})):
        kept.write_text(content)
        again, ran = await project.check()
        assert ran
        assert again.findings == first.findings


@pytest.mark.torch
async def test_what_a_limit_has_ended_is_told_again_until_it_may_take_longer(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.write("helper.py", "import time\nWIDTH = 4\nwhile True:\n    time.sleep(1)\n")
    late, ran = await project.check(timeout=2)
    assert (late.status, ran) == (FileStatus.TIMEOUT, True)
    assert await project.check(timeout=2) == (late, False)
    assert await project.check(timeout=1) == (late, False)
    assert (await project.check(timeout=3))[1]
    project.write("helper.py", "WIDTH = 4\n")
    through, ran = await project.check(timeout=60)
    assert (through.status, ran) == (FileStatus.FINDINGS, True)


GREEDY = """\
import ctypes, time, torch

class Fine(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

class Part(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x)

class Endless(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        while True:
            time.sleep(1)

class Mortal(torch.nn.Module):
    def forward(self, x):
        ctypes.string_at(0)
        return x

class Last(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        print(x)
        return self.linear(x)
"""


@pytest.mark.torch
async def test_a_class_that_never_ends_or_kills_its_process_costs_no_other_its_check(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.write("model.py", GREEDY)
    report, _ = await project.check(timeout=6)
    seen = {target.name: (target.checked, target.why) for target in report.targets}
    assert seen == {
        "Fine": (Checked.YES, ""),
        "Part": (Checked.YES, ""),
        "Endless": (
            Checked.NO,
            "Stopped after 6 s of work in the run stage of Endless: the limit that `timeout` sets.",
        ),
        "Mortal": (Checked.NO, seen["Mortal"][1]),
        "Last": (Checked.YES, ""),
    }
    assert seen["Mortal"][1].startswith(
        "The process that analysed this file died in the run stage of Mortal: killed by"
    )
    assert {(finding.rule, finding.target) for finding in report.findings} == {
        ("crash", "Mortal"),
        ("graph-break", "Last"),
    }
    assert report.status is FileStatus.CRASHED


@pytest.mark.torch
async def test_what_limits_left_of_a_file_is_told_again_until_it_may_take_longer(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.write("model.py", GREEDY.replace("ctypes.string_at(0)", "x = x + 1"))
    report, ran = await project.check(timeout=6)
    assert (report.status, ran) == (FileStatus.TIMEOUT, True)
    assert [finding.rule for finding in report.findings] == ["graph-break"]
    assert await project.check(timeout=6) == (report, False)
    assert (await project.check(timeout=7))[1]
