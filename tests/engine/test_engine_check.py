"""`Engine.check`: every kind of file gives a status and findings, never an exception."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from desk import SAVED, Desk, body, brief
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.results.analysis import AnalysisUpdate
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.engine.text.source_files import LARGEST_FILE
from inductor_debug_schema import FileStatus, Stage

FILES = [
    pytest.param(SAVED.encode(), FileStatus.FINDINGS, ["dtype 2:19-22"], id="findings"),
    pytest.param(body("x").encode(), FileStatus.CLEAN, [], id="clean"),
    pytest.param(b"NOTHING = 1\n", FileStatus.NO_TARGET, [], id="no target"),
    pytest.param(b"# NOTHING\n", FileStatus.NO_TARGET, [], id="comments only"),
    pytest.param(b"def f(:\n", FileStatus.FAILED, ["syntax-error 0:6-7"], id="syntax error"),
    pytest.param(
        b"# Heading\n\nSome *text*, not Python.\n", FileStatus.FAILED, ["syntax-error 2:11-12"], id="not Python"
    ),
    pytest.param(b"\x7fELF\x02\x01\x01\0\0\0", FileStatus.FAILED, ["unreadable 0:0-0"], id="binary"),
    pytest.param(b"x = 1\ns = '\xe9'\n", FileStatus.FAILED, ["unreadable 1:5-6"], id="not UTF-8"),
    pytest.param(b"# coding: no-such\n", FileStatus.FAILED, ["unreadable 0:0-0"], id="unknown encoding"),
    pytest.param(b"# coding: rot13\nx\n", FileStatus.FAILED, ["unreadable 0:0-0"], id="not a text encoding"),
    pytest.param(
        "# coding: latin-1\ns = 'é'; BAD\n".encode("latin-1"), FileStatus.FINDINGS, ["dtype 1:9-12"], id="PEP 263"
    ),
    pytest.param(b"\xef\xbb\xbfBAD = 1\n", FileStatus.FINDINGS, ["dtype 0:0-3"], id="byte order mark"),
    pytest.param(SAVED.replace("\n", "\r\n").encode(), FileStatus.FINDINGS, ["dtype 2:19-22"], id="CRLF"),
    pytest.param(b"IMPORTFAIL = 1\n", FileStatus.FAILED, ["import-error 0:0-1"], id="import error"),
    pytest.param(b"x = 1\n" * 170_000 + b"BAD\n", FileStatus.FINDINGS, ["dtype 170000:0-3"], id="1 MB"),
    pytest.param(b"#" * (LARGEST_FILE + 1), FileStatus.FAILED, ["unreadable 0:0-0"], id="too large"),
    pytest.param(b"(" * 5000, FileStatus.FAILED, ["syntax-error 0:200-201"], id="nested too deeply"),
]


@pytest.mark.parametrize(("content", "status", "findings"), FILES)
async def test_any_file_gives_a_status_and_findings(
    desk: Desk, content: bytes, status: FileStatus, findings: list[str]
) -> None:
    desk.path().write_bytes(content)
    report = await desk.engine.check(str(desk.path()))
    assert (report.status, brief(report)) == (status, findings)
    assert report.path == str(desk.path())


async def test_a_check_asks_an_export_for_its_formats_and_other_orders_do_not(desk: Desk) -> None:
    path = desk.write(SAVED)
    await desk.engine.check(path)
    await desk.engine.check(path, keep_graphs=True)
    await desk.engine.perform(path, Order(stages=(Stage.MOCK,), keep_graphs=True))
    assert [request.export_formats for request in desk.pools.requests] == [True, True, False]


async def test_what_is_no_file_says_so(desk: Desk) -> None:
    os.mkfifo(desk.path("pipe.py"))
    desk.path("folder.py").mkdir()
    desk.path("dangling.py").symlink_to(desk.path("nowhere"))
    said = {}
    for name in ("pipe.py", "folder.py", "dangling.py", "missing.py", "nul\0.py"):
        report = await desk.engine.check(str(desk.path(name)))
        assert report.status is FileStatus.FAILED
        said[name] = report.findings[0].message
    assert said == {
        "pipe.py": "This is not a regular file.",
        "folder.py": "This is a folder, not a Python file.",
        "dangling.py": "The file cannot be read: No such file or directory.",
        "missing.py": "The file cannot be read: No such file or directory.",
        "nul\0.py": "The file cannot be read: embedded null byte.",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_an_unreadable_file_says_so(desk: Desk) -> None:
    desk.write(SAVED)
    desk.path().chmod(0)
    report = await desk.engine.check(str(desk.path()))
    assert report.findings[0].message == "The file cannot be read: Permission denied."


async def test_progress_is_told_stage_by_stage(desk: Desk) -> None:
    desk.write(SAVED)
    updates: list[AnalysisUpdate] = []
    report = await desk.engine.check(str(desk.path()), updates.append)
    assert [update.state.value for update in updates[-2:]] == ["running", "done"]
    stages = list(dict.fromkeys(update.stage for update in updates))
    assert stages == [Stage.LOAD, Stage.PREVIEW, Stage.MOCK, None]
    assert updates[-1].report == report
    assert {(update.version, update.generation) for update in updates} == {(None, 0)}


async def test_the_second_check_of_a_file_runs_nothing(desk: Desk) -> None:
    desk.write(SAVED)
    first = await desk.engine.check(str(desk.path()))
    assert await desk.engine.check(str(desk.path())) == first
    assert len(desk.ran) == 1
    desk.settings(strict=True)
    second = await desk.engine.check(str(desk.path()))
    assert [finding.severity.value for finding in second.findings] == ["error"]
    assert len(desk.ran) == 1


async def test_a_dependency_that_changed_on_disk_is_noticed_without_being_told(desk: Desk) -> None:
    helper = desk.write("x = 1\n", "helper.py")
    os.utime(helper, (1_600_000_000, 1_600_000_000))
    desk.pools.dependencies.append(helper)
    desk.write(SAVED)
    await desk.engine.check(str(desk.path()))
    await desk.engine.check(str(desk.path()))
    assert len(desk.ran) == 1
    desk.write("x = 22\n", "helper.py")
    await desk.engine.check(str(desk.path()))
    assert len(desk.ran) == 2
    await desk.engine.check(str(desk.path()))  # written while we looked, for all we know: not trusted
    assert len(desk.ran) <= 3


async def test_a_setting_that_cannot_be_used_is_an_error(desk: Desk) -> None:
    desk.write(SAVED)
    desk.write("[tool.inductor-debug]\ntimeout = 0\n", "pyproject.toml")
    with pytest.raises(ConfigurationError, match="timeout"):
        await desk.engine.check(str(desk.path()))


async def test_a_pool_at_work_is_not_closed_for_another_project(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    names = [f"project{number}/model.py" for number in range(5)]
    for name in names:
        desk.path(name).parent.mkdir()
        desk.path(name).with_name("setup.py").touch()
        desk.open(name=name)
    for name in names:
        assert (await desk.settled(name)).report.status is FileStatus.FINDINGS
    assert [pool.closes for pool in desk.pools.made] == [0] * 5
    await desk.engine.shutdown()


async def test_two_projects_have_a_pool_each_and_the_oldest_idle_one_is_closed(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for number in range(5):
        folder = tmp_path / f"project{number}"
        folder.mkdir()
        (folder / "setup.py").touch()
        (folder / "model.py").write_text(SAVED)
        await desk.engine.check(str(folder / "model.py"))
    await desk.engine.shutdown()
    assert [pool.project_root for pool in desk.pools.made] == [str(tmp_path / f"project{n}") for n in range(5)]
    assert [pool.closes for pool in desk.pools.made] == [1] * 5
