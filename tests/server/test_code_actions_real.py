"""Code actions with a real engine and real workers: what is offered holds, and what does not hold is not offered."""

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


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 60)
        self.second = nn.Linear(60, 64)
        self.register_buffer("table", torch.ones(64, 64, dtype=torch.float64))

    def forward(self, x):
        y = torch.mm(x.double(), self.table)
        '😀'; z = x.double().sum()
        return y.float(), z.float(), self.second(self.first(x)), x.t().relu()


def get_inputs():
    return [torch.randn(8, 64)]
"""


class Session:
    """A real server with one saved document open."""

    def __init__(self, client: Process, path: Path) -> None:
        self.client = client
        self.uri = path.as_uri()
        self.diagnostics: list[dict[str, Any]] = []

    @classmethod
    async def open(cls, serve: Serve, folder: Path, text: str = MODEL) -> Session:
        (folder / "pyproject.toml").touch()
        path = folder / "model.py"
        path.write_bytes(text.encode())
        client = await serve("--cache-folder", str(folder / "cache"), environment={"MOCK_ALIGNMENT": "8"})
        session = cls(client, path)
        await client.initialize(
            processId=os.getpid(), capabilities=ABLE, workspaceFolders=[{"uri": folder.as_uri(), "name": "project"}]
        )
        document = {"uri": session.uri, "languageId": "python", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": document})
        await session.analysed(1)
        return session

    async def analysed(self, version: int) -> None:
        """Waits for the end of the analysis of a version."""

        def over(message: dict[str, Any]) -> bool:
            said = message.get("params") or {}
            return (said.get("state"), said.get("version")) == ("done", version)

        await asyncio.wait_for(self.client.messages.first(over), 6 * PATIENCE)
        self.diagnostics = self.client.messages.of("textDocument/publishDiagnostics")[-1]["diagnostics"]

    async def offered(self, line: int, character: int, only: str = "quickfix") -> dict[str, dict[str, Any]]:
        """The actions at a place, by title."""
        place = {"line": line, "character": character}
        params = {
            "textDocument": {"uri": self.uri},
            "range": {"start": place, "end": place},
            "context": {"diagnostics": self.diagnostics, "only": [only]},
        }
        response = await self.client.request("textDocument/codeAction", params)
        return {action["title"]: action for action in response["result"]}

    async def until_offered(self, title: str, line: int, character: int, only: str = "quickfix") -> dict[str, Any]:
        """An action, asked for until its proof is there."""

        async def ask() -> dict[str, Any]:
            while title not in (offered := await self.offered(line, character, only)):
                pass  # every answer waits a little for proofs that run
            return offered[title]

        return await asyncio.wait_for(ask(), 6 * PATIENCE)

    def apply(self, action: dict[str, Any], version: int) -> None:
        """Does what an editor does with the edits of an action, the last one first."""
        (change,) = action["edit"]["documentChanges"]
        changes = [{"range": edit["range"], "text": edit["newText"]} for edit in reversed(change["edits"])]
        document = {"uri": self.uri, "version": version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})


async def test_a_conversion_is_mended_as_it_was_proved(serve: Serve, tmp_path: Path) -> None:
    session = await Session.open(serve, tmp_path)
    before = [(item["code"], item["range"]["start"]["line"]) for item in session.diagnostics]
    assert ("dtype", 13) in before
    action = await session.until_offered("Use float32 instead of float64 (verified)", 13, 20)
    session.apply(action, 2)
    await session.analysed(2)
    after = [(item["code"], item["range"]["start"]["line"]) for item in session.diagnostics]
    assert sorted([*after, ("dtype", 13)]) == sorted(before)


async def test_what_would_break_the_model_is_not_offered(serve: Serve, tmp_path: Path) -> None:
    session = await Session.open(serve, tmp_path)
    await session.offered(12, 25)
    await session.until_offered("Use float32 instead of float64 (verified)", 13, 20)  # proved after the one asked first
    assert set(await session.offered(12, 25)) == {"Silence dtype here", "Explain dtype"}
    await session.until_offered("Add .contiguous() (verified, same results)", 14, 70)
    both = await session.until_offered("Round 60 up to 64, here and where the class uses it (verified)", 7, 30)
    session.apply(both, 2)
    await session.analysed(2)
    assert "alignment" not in {item["code"] for item in session.diagnostics}


BROKEN = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.fc1 = nn.Linear(9200, 128)

    def forward(self, x):
        x = self.conv1(x).relu()
        x = torch.flatten(nn.functional.max_pool2d(x, 2), 1)
        x = self.fc1(x)
        return x


def get_inputs():
    return [torch.randn(2, 1, 28, 28)]
"""


async def test_a_layer_that_does_not_fit_is_explained_and_mended(serve: Serve, tmp_path: Path) -> None:
    session = await Session.open(serve, tmp_path, BROKEN)
    [found] = [item for item in session.diagnostics if item["code"] == "capture-error"]
    assert found["message"] == "`self.fc1` takes 9200 features, `x` [2, 5408] has 5408"
    place = {"textDocument": {"uri": session.uri}, "position": {"line": 13, "character": 16}}
    hover = (await session.client.request("textDocument/hover", place))["result"]["contents"]["value"]
    assert "5408 ← flatten 32·13·13 ← max_pool2d ← conv1" in hover
    everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 20, "character": 0}}
    asked = {"textDocument": {"uri": session.uri}, "range": everywhere}
    hints = (await session.client.request("textDocument/inlayHint", asked))["result"]
    assert {hint["position"]["line"] for hint in hints} == {11, 12}, "the line that raised gave nothing"
    action = await session.until_offered("Set `in_features` of `fc1` to 5408 (verified)", 13, 16)
    assert not [title for title in await session.offered(13, 16) if title.startswith("Silence")]
    session.apply(action, 2)
    await session.analysed(2)
    assert "capture-error" not in {item["code"] for item in session.diagnostics}


TALKATIVE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        print("mean", x.mean())
        y = x / x.abs().max().item()
        if y.sum() > 0:
            y = y.relu()
        return y.t().relu()


def get_inputs():
    return [torch.randn(8, 8)]
"""
MENDED = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        if not torch.compiler.is_compiling():
            print("mean", x.mean())
        y = x / x.abs().max().detach()
        y = torch.where(y.sum() > 0, y.relu(), y)
        return y.t().contiguous().relu()


def get_inputs():
    return [torch.randn(8, 8)]
"""


FIX_ALL = "Apply all fixes (verified, same results)"


def _applied(action: dict[str, Any], text: str) -> str:
    """The text with a code action's edits."""
    [change] = action["edit"]["documentChanges"]
    places = [(edit["range"]["start"], edit["range"]["end"], edit["newText"]) for edit in change["edits"]]
    return applied(
        text,
        [
            TextEdit(Range(Position(start["line"], start["character"]), Position(end["line"], end["character"])), new)
            for start, end, new in places
        ],
    )


async def test_all_fixes_that_keep_the_results_are_applied_at_once(serve: Serve, tmp_path: Path) -> None:
    session = await Session.open(serve, tmp_path, TALKATIVE)
    alone = await session.until_offered("Keep `x.abs().max()` a tensor (verified, same results)", 7, 20)
    assert alone["isPreferred"] is True

    async def whole() -> dict[str, Any]:
        # It has what is proved so far, so the first one that is offered may have fewer fixes.
        while _applied(action := await session.until_offered(FIX_ALL, 0, 0, "source.fixAll"), TALKATIVE) != MENDED:
            await asyncio.sleep(0.5)
        return action

    action = await asyncio.wait_for(whole(), PATIENCE)
    session.apply(action, 2)
    await session.analysed(2)
    assert session.diagnostics == []


ATTENTION = """\
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        return scores.softmax(-1) @ v


def get_inputs():
    return [torch.randn(8, 8, 8), torch.randn(8, 8, 8), torch.randn(8, 8, 8)]
"""


async def test_attention_by_hand_is_rewritten_where_the_cursor_is(serve: Serve, tmp_path: Path) -> None:
    session = await Session.open(serve, tmp_path, ATTENTION)
    title = "Use `F.scaled_dot_product_attention` (verified, same results)"
    action = await session.until_offered(title, 7, 10, "refactor")
    assert action["kind"] == "refactor.rewrite"
    assert "diagnostics" not in action
    assert title not in await session.offered(0, 0, "refactor")
    session.apply(action, 2)
    await session.analysed(2)
    assert await session.offered(7, 10, "refactor") == {}


SHAPES = """\
import torch
from jaxtyping import Float
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 4)

    def forward(self, x):
        y = self.first(x)
        z = y.relu()
        return z + 1


def head(x):
    y = x.relu()
    return y.sum()


def example_inputs():
    return (torch.ones(2, 8),)
"""
COMMENTED = SHAPES.replace("from jaxtyping import Float\n", "").replace("y = x.relu()", "y = x.relu()  # [batch, d]")


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        (COMMENTED, "comments", ["y = self.first(x)  # [2, 4]", "z = y.relu()  # [2, 4]", "return z + 1  # [2, 4]"]),
        (
            SHAPES,
            "jaxtyping",
            [
                'def forward(self, x) -> Float[Tensor, "2 4"]:',
                'y: Float[Tensor, "2 4"] = self.first(x)',
                'z: Float[Tensor, "2 4"] = y.relu()',
                "return z + 1",
            ],
        ),
    ],
    ids=["comments", "jaxtyping"],
)
async def test_shapes_are_written_in_the_style_of_the_file(
    serve: Serve, tmp_path: Path, text: str, title: str, expected: list[str]
) -> None:
    (tmp_path / "jaxtyping.py").write_text("class Float:\n    def __class_getitem__(cls, item):\n        return cls\n")
    session = await Session.open(serve, tmp_path, text)
    line = text.split("\n").index("    def forward(self, x):")
    action = await session.until_offered(f"Write the shapes of forward as {title}", line, 8, "refactor")
    (change,) = action["edit"]["documentChanges"]
    edits = [
        TextEdit(
            Range(*(Position(edit["range"][end]["line"], edit["range"][end]["character"]) for end in ("start", "end"))),
            edit["newText"],
        )
        for edit in change["edits"]
    ]
    written = applied(text, edits)
    lines = [each.strip() for each in written.split("\n")]
    assert [each for each in expected if each not in lines] == []
    session.apply(action, 2)
    (tmp_path / "model.py").write_text(written)
    session.client.notify("textDocument/didSave", {"textDocument": {"uri": session.uri}})
    await session.analysed(2)
    assert "shape-annotation" not in {item["code"] for item in session.diagnostics}
    assert action["title"] not in await session.offered(line, 8, "refactor")
    assert not any("shapes" in name for name in await session.offered(0, 0, "refactor"))
