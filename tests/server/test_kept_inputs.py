"""The inputs with which a class last ran judge its edits, through a real client, until the user asks for others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from server_harness import PATIENCE, Process

pytestmark = pytest.mark.torch

Serve = Callable[..., Awaitable[Process]]
ABLE = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
    },
}
MODEL = """\
from torch import nn
import torch


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8 * 26 * 26, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        return self.fc(torch.flatten(x, 1))
"""
OTHER_INPUT = MODEL.replace("nn.Conv2d(1, 8", "nn.Conv2d(3, 8")
WRONG = MODEL.replace("8 * 26 * 26", "8 * 26 * 25")


class Editor:
    """A document that is open in a real server."""

    def __init__(self, client: Process, path: Path) -> None:
        self.client, self.path, self.version = client, path, 1

    @classmethod
    async def open(cls, serve: Serve, folder: Path, text: str) -> Editor:
        (folder / "pyproject.toml").touch()
        path = folder / "model.py"
        path.write_text(text)
        client = await serve("--cache-folder", str(folder / "cache"))
        await client.initialize(capabilities=ABLE)
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})
        editor = cls(client, path)
        await editor.analysed()
        return editor

    async def edit(self, text: str) -> None:
        self.version += 1
        document = {"uri": self.path.as_uri(), "version": self.version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        await self.analysed()

    async def analysed(self, cause: Callable[[dict[str, Any]], bool] = lambda told: True) -> None:
        def over(message: dict[str, Any]) -> bool:
            told = message.get("params") or {}
            return (told.get("state"), told.get("version")) == ("done", self.version) and cause(told)

        await asyncio.wait_for(self.client.messages.first(over), 6 * PATIENCE)

    def problems(self) -> list[tuple[str, int, int]]:
        """Rule, severity and line of what is shown."""
        shown = self.client.messages.of("textDocument/publishDiagnostics")[-1]["diagnostics"]
        return [(item["code"], item["severity"], item["range"]["start"]["line"]) for item in shown]

    async def actions(self, line: int) -> dict[str, dict[str, Any]]:
        place = {"line": line, "character": 26}
        response = await self.client.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": self.path.as_uri()},
                "range": {"start": place, "end": place},
                "context": {"diagnostics": [], "only": ["quickfix"]},
            },
        )
        return {action["title"]: action for action in response["result"]}


async def test_an_edit_that_wants_other_inputs_is_told_until_they_are_asked_for(serve: Serve, tmp_path: Path) -> None:
    editor = await Editor.open(serve, tmp_path, MODEL)
    assert editor.problems() == []
    await editor.edit(OTHER_INPUT)
    assert editor.problems() == [("capture-error", 2, 11)]
    action = (await editor.actions(11))["Infer the inputs of Net anew: x f32[batch, 3, 28, 28]"]
    before = len(editor.client.messages.of("inductorDebug/analysis"))
    await editor.client.request("workspace/executeCommand", action["command"])
    await editor.analysed(lambda told: told in editor.client.messages.of("inductorDebug/analysis")[before:])
    assert editor.problems() == []


async def test_what_ran_yesterday_judges_the_file_that_is_opened_today(serve: Serve, tmp_path: Path) -> None:
    first = await Editor.open(serve, tmp_path, MODEL)
    await first.client.request("shutdown")
    first.client.notify("exit")
    await first.client.ended()
    second = await Editor.open(serve, tmp_path, OTHER_INPUT)
    assert second.problems() == [("capture-error", 2, 11)]


async def test_an_edit_that_nothing_can_run_is_an_error_and_gone_when_it_is_undone(
    serve: Serve, tmp_path: Path
) -> None:
    editor = await Editor.open(serve, tmp_path, MODEL)
    await editor.edit(WRONG)
    assert editor.problems() == [("capture-error", 1, 12)]
    assert not any(title.startswith("Silence") for title in await editor.actions(12))
    await editor.edit(MODEL)
    assert editor.problems() == []
