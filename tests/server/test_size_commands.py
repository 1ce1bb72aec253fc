"""Sizes as an editor sets them: lens, hints, hover and refusals, with real workers."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug_schema import TargetSizes, from_wire
from server_harness import Process

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 32, 64),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 128)

    def forward(self, x):
        batch, seq, _ = x.shape
        y = self.fc(x)
        return y.reshape(batch * seq, 128)
"""


async def command(client: Process, name: str, **arguments: Any) -> dict[str, Any]:
    return await client.request(
        "workspace/executeCommand", {"command": f"inductorDebug.{name}", "arguments": [arguments]}
    )


def generations(client: Process) -> list[int]:
    """The generations that have ended."""
    told = client.messages.of("inductorDebug/analysis")
    return [update["generation"] for update in told if update["state"] == "done"]


async def settled(client: Process, after: int) -> None:
    """Waits for an analysis that began after a generation."""

    def ended(message: dict[str, Any]) -> bool:
        update = message.get("params") or {}
        analysis = message.get("method") == "inductorDebug/analysis"
        return analysis and update["state"] == "done" and update["generation"] > after

    await client.messages.first(ended)


async def sizes_known(client: Process) -> None:
    """Waits until it is told which sizes are free, which takes a run after the analysis."""

    def told(message: dict[str, Any]) -> bool:
        update = message.get("params") or {}
        analysis = message.get("method") == "inductorDebug/analysis"
        return analysis and update["state"] == "done" and any(target.get("sizes") for target in update["targets"])

    await client.messages.first(told)


async def hints(client: Process, uri: str) -> list[str]:
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    params = {"textDocument": {"uri": uri}, "range": whole}
    return [hint["label"] for hint in (await client.request("textDocument/inlayHint", params))["result"]]


async def lens(client: Process, uri: str) -> str:
    lenses = (await client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}))["result"]
    return next(lens["command"]["title"] for lens in lenses if lens["command"]["command"] == "inductorDebug.showSizes")


async def test_an_editor_changes_sizes_and_is_shown_what_follows(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "net.py"
    path.write_text(MODEL, encoding="utf-8")
    uri = path.as_uri()
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    await client.initialize(
        processId=os.getpid(),
        workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}],
        initializationOptions={"clientCommands": ["inductorDebug.showSizes"]},
    )
    document = {"uri": uri, "languageId": "python", "version": 1, "text": MODEL}
    client.notify("textDocument/didOpen", {"textDocument": document})
    await sizes_known(client)
    assert await lens(client, uri) == "batch 4 · seq 32"
    assert ": f32[4, 32, 128]" in await hints(client, uri)

    answer = (await command(client, "setSizes", uri=uri, target="Net", sizes={"batch": 7}))["result"]
    told = from_wire(TargetSizes, answer)
    assert (told.at_once, {size.name: (size.value, size.given) for size in told.sizes}) == (
        True,
        {"batch": (7, True), "seq": (32, False)},
    )
    assert await lens(client, uri) == "batch 7 · seq 32 (set by you)"
    assert ": f32[7, 32, 128]" in await hints(client, uri)
    await settled(client, max(generations(client)))
    assert ": f32[7, 32, 128]" in await hints(client, uri)
    at = {"textDocument": {"uri": uri}, "position": {"line": 12, "character": 14}}
    hover = (await client.request("textDocument/hover", at))["result"]["contents"]["value"]
    assert "with batch 7 (set by you)" in hover

    for sizes, message in (
        ({"batch": 0}, "whole numbers from 1"),
        ({"batch": True}, "`sizes`.batch: expected int"),
        ({"batch": 1 << 40}, "whole numbers from 1"),
        ({"bach": 3}, "did you mean 'batch'"),
    ):
        refused = await command(client, "setSizes", uri=uri, target="Net", sizes=sizes)
        assert message in refused["error"]["message"]
    (known,) = (await command(client, "sizes", uri=uri))["result"]
    assert {size["name"]: size["value"] for size in known["sizes"]} == {"batch": 7, "seq": 32}
    assert (await command(client, "sizes", uri="file:///nowhere.py"))["result"] == []
