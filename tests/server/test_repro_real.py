"""The repro command with real workers: a finding in, a script that is kept and proved out."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from server_harness import Process

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 8),)
class Net(nn.Module):
    def forward(self, x):
        return torch.relu(x).double().sum()
"""


async def test_a_finding_becomes_a_kept_and_verified_script(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.inductor-debug]\naccelerator = "mock"\n', encoding="utf-8")
    path = tmp_path / "net.py"
    path.write_text(MODEL, encoding="utf-8")
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    await client.initialize(processId=os.getpid(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    params = {"command": "inductorDebug.repro", "arguments": [{"uri": path.as_uri(), "rule": "dtype"}]}
    result = (await client.request("workspace/executeCommand", {**params, "workDoneToken": 7}))["result"]
    assert (result["verified"], result["why"], result["status"]) == (True, "", "clean")
    assert (result["nodes_before"], result["nodes_after"]) == (3, 1)
    script = Path(result["script"])
    assert script.parent.name == "repros"
    assert [artifact["path"] for artifact in result["artifacts"]] == [str(script)]
    assert "net.py:8" in script.read_text(encoding="utf-8")
