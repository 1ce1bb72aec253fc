"""The command for bug reports: nothing is written before the list of files was answered, and only what was gathered."""

from __future__ import annotations

import asyncio
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.engine.bug_report import bug_report
from inductor_debug.engine.orders.orders import Performed
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    FileReport,
    FileStatus,
    ReproDocument,
    ReproTask,
    Stage,
)
from server_harness import Editor, finding

Make = Callable[..., Awaitable[Editor]]
GRAPHS = ArtifactMade(ArtifactKind.FX_GRAPHS, "graphs", ".txt", "text/plain", b"graph():", "Model", Stage.MOCK)


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking an interpreter for its versions imports torch there; other tests do that."""

    async def collected(interpreter: str) -> str:
        return "PyTorch version: 2.13.0\n"

    monkeypatch.setattr(bug_report, "collected", collected)


def ask(editor: Editor, **options: Any) -> int:
    params = {"command": "inductorDebug.bugReport", "arguments": [options], "workDoneToken": "mine"}
    return editor.ask("workspace/executeCommand", params)


async def opened(start_editor: Make, tmp_path: Path) -> tuple[Editor, str]:
    editor = await start_editor()
    path = tmp_path / "model.py"
    uri = editor.open(path)
    shown = finding(path, message="first")
    editor.engine.done(uri, [shown, finding(path, 5, "layout", "second")])
    report = FileReport(str(path), FileStatus.FINDINGS, [], [shown])
    editor.engine.performed = Performed(
        report, "", [Answered("Model", ReproDocument.without_script("it is gone"))], [GRAPHS]
    )
    return editor, uri


async def test_gathering_lists_the_files_and_writes_nothing(start_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(start_editor, tmp_path)
    result = (await editor.answer(ask(editor, uri=uri, bisect=False)))["result"]
    files = {entry["name"]: entry for entry in result["files"]}
    assert {"ISSUE.md", "findings.json", "graphs/Model-mock-graphs.txt", "environment.txt"} <= set(files)
    assert files["graphs/Model-mock-graphs.txt"]["bytes"] == len(GRAPHS.content)
    assert "bisection: not asked for" in result["missing"]
    assert result["title"] == "[dtype] first"
    assert result["title"] in result["body"]
    assert list(tmp_path.iterdir()) == []
    values = [params["value"] for params in editor.messages.of("$/progress")]
    assert (values[0]["kind"], values[-1]["kind"]) == ("begin", "end")
    assert "logging transfers" in [value.get("message") for value in values]


async def test_the_second_step_writes_exactly_what_was_listed(start_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(start_editor, tmp_path)
    gathered = (await editor.answer(ask(editor, uri=uri, bisect=False)))["result"]
    target = tmp_path / "report.zip"
    written = (await editor.answer(ask(editor, id=gathered["id"], write=str(target))))["result"]
    assert written == {"path": str(target), "bytes": target.stat().st_size}
    with zipfile.ZipFile(target) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    assert sizes == {entry["name"]: entry["bytes"] for entry in gathered["files"]}
    nowhere = tmp_path / "no" / "such" / "report.zip"
    error = (await editor.answer(ask(editor, id=gathered["id"], write=str(nowhere))))["error"]
    assert "cannot be written" in error["message"], "and it can be written elsewhere"
    assert "result" in await editor.answer(ask(editor, id=gathered["id"], write=str(target)))


async def test_a_report_is_about_the_finding_that_was_meant(start_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(start_editor, tmp_path)
    result = (await editor.answer(ask(editor, uri=uri, bisect=False, fingerprint="layout-5")))["result"]
    assert result["title"] == "[layout] second"
    tasks = [call[2].task for call in editor.engine.calls if call[0] == "perform"]
    assert [task.rule for task in tasks if isinstance(task, ReproTask)] == ["layout"]


async def test_only_the_newest_reports_can_be_written(start_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(start_editor, tmp_path)
    results = [(await editor.answer(ask(editor, uri=uri, bisect=False)))["result"] for _ in range(4)]
    error = (await editor.answer(ask(editor, id=results[0]["id"], write=str(tmp_path / "a.zip"))))["error"]
    assert error["message"] == "There is no such report any more; gather it again."
    assert "result" in await editor.answer(ask(editor, id=results[-1]["id"], write=str(tmp_path / "b.zip")))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"fingerprint": "gone"}, "The finding is not there any more."),
        ({"uri": "untitled:Untitled-1"}, "untitled:Untitled-1 is not the URI of a file."),
        ({"target": ["Model"]}, "inductorDebug.bugReport: `target`: expected str, got list."),
    ],
    ids=["finding gone", "no file", "no target"],
)
async def test_what_cannot_be_reported_on_is_refused(
    start_editor: Make, tmp_path: Path, options: dict[str, Any], complaint: str
) -> None:
    editor, uri = await opened(start_editor, tmp_path)
    assert (await editor.answer(ask(editor, **{"uri": uri, **options})))["error"]["message"] == complaint


async def test_cancelling_stops_what_is_being_gathered(start_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(start_editor, tmp_path)
    editor.engine.check_gate = asyncio.Event()
    asked = ask(editor, uri=uri)
    await editor.messages.first(lambda message: message.get("method") == "$/progress")
    editor.notify("$/cancelRequest", {"id": asked})
    assert (await editor.answer(asked))["error"]["code"] == -32800
    assert editor.engine.calls[-1] == ("perform cancelled", str(tmp_path / "model.py"))
    assert editor.messages.of("$/progress")[-1]["value"]["kind"] == "end"
