"""The whole workspace is checked on request, and what was found stays true while files come, change and go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from server_harness import PUSHED, Editor, finding, turns

Make = Callable[..., Awaitable[Editor]]
MODEL = "from torch import nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.double()\n"


class Workspace:
    """A folder with two models, one that nobody finds fault with, and files that are not to be run."""

    def __init__(self, editor: Editor, folder: Path) -> None:
        self.editor, self.folder = editor, folder
        self.model, self.clean, self.helper = folder / "model.py", folder / "clean.py", folder / "helper.py"
        editor.engine.on_disk[str(self.model)] = [finding(self.model)]
        editor.engine.imports[self.model.as_uri()] = [str(self.helper)]

    @classmethod
    async def open(cls, make: Make, folder: Path) -> Workspace:
        for name in ("model.py", "clean.py"):
            (folder / name).write_text(MODEL)
        (folder / "helper.py").write_text("SIZE = 4\n")
        (folder / "test_model.py").write_text(MODEL)
        (folder / "setup.py").write_text("import setuptools\n")
        editor = await make(PUSHED)
        await editor.start(folder)
        return cls(editor, folder)

    def ask(self, **arguments: Any) -> int:
        command = "inductorDebug.checkWorkspace"
        return self.editor.ask("workspace/executeCommand", {"command": command, "arguments": [], **arguments})

    async def check(self) -> Any:
        return (await self.editor.answer(self.ask()))["result"]

    def shown(self, path: Path) -> int:
        """How many findings the client shows in a file now."""
        published = self.editor.published(path.as_uri())
        return len(published[-1]["diagnostics"]) if published else 0

    def state(self, path: Path) -> str | None:
        """The last state that the client heard of for a file."""
        told = self.editor.messages.of("inductorDebug/analysis")
        return next((params["state"] for params in reversed(told) if params["uri"] == path.as_uri()), None)

    async def touch(self, path: Path, kind: int = 2) -> None:
        """Tells the server that a file was changed (2) or deleted (3)."""
        changes = [{"uri": path.as_uri(), "type": kind}]
        self.editor.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        await turns()


@pytest.fixture
async def workspace(make_editor: Make, tmp_path: Path) -> Workspace:
    return await Workspace.open(make_editor, tmp_path)


async def test_only_files_with_models_run_and_their_findings_show_though_none_is_open(workspace: Workspace) -> None:
    summary = await workspace.check()
    assert [call for call in workspace.editor.engine.calls if call[0] == "check"] == [
        ("check", str(workspace.clean)),
        ("check", str(workspace.model)),
    ]
    assert (workspace.shown(workspace.model), workspace.shown(workspace.clean)) == (1, 0)
    assert workspace.state(workspace.clean) == "done"
    assert summary["files"] == 2
    assert summary["findings"] == 1
    assert summary["files_with_findings"] == 1
    assert (summary["not_opened"], summary["not_opened_why"]) == (3, "1 test, 1 set-up, 1 without torch")


async def test_the_bar_tells_how_many_files_are_through(workspace: Workspace) -> None:
    await workspace.editor.answer(workspace.ask(workDoneToken="bar"))
    values = [params["value"] for params in workspace.editor.messages.of("$/progress")]
    assert values[0]["title"] == "Checking the workspace"
    assert any(value.get("message", "").startswith("1 of 2 files") for value in values)
    assert values[-2]["percentage"] == 100
    assert values[-1]["kind"] == "end"


async def test_a_cancelled_check_keeps_what_had_come_and_runs_nothing_more(workspace: Workspace) -> None:
    engine = workspace.editor.engine
    engine.check_gate = asyncio.Event()
    asked = workspace.ask()
    while not any(call[0] == "check" for call in engine.calls):
        await turns()
    workspace.editor.notify("$/cancelRequest", {"id": asked})
    assert "error" in await workspace.editor.answer(asked)
    assert any(call[0] == "check cancelled" for call in engine.calls)
    assert workspace.shown(workspace.model) == 0


async def test_a_file_that_changes_is_marked_and_one_that_is_deleted_has_nothing_any_more(workspace: Workspace) -> None:
    await workspace.check()
    await workspace.touch(workspace.model)
    assert workspace.state(workspace.model) == "done", "it was written, and is the same"
    workspace.model.write_text(MODEL + "\n")
    await workspace.touch(workspace.model)
    assert (workspace.state(workspace.model), workspace.shown(workspace.model)) == ("stale", 1)
    workspace.model.unlink()
    await workspace.touch(workspace.model, 3)
    assert (workspace.state(workspace.model), workspace.shown(workspace.model)) == ("gone", 0)


async def test_a_change_of_what_a_file_imports_marks_it(workspace: Workspace) -> None:
    await workspace.check()
    await workspace.touch(workspace.helper)
    assert workspace.state(workspace.model) == "stale"
    assert workspace.state(workspace.clean) == "done"


async def test_a_document_speaks_for_its_file_until_it_is_closed(workspace: Workspace) -> None:
    await workspace.check()
    uri = workspace.editor.open(workspace.model, MODEL)
    await turns()
    workspace.editor.engine.done(uri, [finding(workspace.model, 3), finding(workspace.model, 4)])
    assert workspace.shown(workspace.model) == 2
    workspace.editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    await turns()
    assert workspace.shown(workspace.model) == 2, "what was found last stays, though the file is closed"
    assert workspace.state(workspace.model) == "done"


async def test_an_edit_that_was_thrown_away_leaves_an_outdated_result(workspace: Workspace) -> None:
    await workspace.check()
    uri = workspace.editor.open(workspace.model, MODEL)
    workspace.editor.change(uri, 2, {"text": MODEL + "# more\n"})
    await turns()
    workspace.editor.engine.done(uri, [])
    workspace.editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    await turns()
    assert workspace.state(workspace.model) == "stale"


async def test_without_a_folder_it_says_so(make_editor: Make) -> None:
    editor = await make_editor(PUSHED)
    await editor.start()
    answer = await editor.request("workspace/executeCommand", {"command": "inductorDebug.checkWorkspace"})
    assert "no folder to check" in answer["error"]["message"]
