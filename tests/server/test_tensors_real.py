"""`inductorDebug.tensors` through a real client: answered from the last runs, while typing as well."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from server_harness import PATIENCE, Process

pytestmark = pytest.mark.torch

Serve = Callable[..., Awaitable[Process]]
MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x):
        h = torch.relu(self.up(x))
        return x + self.down(h)


# inductor-debug: inputs=(torch.randn(8, 64),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[Block() for _ in range(60)])

    def forward(self, x):
        return self.blocks(x)
"""
LINE = MODEL.split("\n").index("        h = torch.relu(self.up(x))")


class Session:
    """A document in a real server."""

    def __init__(self, client: Process, uri: str) -> None:
        self.client, self.uri, self.version = client, uri, 1

    async def analysed(self, *states: str) -> None:
        def over(message: dict[str, Any]) -> bool:
            told = message.get("params") or {}
            return told.get("state") in (states or ("done",)) and told.get("version") == self.version

        await asyncio.wait_for(self.client.messages.first(over), 6 * PATIENCE)

    async def tensors(self, **options: Any) -> dict[str, Any]:
        arguments = [{"uri": self.uri, **options}]
        params = {"command": "inductorDebug.tensors", "arguments": arguments}
        return await self.client.request("workspace/executeCommand", params)

    def edit(self, text: str) -> None:
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


async def opened(serve: Serve, folder: Path) -> Session:
    (folder / "pyproject.toml").touch()
    path = folder / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    client = await serve("--cache-folder", str(folder / "cache"))
    await client.initialize(initializationOptions={"accelerator": "spyre", "stages": ["preview"]})
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": MODEL}
    client.notify("textDocument/didOpen", {"textDocument": document})
    return Session(client, path.as_uri())


async def test_a_line_is_told_at_once_and_stays_while_somebody_types(serve: Serve, tmp_path: Path) -> None:
    session = await opened(serve, tmp_path)
    await session.analysed()
    told = (await session.tensors(line=LINE, call=2))["result"]
    assert (told["why"], told["calls"], told["module"], told["accelerator"]) == ("", 60, "blocks.2", "spyre")
    assert (told["rows"][0]["label"], told["rows"][0]["roles"]) == ("h", ["made"])
    assert told["rows"][0]["layout"]["bytes"] > 0
    assert told["outdated"] is False

    # A statement that is not finished: the last results stay, at their new places.
    session.edit("# a note\n" + MODEL.replace("return x + self", "return x + (self"))
    await session.analysed("queued", "running", "stale", "done")
    told = (await session.tensors(line=LINE + 1, call=2))["result"]
    assert (told["calls"], told["outdated"], told["rows"][0]["label"]) == (60, True, "h")
    assert told["rows"][0]["made"]["range"]["start"]["line"] == LINE + 1


async def test_a_message_stays_small_and_the_rest_is_asked_for(serve: Serve, tmp_path: Path) -> None:
    session = await opened(serve, tmp_path)
    await session.analysed()
    labels: list[str] = []
    total = 1
    while len(labels) < total:
        answer = await session.tensors(line=LINE, first=len(labels))
        assert len(json.dumps(answer)) < 64 * 1024
        total = answer["result"]["row_count"]
        labels += [row["label"] for row in answer["result"]["rows"]]
    assert total == len(labels) > 240
    assert len({label for label in labels if label.startswith("blocks.")}) == 240


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs the option `line`"),
        ({"line": -1}, "numbers from 0 on"),
        ({"line": "3"}, "`line`: expected int, got str"),
        ({"line": 1, "module": 4}, "`module`: expected str, got int"),
        ({"line": 1, "colour": "red"}, "colour"),
    ],
)
async def test_bad_options_are_refused(serve: Serve, tmp_path: Path, options: dict[str, Any], words: str) -> None:
    session = await opened(serve, tmp_path)
    assert words in (await session.tensors(**options))["error"]["message"]


async def test_lines_and_files_without_tensors_say_why(serve: Serve, tmp_path: Path) -> None:
    session = await opened(serve, tmp_path)
    await session.analysed()
    assert "outside of the functions that Net called" in (await session.tensors(line=0))["result"]["why"]
    session.uri = (tmp_path / "other.py").as_uri()
    assert "not open" in (await session.tensors(line=0))["result"]["why"]
