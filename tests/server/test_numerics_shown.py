"""What a comparison has found stays in the editor: as findings beside the analysis, in hovers and over the target."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.engine.results.policy import apply_policy
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.text.source_facts import source_of
from inductor_debug.server.features.numerics_text import hover_lines
from inductor_debug.server.state.known_comparisons import MeasuredError, MeasuredNode
from inductor_debug_schema import (
    DiffError,
    Finding,
    Position,
    Range,
    Severity,
    Stage,
)
from server_harness import Editor, Process

Make = Callable[..., Awaitable[Editor]]
MODEL = """\
import torch

# inductor-debug: inputs=(torch.randn(8, 96),)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(96, 64)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return torch.tanh(y)
"""
CAPABILITIES = {
    "textDocument": {
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "publishDiagnostics": {"dataSupport": True},
    },
    "workspace": {"codeLens": {"refreshSupport": True}},
}
AREA = Range(Position(9, 12), Position(9, 38))


def error(relative: float | None, ratio: float | str | None = None, *, invalid: bool = False) -> DiffError:
    return DiffError(0.5, 0.1, relative, ratio, invalid)


def node(name: str, *, own: DiffError | None, growth: float | None = None, blamed: bool = False) -> MeasuredNode:
    return MeasuredNode("/m.py", AREA, f"aten.{name}.default", own, None, growth, blamed)


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        (
            [node("relu", own=error(0.25, 900.0), growth=3.0, blamed=True)],
            ["`aten.relu`: error of its own 0.25 (max 0.5, 900 times what is to be expected) · grows 3 times · blamed"],
        ),
        (
            [node("a", own=error(0.0)), node("b", own=error(None)), node("c", own=error(0.1, "inf", invalid=True))],
            [
                "`aten.c`: error of its own not a number, or of another shape",
                "`aten.b`: error of its own infinite (max 0.5)",
                "`aten.a`: error of its own none",
            ],
        ),
        (
            [node(f"op{number}", own=error(number / 10)) for number in range(1, 6)],
            [
                "`aten.op5`: error of its own 0.5 (max 0.5)",
                "`aten.op4`: error of its own 0.4 (max 0.5)",
                "`aten.op3`: error of its own 0.3 (max 0.5)",
                "and 2 more operations with smaller errors",
            ],
        ),
        ([node("view", own=None)], ["`aten.view`: not measured"]),
    ],
)
def test_errors_in_words(nodes: list[MeasuredNode], wanted: list[str]) -> None:
    told = hover_lines(MeasuredError("Net", "spyre", "eager", "wrong", {}), nodes, markdown=True)
    assert told == ["**spyre** against eager (Net: wrong)", *wanted]


def test_a_comment_for_comparisons_is_never_called_unused_by_an_analysis() -> None:
    text = "x = 1  # inductor-debug: ignore[numerics]\ny = 1  # inductor-debug: ignore[numerics, dtype]\n"
    mock = Settings("/", profile={"name": "mock"})
    found = apply_policy([], path="/m.py", settings=mock, source_for=lambda path: source_of(text), complete=True)
    assert [finding.message for finding in found] == [
        "This comment silences nothing: there is no finding of `dtype` on this line."
    ]


def test_policy_holds_for_what_stands_beside_an_analysis() -> None:
    finding = Finding(
        "numerics", Severity.ERROR, "wrong", "/m.py", Range(Position(0, 0), Position(0, 1)), Stage.COMPARISON
    )

    def shown(text: str, **severity: Severity | None) -> list[Finding]:
        settings = Settings("/", severity=severity)
        return apply_policy(
            [finding], path="/m.py", settings=settings, source_for=lambda path: source_of(text), complete=False
        )

    assert [(one.severity, bool(one.fingerprint)) for one in shown("x = 1\n")] == [(Severity.ERROR, True)]
    assert [one.severity for one in shown("x = 1\n", numerics=Severity.HINT)] == [Severity.HINT]
    assert shown("x = 1\n", numerics=None) == []
    assert shown("x = 1  # inductor-debug: ignore[numerics]\n") == []


@pytest.mark.torch
async def test_findings_of_a_comparison_move_with_edits_and_go_with_their_lines(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "net.py"
    path.write_text(MODEL, encoding="utf-8")
    uri = path.as_uri()
    client = await serve("--cache-folder", str(tmp_path / "cache"))
    await client.initialize(
        capabilities=CAPABILITIES, initializationOptions={"clientCommands": ["inductorDebug.compare"]}
    )
    document = {"uri": uri, "languageId": "python", "version": 1, "text": MODEL}
    client.notify("textDocument/didOpen", {"textDocument": document})

    async def lines(version: int, wanted: list[int]) -> None:
        """Waits until exactly these lines have findings of a comparison."""

        def shown(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            if message.get("method") != "textDocument/publishDiagnostics" or params["version"] != version:
                return False
            found = [one["range"]["start"]["line"] for one in params["diagnostics"] if one["code"] == "numerics"]
            return found == wanted

        await client.messages.first(shown, after=started)

    async def lens() -> list[str]:
        answer = await client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
        return [one["command"]["title"] for one in answer["result"] if one["command"]["command"].endswith(".compare")]

    def edit(version: int, line: int, start: int, end: int, text: str) -> None:
        area = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
        params = {"uri": uri, "version": version}
        client.notify(
            "textDocument/didChange", {"textDocument": params, "contentChanges": [{"range": area, "text": text}]}
        )

    started = 0
    await client.messages.first(
        lambda message: message.get("method") == "inductorDebug/analysis" and message["params"]["state"] == "done"
    )
    assert await lens() == ["compare"]
    options = {"uri": uri, "backend": "spyre", "inject": ["drop-last-stick@10"], "maps": True}
    params = {"command": "inductorDebug.diff", "arguments": [options]}
    result = (await client.request("workspace/executeCommand", params))["result"]
    assert [found["verdict"] for found in result["comparisons"]] == ["wrong"]
    types = {Path(found["path"]).suffix: found["media_type"] for found in result["artifacts"]}
    assert types == {
        ".json": "application/json",
        ".maps": "application/vnd.inductor-debug.diff-maps+msgpack",
    }
    await lines(1, [9, 9])
    assert await lens() == ["compare (spyre with drop-last-stick@10: wrong)"]

    where = {"textDocument": {"uri": uri}, "position": {"line": 9, "character": 30}}
    hover = (await client.request("textDocument/hover", where))["result"]["contents"]["value"]
    assert "against eager (Model: wrong)" in hover
    assert "times what is to be expected" in hover
    assert "blamed" in hover

    started = len(client.messages.all)
    edit(2, 9, 0, 0, "        x = x + 0\n")
    await lines(2, [10, 10])
    started = len(client.messages.all)
    edit(3, 10, 12, 22, "torch.tanh")
    await lines(3, [])
    started = len(client.messages.all)
    edit(4, 10, 12, 22, "torch.relu")
    await lines(4, [10, 10])
    started = len(client.messages.all)
    edit(5, 10, len("        y = torch.relu(self.linear(x))"), 200, "  # inductor-debug: ignore[numerics]")
    await lines(5, [])
