"""What is wrong around the model is told once, says what to do, and never costs the session."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from server_harness import Process

Serve = Callable[..., Awaitable[Process]]


@dataclass
class Problem:
    """Something wrong, and the words by which a user finds it."""

    words: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    pyproject: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    code: str = "configuration"


TEXT = "from torch import nn\n\n\nclass Model(nn.Module):\n    pass\n"
"""A file that may have something to compile, or nobody would look into its settings."""
PROBLEMS = {
    "an unknown accelerator": Problem(("accelerator", "'mokc'", "did you mean 'mock'"), {"accelerator": "mokc"}),
    "a profile that is not there": Problem(("accelerator", "nowhere.toml"), {"accelerator": "nowhere.toml"}),
    "a broken pyproject.toml": Problem(("pyproject.toml:2",), pyproject="[tool.inductor-debug]\naccelerator = \n"),
    "an unknown key": Problem(
        ("pyproject.toml:2", "timeot", "'timeout'"), pyproject="[tool.inductor-debug]\ntimeot = 3\n"
    ),
    "a bad environment variable": Problem(("MOCK_ALIGNMENT", "'x'"), environment={"MOCK_ALIGNMENT": "x"}),
    "an interpreter that is not there": Problem(
        ("/nowhere/python",), {"interpreter": "/nowhere/python"}, code="environment"
    ),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
async def test_a_problem_is_told_once_and_stands_in_the_document(
    serve: Serve, tmp_path: Path, problem: Problem
) -> None:
    client, uri = await opened(serve, tmp_path, problem)
    assert (await settled(client, 1))["state"] == "failed"
    edit(client, uri, 2)
    assert (await settled(client, 2))["state"] == "failed"
    response = await client.request("workspace/executeCommand", {"command": "inductorDebug.check", "arguments": [uri]})
    assert response["result"]["state"] == "failed"
    (told,) = [params["message"] for params in client.messages.of("window/showMessage")]
    (diagnostic,) = client.messages.of("textDocument/publishDiagnostics")[-1]["diagnostics"]
    assert diagnostic["code"] == problem.code
    for word in problem.words:
        assert word in told
        assert word in diagnostic["message"]


async def test_bad_values_of_the_editor_are_told_once_each_and_left_out(serve: Serve, tmp_path: Path) -> None:
    options = {"timeout": "soon", "stages": ["previw"], "severity": {"dtype": "loud"}, "trigger": "manual"}
    client, uri = await opened(serve, tmp_path, Problem((), options))
    assert (await settled(client, 1))["state"] == "stale"
    edit(client, uri, 2)
    assert (await settled(client, 2))["state"] == "stale"
    told = sorted(params["message"] for params in client.messages.of("window/showMessage"))
    assert [message.split(": ")[2] for message in told] == ["severity.dtype", "stages", "timeout"]


async def test_a_mended_file_is_analysed_again(serve: Serve, tmp_path: Path) -> None:
    broken = PROBLEMS["an unknown key"]
    client, _ = await opened(serve, tmp_path, Problem((), {"trigger": "manual"}, broken.pyproject))
    assert (await settled(client, 1))["state"] == "failed"
    configuration = tmp_path / "pyproject.toml"
    configuration.write_text("[tool.inductor-debug]\ntimeout = 30\n")
    seen = len(client.messages.all)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": configuration.as_uri(), "type": 2}]})
    assert (await settled(client, 1, seen))["state"] == "stale"


async def opened(serve: Serve, folder: Path, problem: Problem) -> tuple[Process, str]:
    if problem.pyproject:
        (folder / "pyproject.toml").write_text(problem.pyproject)
    path = folder / "model.py"
    path.write_text(TEXT)
    client = await serve("--cache-folder", str(folder / "cache"), environment=problem.environment)
    await client.initialize(
        workspaceFolders=[{"uri": folder.as_uri(), "name": "project"}],
        initializationOptions={"interpreter": sys.executable, **problem.options},
    )
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": TEXT}
    client.notify("textDocument/didOpen", {"textDocument": document})
    return client, path.as_uri()


def edit(client: Process, uri: str, version: int) -> None:
    document = {"uri": uri, "version": version}
    client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": TEXT + "\n"}]})


async def settled(client: Process, version: int, after: int = 0) -> dict[str, Any]:
    def wanted(message: dict[str, Any]) -> bool:
        if message.get("method") != "inductorDebug/analysis":
            return False
        params = message["params"]
        return params["version"] == version and params["state"] not in ("queued", "running")

    return (await client.messages.first(wanted, after))["params"]
