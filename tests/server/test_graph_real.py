"""The graph and report commands with real workers: what they name is there, and says what the model does."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import needed
import pytest
from inductor_debug.artifacts.graph_columns import MEDIA_TYPE, decode
from inductor_debug_schema import GraphKind
from server_harness import Process

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 8),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 16)

    def forward(self, x):
        return torch.relu(self.fc(x)).sum()
"""


async def test_graphs_of_a_file_are_kept_and_named(serve: Callable[..., Awaitable[Process]], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "net.py"
    path.write_text(MODEL, encoding="utf-8")
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    folders = [{"uri": tmp_path.as_uri(), "name": "project"}]
    await client.initialize(processId=os.getpid(), workspaceFolders=folders)
    params = {"command": "inductorDebug.graph", "arguments": [{"uri": path.as_uri(), "stages": ["aot"]}]}
    result = (await client.request("workspace/executeCommand", {**params, "workDoneToken": 7}))["result"]
    assert (result["status"], result["reason"], result["notes"]) == ("clean", None, [])
    assert [stage["state"] for target in result["targets"] for stage in target["stages"]] == ["done"]
    kept = {(artifact["kind"], artifact["media_type"]): Path(artifact["path"]) for artifact in result["artifacts"]}
    assert all(artifact["bytes"] == Path(artifact["path"]).stat().st_size for artifact in result["artifacts"])
    assert all(tmp_path / "cache" / "artifacts" in place.parents for place in kept.values())
    document = decode(kept["aot_graphs", MEDIA_TYPE].read_bytes())
    assert (document.target, document.path) == ("Net", str(path))
    assert {GraphKind.FORWARD, GraphKind.BACKWARD} <= {graph.kind for graph in document.graphs}
    statistics = json.loads(kept["statistics", "application/json"].read_bytes())
    assert statistics["memory"]["parameter"] == {"tensors": 2, "bytes": (8 * 16 + 16) * 4}
    params = {"command": "inductorDebug.report", "arguments": [{"uri": path.as_uri()}]}
    [kept_report] = (await client.request("workspace/executeCommand", params))["result"]["artifacts"]
    assert (kept_report["kind"], kept_report["media_type"]) == ("reports", "text/html")
    page = Path(kept_report["path"]).read_text(encoding="utf-8")
    assert ">net.py</h2>" in page
    assert "no findings in 1 file" in page
    assert str(tmp_path) not in page
    assert statistics["flops"] - statistics["backward_flops"] == 2 * 4 * 8 * 16


GATE = """\
import torch


# inductor-debug: inputs=(torch.randn(64, 128),)
def gate(x):
    return torch.sigmoid(x) * x + 1
"""


async def test_kernels_for_a_gpu_are_compiled_and_told_as_they_come(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.inductor-debug]\naccelerator = "h100"\n', encoding="utf-8")
    path = tmp_path / "gate.py"
    path.write_text(GATE, encoding="utf-8")
    beside = os.pathsep.join(filter(None, [needed.triton_folder(), os.environ.get("PYTHONPATH", "")]))
    # No process of the suite's: those were started without Triton.
    own = [sys.executable, "-m", "inductor_debug"]
    cache = str(tmp_path / "cache")
    client = await Process.start("--cache-folder", cache, environment={"PYTHONPATH": beside}, command=own)
    try:
        await _compiled_and_told(client, path)
    finally:
        await client.kill()


async def _compiled_and_told(client: Process, path: Path) -> None:
    await client.initialize(processId=os.getpid(), workspaceFolders=[{"uri": path.parent.as_uri(), "name": "project"}])
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": GATE}
    client.notify("textDocument/didOpen", {"textDocument": document})
    request = {"uri": path.as_uri(), "target": "gate", "stages": ["inductor"]}
    await client.request("workspace/executeCommand", {"command": "inductorDebug.graph", "arguments": [request]})
    arguments = [{**request, "compile": True, "partialResultToken": "pieces"}]
    params = {"command": "inductorDebug.graph", "arguments": arguments, "workDoneToken": "bar"}
    result = (await client.request("workspace/executeCommand", params))["result"]
    (graphs,) = (Path(made["path"]) for made in result["artifacts"] if made["media_type"] == MEDIA_TYPE)
    builds = [kernel.build for kernel in decode(graphs.read_bytes()).kernels if kernel.build is not None]
    assert [(build.architecture, build.problem) for build in builds] == [("sm_90", "")]
    assert {text.title for text in builds[0].texts} >= {"PTX", "SASS"}
    told = client.messages.of("$/progress")
    (piece,) = (message["value"]["document"] for message in told if message["token"] == "pieces")
    begun = [message["value"] for message in told if message["token"] == "bar" and message["value"]["kind"] == "begin"]
    assert [bar["title"] for bar in begun] == ["Compiling kernels"], "what is shown is not captured again"
    assert (piece["kernel"], piece["registers"]) == (builds[0].kernel, builds[0].registers)
    assert not piece.get("texts"), "machine code may be larger than a message"

    again = (await client.request("workspace/executeCommand", params))["result"]
    (kept,) = (Path(made["path"]) for made in again["artifacts"] if made["media_type"] == MEDIA_TYPE)
    assert [kernel.build for kernel in decode(kept.read_bytes()).kernels if kernel.build is not None] == builds
    told = client.messages.of("$/progress")
    begun = [message for message in told if message["token"] == "bar" and message["value"]["kind"] == "begin"]
    assert len(begun) == 1, "a kernel is compiled once"


async def test_where_no_kernel_is_for_a_gpu_the_answer_says_so(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "gate.py"
    path.write_text(GATE, encoding="utf-8")
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    await client.initialize(processId=os.getpid())
    arguments = [{"uri": path.as_uri(), "target": "gate", "stages": ["mock"], "compile": True}]
    params = {"command": "inductorDebug.graph", "arguments": arguments}
    result = (await client.request("workspace/executeCommand", params))["result"]
    assert result["notes"] == ["There are no kernels of Triton's to compile: choose a GPU as the accelerator."]
