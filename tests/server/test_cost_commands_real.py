"""The commands for charts with real workers and a real client: what their files say, and why there are none."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug_schema import ChartAnswer, ChartKind, CompileTimeDocument, RunProfileDocument, from_wire
from inductor_debug_schema.answers.memory_document import MemoryDocument
from inductor_debug_schema.answers.roofline_document import RooflineDocument
from server_harness import Process

pytestmark = pytest.mark.torch

Serve = Callable[..., Awaitable[Process]]
MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(256, 64),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(64, 1024)
        self.narrow = nn.Linear(1024, 8)

    def forward(self, x):
        h = self.wide(x).exp()
        return self.narrow(h).relu()
"""


async def asked(
    serve: Serve, folder: Path, chart: str, *, text: str = MODEL, accelerator: str = "", **more: Any
) -> ChartAnswer:
    choice = f'accelerator = "{accelerator}"\n' if accelerator else ""
    (folder / "pyproject.toml").write_text(f"[tool.inductor-debug]\n{choice}", encoding="utf-8")
    path = folder / "net.py"
    path.write_text(text, encoding="utf-8")
    client = await serve("--cache-folder", str(folder / "cache"))
    await client.initialize(processId=os.getpid(), workspaceFolders=[{"uri": folder.as_uri(), "name": "project"}])
    params = {"command": f"inductorDebug.{chart}", "arguments": [{"uri": path.as_uri(), "target": "Net", **more}]}
    answered = await client.request("workspace/executeCommand", params)
    return from_wire(ChartAnswer, answered["result"])


async def read(serve: Serve, path: Path) -> ChartAnswer:
    """What the daemon makes of something that another run has recorded."""
    client = await serve("--cache-folder", str(path.parent / "cache"))
    await client.initialize(processId=os.getpid(), workspaceFolders=[{"uri": path.parent.as_uri(), "name": "project"}])
    params = {"command": "inductorDebug.recording", "arguments": [{"uri": path.as_uri()}]}
    answered = await client.request("workspace/executeCommand", params)
    return from_wire(ChartAnswer, answered["result"])


def kept(answer: ChartAnswer) -> Any:
    (reference,) = answer.artifacts
    return json.loads(Path(reference.path).read_bytes())


async def test_memory_of_every_moment_comes_with_its_expressions(serve: Serve, tmp_path: Path) -> None:
    answer = await asked(serve, tmp_path, "memory")
    assert (answer.reason, answer.lacks_accelerator) == (None, False)
    document = from_wire(MemoryDocument, kept(answer))
    assert (document.target, document.path) == ("Net", str(tmp_path / "net.py"))
    peak = document.places[document.operation_places[document.peak]]
    assert (peak.text, peak.range.start.line) == ("self.wide(x).exp()", 12)
    alive = [piece for piece in document.pieces if piece.first <= document.peak < piece.end]
    assert sum(piece.bytes for piece in alive) == document.peak_bytes
    made_there = [piece for piece in document.pieces if piece.first == document.peak]
    assert [(piece.shape, document.places[piece.place].text) for piece in made_there] == [
        ([256, 1024], "self.wide(x).exp()")
    ]


async def test_a_roofline_has_the_costs_and_the_roofs_of_the_accelerator(serve: Serve, tmp_path: Path) -> None:
    answer = await asked(serve, tmp_path, "roofline", accelerator="h100")
    document = from_wire(RooflineDocument, kept(answer))
    assert document.bytes_per_second == pytest.approx(3.352e12, rel=0.01)
    rates = {name: ceiling.operations_per_second for ceiling in document.ceilings for name in ceiling.formats}
    assert rates["bfloat16"] > rates["tf32"] > rates["float32"]
    by_text = {row.text: row for row in document.cost.expressions if not row.backward}
    product = by_text["self.wide(x)"]
    assert product.cost.operations == 2 * 256 * 64 * 1024
    assert product.cost.seconds is not None
    assert product.cost.operations / product.cost.seconds <= max(rates.values())
    assert any(row.backward for row in document.cost.expressions)


@pytest.mark.parametrize(
    ("accelerator", "words"), [("", "none is chosen. Choose the one"), ("mock", "Nobody says how fast")]
)
async def test_without_roofs_one_is_told_what_to_choose(
    serve: Serve, tmp_path: Path, accelerator: str, words: str
) -> None:
    answer = await asked(serve, tmp_path, "roofline", accelerator=accelerator)
    assert (answer.artifacts, answer.lacks_accelerator) == ([], True)
    assert words in (answer.reason or "")


@pytest.mark.parametrize("chart", ["memory", "roofline", "compileTime"])
async def test_what_does_not_run_is_told_with_its_place(serve: Serve, tmp_path: Path, chart: str) -> None:
    broken = MODEL.replace("nn.Linear(1024, 8)", "nn.Linear(1000, 8)")
    answer = await asked(serve, tmp_path, chart, text=broken, accelerator="h100")
    assert "1024" in (answer.reason or "")
    if chart == "compileTime":
        return
    assert answer.place is not None
    assert answer.place.range.start.line == 13
    if chart == "roofline":
        assert answer.artifacts == []
    else:
        document = from_wire(MemoryDocument, kept(answer))
        assert [place.text for place in document.places][:2] == ["self.wide(x)", "self.wide(x).exp()"], (
            "as far as it ran"
        )


async def test_a_profile_has_the_time_of_each_expression(serve: Serve, tmp_path: Path) -> None:
    answer = await asked(serve, tmp_path, "profile", backend="eager", training=False, accelerator="h100")
    assert (answer.reason, answer.kind) == (None, ChartKind.PROFILE)
    document = from_wire(RunProfileDocument, kept(answer))
    assert (document.target, document.side, document.training) == ("Net", "eager", False)
    rows = {row.text: row for row in document.expressions}
    assert {"self.wide(x)", "self.wide(x).exp()", "self.narrow(h)"} <= rows.keys()
    assert all(row.time.seconds > 0 for row in rows.values())
    assert rows["self.wide(x)"].bound_seconds


async def test_why_there_is_no_profile_is_told(serve: Serve, tmp_path: Path) -> None:
    answer = await asked(serve, tmp_path, "profile", trace=(tmp_path / "nowhere.json").as_uri())
    assert answer.artifacts == []
    assert "nowhere.json cannot be read" in (answer.reason or "")


async def test_a_snapshot_and_a_trace_of_another_machine_open_without_a_model(serve: Serve, tmp_path: Path) -> None:
    frames = [{"filename": str(tmp_path / "net.py"), "line": 14, "name": "forward"}]
    (tmp_path / "net.py").write_text(MODEL, encoding="utf-8")
    allocated = {"action": "alloc", "addr": 0, "size": 1000, "stream": 0, "frames": frames}
    snapshot = tmp_path / "snapshot.pickle"
    snapshot.write_bytes(pickle.dumps({"segments": [], "device_traces": [[allocated]]}))
    answer = await read(serve, snapshot)
    assert (answer.reason, answer.kind) == (None, ChartKind.MEMORY)
    assert [place.text for place in from_wire(MemoryDocument, kept(answer)).places] == ["return self.narrow(h).relu()"]
    snapshot.write_bytes(pickle.dumps({"device_traces": [[os.getcwd]]}))
    refused = await read(serve, snapshot)
    assert refused.artifacts == []
    assert "containers, strings and numbers alone" in (refused.reason or "")
    trace = tmp_path / "trace.json"
    ran = {"ph": "X", "cat": "kernel", "name": "sgemm", "ts": 1, "dur": 5, "pid": 0, "tid": 7, "args": {}}
    trace.write_text(json.dumps({"traceEvents": [ran]}), encoding="utf-8")
    answer = await read(serve, trace)
    assert (answer.reason, answer.kind) == (None, ChartKind.PROFILE)
    assert [row.name for row in from_wire(RunProfileDocument, kept(answer)).kernels] == ["sgemm"]


async def test_a_lens_tells_what_has_changed_since_the_commit(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL.replace("1024", "512"), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.inductor-debug]\naccelerator = "h100"\n', encoding="utf-8")
    for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@example.org commit -qm first"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True, capture_output=True)
    path.write_text(MODEL, encoding="utf-8")
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    await client.initialize(processId=os.getpid(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": MODEL}
    client.notify("textDocument/didOpen", {"textDocument": document})
    told: list[str] = []
    for _ in range(600):
        answer = await client.request("textDocument/codeLens", {"textDocument": {"uri": path.as_uri()}})
        told = [lens["command"]["title"] for lens in answer["result"] or () if "at least" in lens["command"]["title"]]
        if any("HEAD" in title for title in told):
            break
        await asyncio.sleep(0.1)
    assert [title.partition("), ")[2] for title in told] == ["bytes +67 %, peak +95 % since HEAD"]


async def test_a_lens_says_where_compiling_goes_once_somebody_asked(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL, encoding="utf-8")
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    options = {"clientCommands": ["inductorDebug.showCompileTime"]}
    folders = [{"uri": tmp_path.as_uri(), "name": "project"}]
    await client.initialize(processId=os.getpid(), workspaceFolders=folders, initializationOptions=options)
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": MODEL}
    client.notify("textDocument/didOpen", {"textDocument": document})

    async def lenses() -> list[dict[str, Any]]:
        answer = await client.request("textDocument/codeLens", {"textDocument": {"uri": path.as_uri()}})
        return [lens["command"] for lens in answer["result"] or ()]

    for _ in range(600):
        before = await lenses()
        if any("no findings" in lens["title"] for lens in before):
            break
        await asyncio.sleep(0.1)
    assert not [lens for lens in before if lens["title"].startswith("compile")]
    params = {"command": "inductorDebug.compileTime", "arguments": [{"uri": path.as_uri(), "target": "Net"}]}
    answer = from_wire(ChartAnswer, (await client.request("workspace/executeCommand", params))["result"])
    kept_document = from_wire(CompileTimeDocument, kept(answer))
    assert (answer.reason, kept_document.target, kept_document.graphs) == (None, "Net", 1)
    (lens,) = (lens for lens in await lenses() if lens["title"].startswith("compile"))
    assert " % " in lens["title"]
    assert (lens["command"], lens["arguments"]) == ("inductorDebug.showCompileTime", [path.as_uri(), "Net"])
    assert kept_document.tried is None
    params["arguments"][0]["ways"] = True
    answer = from_wire(ChartAnswer, (await client.request("workspace/executeCommand", params))["result"])
    tried = from_wire(CompileTimeDocument, kept(answer)).tried
    assert tried is not None
    assert tried.why_not.startswith("it has no equal layers")
    edit = {"textDocument": {"uri": path.as_uri(), "version": 2}, "contentChanges": [{"text": MODEL + "\n"}]}
    client.notify("textDocument/didChange", edit)
    assert [lens["title"][-22:] for lens in await lenses() if lens["title"].startswith("compile")] == [
        ", before the last edit"
    ]
