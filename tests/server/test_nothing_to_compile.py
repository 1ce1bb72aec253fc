"""A file that has nothing to compile is not run because somebody looks at it; who asks for it has it run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from server_harness import PATIENCE, Process

pytestmark = pytest.mark.torch

FILES = {
    "setup.py": ("import torch\nraise RuntimeError('it was run')\n", "not run: a set-up file"),
    "numbers.py": ("raise RuntimeError('it was run')\n", "not run: does not use torch"),
    "losses.py": ("import torch\nraise RuntimeError('it was run')\n", "not run: defines and compiles no model"),
}


@pytest.mark.parametrize("name", FILES)
async def test_what_has_nothing_to_compile_runs_only_when_asked_for(
    name: str, serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    path, (text, why) = tmp_path / name, FILES[name]
    path.write_text(text)
    client = await serve()
    await client.initialize()
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})

    def over(message: dict[str, Any]) -> bool:
        return (message.get("params") or {}).get("state") == "done"

    told = await asyncio.wait_for(client.messages.first(over), PATIENCE)
    assert (told["params"]["cause"], told["params"]["findings"]) == (why, 0)
    answer = await client.request(
        "workspace/executeCommand", {"command": "inductorDebug.check", "arguments": [path.as_uri()]}
    )
    assert answer["result"]["findings"] == 1
