"""The first fix of what was just typed: back to what ran, through a real client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.engine.fixes.edits import TextEdit, applied
from inductor_debug_schema import Position, Range
from server_harness import PATIENCE, Process
from test_code_actions import ABLE

pytestmark = pytest.mark.torch

Serve = Callable[..., Awaitable[Process]]
MODEL = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, -1).transpose(1, 2)
        v = v.view(B, T, self.heads, -1).transpose(1, 2)
        y = (q @ k.transpose(-2, -1)).softmax(dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(B, T, C))
"""
MISTAKES = {
    "a split along another dimension": ("split(C, dim=2)", "split(C, dim=1)"),
    "heads that are split wrongly": ("C // self.heads", "C // self.heads + 1"),
    "a reshape of half the size": ("reshape(B, T, C)", "reshape(B, T, C // 2)"),
    "other dimensions transposed": ("k.transpose(-2, -1)", "k.transpose(1, 2)"),
}


class Editor:
    """A document that is open in a real server."""

    def __init__(self, client: Process, uri: str) -> None:
        self.client, self.uri, self.version, self.text = client, uri, 1, ""

    @classmethod
    async def open(cls, serve: Serve, folder: Path, text: str) -> Editor:
        (folder / "pyproject.toml").touch()
        path = folder / "model.py"
        path.write_text(text)
        client = await serve("--cache-folder", str(folder / "cache"))
        await client.initialize(processId=os.getpid(), capabilities=ABLE)
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})
        editor = cls(client, path.as_uri())
        editor.text = text
        await editor.told("done")
        return editor

    async def edit(self, text: str, until: str = "done") -> None:
        self.version += 1
        self.text = text
        document = {"uri": self.uri, "version": self.version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        await self.told(until)

    async def told(self, state: str) -> None:
        def over(message: dict[str, Any]) -> bool:
            said = message.get("params") or {}
            return (said.get("state"), said.get("version")) == (state, self.version)

        await asyncio.wait_for(self.client.messages.first(over), 6 * PATIENCE)

    def problems(self) -> list[dict[str, Any]]:
        shown = self.client.messages.of("textDocument/publishDiagnostics")[-1]["diagnostics"]
        return [each for each in shown if each["severity"] == 1]

    async def fixes(self) -> list[dict[str, Any]]:
        """What is offered for the first error, asked for until something is proved."""

        async def ask() -> list[dict[str, Any]]:
            while not (proved := [each for each in await self._offered() if each["title"].endswith("(verified)")]):
                await asyncio.sleep(0.05)
            return proved

        return await asyncio.wait_for(ask(), 6 * PATIENCE)

    async def _offered(self) -> list[dict[str, Any]]:
        problems = self.problems()
        if not problems:
            return []
        params = {
            "textDocument": {"uri": self.uri},
            "range": problems[0]["range"],
            "context": {"diagnostics": problems[:1], "only": ["quickfix"]},
        }
        return (await self.client.request("textDocument/codeAction", params))["result"]

    def after(self, action: dict[str, Any]) -> str:
        """The text with the edits of an action."""
        [change] = action["edit"]["documentChanges"]
        places = ((edit["range"]["start"], edit["range"]["end"], edit["newText"]) for edit in change["edits"])
        return applied(
            self.text, [TextEdit(Range(Position(**start), Position(**end)), text) for start, end, text in places]
        )


@pytest.mark.parametrize("name", MISTAKES)
async def test_the_first_fix_of_a_typed_mistake_gives_the_text_that_ran(
    serve: Serve, tmp_path: Path, name: str
) -> None:
    right, wrong = MISTAKES[name]
    editor = await Editor.open(serve, tmp_path, MODEL)
    await editor.edit(MODEL.replace("        B, T, C", "        # shapes\n        B, T, C"))
    await editor.edit(editor.text.replace(right, wrong))
    first, *others = await editor.fixes()
    assert editor.after(first) == editor.text.replace(wrong, right)
    assert first["isPreferred"]
    assert not any(other["isPreferred"] for other in others)


async def test_a_lost_self_is_given_back_before_the_file_is_saved(serve: Serve, tmp_path: Path) -> None:
    editor = await Editor.open(serve, tmp_path, MODEL)
    await editor.edit(MODEL.replace("forward(self, x)", "forward(x)"), until="stale")
    first, *_ = await editor.fixes()
    assert editor.after(first) == MODEL


async def test_a_file_that_is_opened_broken_goes_back_to_what_ran_yesterday(serve: Serve, tmp_path: Path) -> None:
    yesterday = await Editor.open(serve, tmp_path, MODEL)
    await yesterday.client.request("shutdown")
    yesterday.client.notify("exit")
    await yesterday.client.ended()
    today = await Editor.open(serve, tmp_path, MODEL.replace("reshape(B, T, C)", "reshape(B, T, C // 2)"))
    first, *_ = await today.fixes()
    assert today.after(first) == MODEL
