"""The command `inductorDebug.diff`: what it takes, and the short answer that it gives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from answers import answer, row
from inductor_debug.engine.orders.orders import Performed
from inductor_debug.engine.results.keeping import KeptArtifact
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    ArtifactReference,
    DiffDocument,
    DiffPiece,
    DiffTensor,
    FileReport,
    FileStatus,
    PartlyAnswered,
    to_wire,
)
from server_harness import Editor, FakeEngine

Make = Callable[..., Awaitable[Editor]]
URI = "file:///project/model.py"


def asked_for(editor: Editor, **options: Any) -> int:
    params = {"command": "inductorDebug.diff", "arguments": [{"uri": URI, **options}]}
    return editor.ask("workspace/executeCommand", params)


async def test_it_answers_with_verdicts_and_blame_and_leaves_the_numbers_to_the_artifact(start_editor: Make) -> None:
    editor = await start_editor()
    said = {
        "target": "Net",
        "reference": "eager",
        "backend": "spyre",
        "verdict": "wrong",
        "why": "because",
        "blame": [{"op": "aten.mm.default", "graph": "0", "node": "mm", "nodes": ["mm"], "path": None, "range": None}]
        * 12,
        "nodes": [],
        "outputs": [{"name": "output"}],
    }
    file = FileReport("/project/model.py", FileStatus.FINDINGS)
    editor.engine.performed = Performed(file, "", answers=[Answered("Net", answer(DiffDocument, said))])
    response = await editor.answer(asked_for(editor, target="Net", backend="spyre", runs=2))
    found = response["result"]["comparisons"]
    assert [comparison["verdict"] for comparison in found] == ["wrong"]
    assert len(found[0]["blame"]) == 10
    assert "outputs" not in found[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": "two"}, "`runs`: expected int, got str"),
        ({"seed": True}, "`seed`: expected int, got bool"),
        ({"target": 3}, "`target`"),
        ({"backend": "missing.toml"}, "missing.toml"),
    ],
)
async def test_bad_arguments_are_told(start_editor: Make, options: dict[str, Any], words: str) -> None:
    editor = await start_editor()
    response = await editor.answer(asked_for(editor, **options))
    assert words in response["error"]["message"]


EMPTY = {"target": "Net", "reference": "eager", "backend": "spyre", "runs": 1, "verdict": None, "partial": True}
BEGUN = PartlyAnswered("Net", answer(DiffPiece, {"begun": EMPTY}))
ROW = row(DiffTensor, {"name": "output", "why": "x" * 1000})
KEPT = ArtifactReference(ArtifactKind.REPORTS, "/store/reports/one.json", 12, "application/json")


def pieces_of(editor: Editor, token: str) -> list[dict[str, Any]]:
    return [params["value"] for params in editor.messages.of("$/progress") if params["token"] == token]


@pytest.mark.parametrize("rows", [1, 200], ids=["one row", "more than fit into one message"])
async def test_rows_are_told_as_they_come_and_fit_into_messages(make_editor: Make, rows: int) -> None:
    editor = await make_editor()
    await editor.start()
    editor.engine.events = [
        BEGUN,
        PartlyAnswered("Net", answer(DiffPiece, {"outputs": [ROW] * rows, "notes": ["y" * 100]})),
    ]
    await editor.answer(asked_for(editor, partialResultToken="rows"))
    pieces = pieces_of(editor, "rows")
    assert pieces[0] == {"target": "Net", "document": to_wire(BEGUN.piece), "page": None}
    assert sum(len(piece["document"]["outputs"]) for piece in pieces) == rows
    assert pieces[-1]["document"]["notes"] == ["y" * 100]
    assert len(pieces) == 2 if rows == 1 else len(pieces) > 4


async def test_without_a_token_nothing_is_told(make_editor: Make) -> None:
    editor = await make_editor()
    await editor.start()
    editor.engine.events = [BEGUN]
    await editor.answer(asked_for(editor, partialResultToken=True))
    assert editor.messages.of("$/progress") == []


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[ArtifactMade]:
    """What is kept of comparisons that did not end."""
    made: list[ArtifactMade] = []

    def keep(self: Any, path: str, artifacts: Sequence[ArtifactMade]) -> KeptArtifact:
        made.extend(artifacts)
        return KeptArtifact([KEPT] * len(artifacts))

    monkeypatch.setattr(FakeEngine, "keep", keep, raising=False)
    return made


async def test_a_cancelled_comparison_is_answered_with_what_had_come(
    make_editor: Make, kept: list[ArtifactMade]
) -> None:
    editor = await make_editor()
    await editor.start()
    editor.engine.check_gate = asyncio.Event()
    editor.engine.events = [BEGUN, PartlyAnswered("Net", answer(DiffPiece, {"outputs": [ROW]}))]
    asked = asked_for(editor, partialResultToken=7)
    await editor.messages.first(lambda message: message.get("method") == "$/progress")
    editor.notify("$/cancelRequest", {"id": asked})
    result = (await editor.answer(asked))["result"]
    assert (result["status"], result["artifacts"][0]["path"]) == ("cancelled", KEPT.path)
    (short,) = result["comparisons"]
    assert (short["target"], short["verdict"], short["partial"]) == ("Net", "failed", True)
    document = json.loads(kept[0].content)
    assert document["outputs"] == [ROW]
    assert "because it was cancelled" in document["why"]


async def test_a_comparison_that_is_cancelled_at_once_is_only_cancelled(
    make_editor: Make, kept: list[ArtifactMade]
) -> None:
    editor = await make_editor()
    await editor.start()
    editor.engine.check_gate = asyncio.Event()
    editor.engine.events = [BEGUN]
    asked = asked_for(editor, partialResultToken=7)
    await editor.messages.first(lambda message: message.get("method") == "$/progress")
    editor.notify("$/cancelRequest", {"id": asked})
    assert (await editor.answer(asked))["error"]["code"] == -32800
    assert kept == []


async def test_a_comparison_that_dies_is_answered_with_what_had_come(
    make_editor: Make, kept: list[ArtifactMade]
) -> None:
    editor = await make_editor()
    await editor.start()
    reached = {"outputs": [ROW], "verdict": "wrong", "why": "far off"}
    editor.engine.events = [BEGUN, PartlyAnswered("Net", answer(DiffPiece, reached))]
    editor.engine.performed = Performed(FileReport("/project/model.py", FileStatus.CRASHED), "", broken=True)
    result = (await editor.answer(asked_for(editor)))["result"]
    (short,) = result["comparisons"]
    assert (result["status"], short["verdict"], short["partial"]) == ("crashed", "wrong", True)
    assert json.loads(kept[0].content)["notes"] == [
        "The search for the operation at fault did not end, because its process ended: its table is not complete."
    ]
