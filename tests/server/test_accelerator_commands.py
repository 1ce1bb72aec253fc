"""What an editor is answered that asks what several accelerators make of a model, with real workers."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug_schema import AcceleratorComparison, from_wire
from server_harness import PATIENCE, Process

from tests.accelerators.packages import HEAD, TEMPLATE, environment_with, install

pytestmark = pytest.mark.torch

LINES = 150
MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 17),)
class Net(nn.Module):
    def forward(self, x):
{lines}
        return x
"""


async def asked(client: Process, **arguments: Any) -> dict[str, Any]:
    params = {"command": "inductorDebug.compareAccelerators", "arguments": [arguments], "workDoneToken": 3}
    return await client.request("workspace/executeCommand", params)


async def test_one_message_holds_the_comparison_and_says_what_it_left_out(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "board.toml").write_text('schema = 1\nname = "board"\nextends = "spyre"\n')
    path = tmp_path / "net.py"
    many = "\n".join(f"        x = x.double().add({number}).float()" for number in range(LINES))
    path.write_text(MODEL.format(lines=many), encoding="utf-8")
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    folders = [{"uri": tmp_path.as_uri(), "name": "project"}]
    await client.initialize(processId=os.getpid(), workspaceFolders=folders)

    answer = (await asked(client, uri=path.as_uri(), accelerators=["board.toml", "none"]))["result"]
    assert len(json.dumps(answer)) < 64 << 10
    comparison = from_wire(AcceleratorComparison, answer["comparison"])
    board, none = comparison.columns
    assert (board.accelerator, board.name, board.chosen) == (str(tmp_path / "board.toml"), "board", False)
    assert (none.accelerator, none.chosen) == ("none", True)
    assert board.left_out > 0
    assert len(board.findings) + board.left_out == sum(count.findings for count in board.counts) > LINES

    paged = (await asked(client, uri=path.as_uri(), accelerators=["board.toml", "none"], format="html"))["result"]
    [kept] = [artifact["path"] for artifact in paged["artifacts"] if artifact["media_type"] == "text/html"]
    page = Path(kept).read_text(encoding="utf-8")
    assert paged["page"] is None, "it fits into no message"
    assert page.count("<li>") == sum(count.findings for one in (board, none) for count in one.counts), "all of them"

    answer = (await asked(client, uri=path.as_uri(), target="Net"))["result"]
    assert [column["name"] for column in answer["comparison"]["columns"]] == ["mock", "spyre"]

    error = (await asked(client, uri=path.as_uri(), accelerators=["sypre"]))["error"]
    assert "did you mean 'spyre'" in error["message"]
    error = (await asked(client, uri=path.as_uri(), accelerators="spyre"))["error"]
    assert "`accelerators`: expected list, got str" in error["message"]

    path.write_text("raise ValueError('no model today')\n", encoding="utf-8")
    answer = (await asked(client, uri=path.as_uri()))["result"]
    assert (answer["status"], answer["comparison"], answer["place"]["path"]) == ("failed", None, str(path))
    assert "no model today" in answer["reason"]


async def test_installed_adapters_are_offered_and_hovers_know_their_layouts(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    interpreter = environment_with(TEMPLATE, tmp_path / "environment")
    project = tmp_path / "project"
    project.mkdir()
    path = project / "model.py"
    text = (TEMPLATE / "model.py").read_text()
    path.write_text(text)
    (project / "pyproject.toml").touch()
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    chosen = {"accelerator": "TinyChip", "interpreter": interpreter, "stages": ["preview"]}
    await client.initialize(processId=os.getpid(), initializationOptions=chosen)

    params = {"command": "inductorDebug.accelerators", "arguments": [{"uri": path.as_uri()}]}
    listed = (await client.request("workspace/executeCommand", params))["result"]
    offered = {entry["name"] for entry in listed["accelerators"] if not entry["gpu"]}
    assert offered == {"mock", "spyre", "tinychip", "tinychip2"}
    assert listed["interpreter"] == interpreter
    assert listed["chosen"] == "tinychip", "the setting is written as people write it"

    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    done = client.messages.first(lambda message: (message.get("params") or {}).get("state") == "done")
    await asyncio.wait_for(done, 6 * PATIENCE)
    line = next(number for number, words in enumerate(text.splitlines()) if "self.wide(x)" in words)
    place = {"line": line, "character": text.splitlines()[line].index("self.wide(x)") + 2}
    hover = await client.request("textDocument/hover", {"textDocument": {"uri": path.as_uri()}, "position": place})
    said = str(hover["result"]["contents"])
    assert "on tinychip: [16, 3, 16]" in said
    assert "tinychip/even-rows" in said


SLOW = f"""{HEAD}
    import os, time
    while not os.path.exists({{gate!r}}):
        time.sleep(0.05)
    class Slow(AcceleratorAdapter):
        capabilities = AcceleratorCapabilities("slow", dtypes=frozenset({{{{"float16"}}}}))
"""


async def test_the_server_answers_while_an_adapter_is_loaded_and_then_judges_by_it(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    install(tmp_path / "site", monkeypatch, {"slow": "chips:Slow"}, {"chips": SLOW.format(gate=str(gate))})
    path = tmp_path / "project" / "net.py"
    path.parent.mkdir()
    text = MODEL.format(lines="        x = x + 1")
    path.write_text(text)
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    chosen = {"accelerator": "slow", "stages": ["preview"]}
    await client.initialize(processId=os.getpid(), initializationOptions=chosen)
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    params = {"command": "inductorDebug.accelerators", "arguments": [{"uri": path.as_uri()}]}
    listing = asyncio.ensure_future(client.request("workspace/executeCommand", params))
    outline = {"command": "inductorDebug.outline", "arguments": [{"uri": path.as_uri()}]}
    answered = await client.request("workspace/executeCommand", outline)
    assert "Net" in json.dumps(answered["result"])
    assert not listing.done(), "the adapter is still being loaded"
    gate.touch()
    listed = (await listing)["result"]["accelerators"]
    assert {entry["name"]: entry["problem"] for entry in listed}["slow"] == ""
    done = client.messages.first(lambda message: (message.get("params") or {}).get("state") == "done")
    finished = (await asyncio.wait_for(done, 6 * PATIENCE))["params"]
    assert finished["accelerator"] == "slow"
    published = client.messages.of("textDocument/publishDiagnostics")[-1]["diagnostics"]
    assert {finding["code"] for finding in published} == {"dtype"}
