"""A statement is typed, key by key, into a real model: nothing that was shown elsewhere goes away meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from server_harness import Process

pytestmark = pytest.mark.torch

CAN = {
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}},
    "workspace": {"inlayHint": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}},
}
MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(8, 64),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 32)

    def forward(self, x):
        print("here")
        y = self.linear(x)

        a, b = y.chunk(2, dim=1)
        return a + b
"""
PAUSE = 0.4
"""Seconds; a little less than what the server takes for the end of typing."""
HERE = 13
STATEMENT = "        z = self.linear(x.relu()).mul(y)"


class Typist:
    """Types into the line `HERE` and asks after every key, as an editor does."""

    def __init__(self, client: Process, path: Path) -> None:
        self._client, self._path, self._version, self._line = client, path, 1, ""

    async def open(self) -> None:
        self._path.write_text(MODEL)
        item = {"uri": self._path.as_uri(), "languageId": "python", "version": 1, "text": MODEL}
        self._client.notify("textDocument/didOpen", {"textDocument": item})
        await self.done()

    def type(self, text: str) -> None:
        column = len(self._line)
        self._line += text
        self.edit(HERE, column, column, text)

    def edit(self, line: int, start: int, end: int, text: str) -> None:
        """Puts `text` in place of what stands between two columns of a line."""
        self._version += 1
        self._client.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self._path.as_uri(), "version": self._version},
                "contentChanges": [
                    {
                        "range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}},
                        "text": text,
                    }
                ],
            },
        )

    async def done(self) -> None:
        """Waits for the end of the analysis of what was typed last."""

        def wanted(message: dict[str, Any]) -> bool:
            told = message.get("params", {}) if message.get("method") == "inductorDebug/analysis" else {}
            return (told.get("version"), told.get("state")) == (self._version, "done")

        await self._client.messages.first(wanted)

    async def hints(self) -> dict[int, list[str]]:
        """The labels by line."""
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        shown: dict[int, list[str]] = {}
        for hint in await self._ask("textDocument/inlayHint", range=everything):
            shown.setdefault(hint["position"]["line"], []).append(hint["label"])
        return shown

    async def lenses(self) -> list[tuple[int, str]]:
        """Line and title, of which `analysing…` and the like are no part."""
        return [
            (lens["range"]["start"]["line"], lens["command"]["title"])
            for lens in await self._ask("textDocument/codeLens")
        ]

    def problems(self) -> list[str]:
        """What is published now, as `rule line`."""
        published = self._client.messages.of("textDocument/publishDiagnostics")
        return [f"{item['code']} {item['range']['start']['line']}" for item in published[-1]["diagnostics"]]

    async def published(self, rule: str) -> None:
        """Waits until a finding of the rule was published."""
        await self._client.messages.first(
            lambda message: (
                message.get("method") == "textDocument/publishDiagnostics"
                and rule in {item["code"] for item in message["params"]["diagnostics"]}
            )
        )

    def all_problems(self) -> set[str]:
        """The rules of all that was published so far."""
        published = self._client.messages.of("textDocument/publishDiagnostics")
        return {item["code"] for one in published for item in one["diagnostics"]}

    async def _ask(self, method: str, **more: Any) -> list[dict[str, Any]]:
        return (await self._client.request(method, {"textDocument": {"uri": self._path.as_uri()}, **more}))["result"]


@pytest.fixture
async def typist(serve: Callable[..., Awaitable[Process]], tmp_path: Path) -> Typist:
    (tmp_path / "pyproject.toml").touch()
    client = await serve()
    await client.initialize(capabilities=CAN)
    typist = Typist(client, tmp_path / "model.py")
    await typist.open()
    return typist


async def test_hints_lenses_and_findings_stay_while_a_statement_is_typed(typist: Typist) -> None:
    hints, problems = await typist.hints(), typist.problems()
    (lens,) = await typist.lenses()
    assert {line: len(labels) for line, labels in hints.items()} == {12: 1, 14: 2, 15: 1}
    assert "graph-break 11" in problems
    rules = typist.all_problems()
    asked = []
    for key in STATEMENT:
        typed = time.monotonic()
        typist.type(key)
        # Nobody waits for the answers, or a busy machine would take the typing for a pause.
        asked.append((asyncio.create_task(typist.hints()), asyncio.create_task(typist.lenses())))
        await asyncio.sleep(0.02)
        if time.monotonic() - typed > PAUSE:
            pytest.skip("the machine stood still for longer than a pause in typing")
        assert typist.problems() == problems
    for shown, above in asked:
        now = await shown
        now.pop(HERE, None)
        assert now == hints
        ((line, title),) = await above
        assert line == lens[0]
        assert "1 graph break" in title
    await typist.done()
    assert await typist.hints() == {**hints, HERE: [": f32[8, 32]"]}
    assert typist.all_problems() == rules


async def test_a_statement_that_does_not_parse_is_told_when_the_typing_pauses_and_takes_nothing_away(
    typist: Typist,
) -> None:
    hints, before = await typist.hints(), typist.problems()
    typist.type("        z = (")
    await typist.published("syntax-error")
    assert typist.problems() == [before[0], "syntax-error 13", *before[1:]]
    assert await typist.hints() == hints
    assert [line for line, _ in await typist.lenses()] == [5]
    typist.type("y)")
    await typist.done()
    assert typist.problems() == before


async def test_an_error_is_told_and_what_it_keeps_from_running_stays(typist: Typist) -> None:
    hints = await typist.hints()
    typist.type("        z = self.misspelt(y)")
    await typist.done()
    assert "capture-error 13" in typist.problems()
    assert await typist.hints() == hints


async def test_a_value_that_raises_has_no_hint_of_what_it_was(typist: Typist) -> None:
    hints = await typist.hints()
    declared = MODEL.splitlines()[8].index("64")
    typist.edit(8, declared, declared + 2, "60")
    await typist.done()
    assert "capture-error 12" in typist.problems()
    assert await typist.hints() == {line: labels for line, labels in hints.items() if line != 12}
