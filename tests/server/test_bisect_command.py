"""The commands for bisections and transfers: what they ask for, what they answer, and what they refuse."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from answers import answer, row
from inductor_debug.engine.orders.orders import Performed
from inductor_debug.engine.results.keeping import KeptArtifact
from inductor_debug_schema import (
    Answer,
    Answered,
    ArtifactKind,
    ArtifactReference,
    BisectDocument,
    BisectPiece,
    BisectTask,
    FileReport,
    FileStatus,
    PartlyAnswered,
    Progressed,
    TransferRow,
    TransfersDocument,
    TransfersTask,
)
from server_harness import Editor

Make = Callable[..., Awaitable[Editor]]
URI = "file:///project/model.py"
RUNGS = [{"backend": "eager", "state": "ok", "why": "The model runs."}]
DOCUMENT = row(BisectDocument, {"schema": 1, "target": "Net", "ladder": RUNGS, "verdict": "none"})
TRANSFERS = {
    "target": "Net",
    "accelerator": "spyre",
    "transfers": [row(TransferRow, {"name": "x"})],
    "summary": {"transfers": 1, "host_bytes": 4, "device_bytes": 128, "changed": 0, "rounded": 0},
    "problem": None,
    "error": None,
}
ROW = {
    "graph": "0",
    "direction": "to-device",
    "role": "input",
    "name": "x",
    "shape": [2],
    "dtype": "int64",
    "device_dtype": "int32",
    "device_bytes": 128,
    "layout": None,
    "digest": "0123456789",
    "round_trip": "same",
    "changed": 0,
    "example": None,
    "path": None,
    "line": None,
}
LOG = ArtifactReference(ArtifactKind.REPORTS, "/cache/transfers.jsonl", 9, "application/jsonl")


def answered(document: Answer) -> Performed:
    return Performed(
        FileReport("/project/model.py", FileStatus.CLEAN), "", [Answered("Net", document)], references=[LOG]
    )


def ask(editor: Editor, command: str, **options: Any) -> int:
    params = {"command": f"inductorDebug.{command}", "arguments": [{"uri": URI, **options}], "workDoneToken": 3}
    return editor.ask("workspace/executeCommand", params)


async def test_a_bisection_climbs_what_is_asked_for_and_answers_with_its_document(start_editor: Make) -> None:
    editor = await start_editor()
    editor.engine.performed = answered(answer(BisectDocument, DOCUMENT))
    editor.engine.events = [Progressed("Net: inductor: Inductor's passes")]
    asked = ask(editor, "bisect", target="Net", backends=["dynamo", "spyre"], passes=False)
    result = (await editor.answer(asked))["result"]
    assert (result["bisections"], result["reason"], result["status"]) == ([DOCUMENT], None, "clean")
    order = editor.engine.calls[-1][2]
    assert isinstance(order.task, BisectTask)
    assert order.target == "Net"
    assert (order.task.backends, order.task.passes) == (["dynamo", "spyre"], False)
    assert order.task.profiles["spyre"]["name"] == "spyre", "workers read no TOML"
    values = [params["value"] for params in editor.messages.of("$/progress")]
    assert [value["kind"] for value in values] == ["begin", "report", "end"]
    assert values[1]["message"] == "Net: inductor: Inductor's passes"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"backends": "dynamo"}, "`backends`: expected list, got str."),
        ({"seed": True}, "`seed`: expected int, got bool."),
        ({"target": 3}, "`target`: expected str, got int."),
        ({"reference": "/nowhere/chip.toml"}, "/nowhere/chip.toml"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_options_that_make_no_sense_are_refused(
    start_editor: Make, options: dict[str, Any], complaint: str
) -> None:
    editor = await start_editor()
    error = (await editor.answer(ask(editor, "bisect", **options)))["error"]
    assert complaint in error["message"]
    assert not any(call[0] == "perform" for call in editor.engine.calls), "nothing runs"


async def test_transfers_answer_with_the_summary_and_name_the_log(start_editor: Make) -> None:
    editor = await start_editor()
    editor.engine.performed = answered(answer(TransfersDocument, TRANSFERS))
    result = (await editor.answer(ask(editor, "transfers", target="Net", values=4)))["result"]
    assert result["transfers"] == [{name: TRANSFERS[name] for name in TRANSFERS if name != "transfers"}]
    assert [artifact["path"] for artifact in result["artifacts"]] == [LOG.path]
    order = editor.engine.calls[-1][2]
    assert isinstance(order.task, TransfersTask)
    assert (order.target, order.task.values) == ("Net", 4)
    error = (await editor.answer(ask(editor, "transfers", target="Net", values=-1)))["error"]
    assert "expected a number from 0 to 1000, got -1" in error["message"]


@pytest.mark.parametrize("command", ["bisect", "transfers"])
async def test_cancelling_ends_the_worker(start_editor: Make, command: str) -> None:
    editor = await start_editor()
    editor.engine.check_gate = asyncio.Event()
    editor.engine.events = [Progressed("climbing")]
    asked = ask(editor, command)
    await editor.messages.first(lambda message: message.get("method") == "$/progress")
    editor.notify("$/cancelRequest", {"id": asked})
    assert (await editor.answer(asked))["error"]["code"] == -32800
    assert editor.engine.calls[-1] == ("perform cancelled", "/project/model.py")


async def test_rungs_are_told_as_they_are_climbed(start_editor: Make) -> None:
    editor = await start_editor()
    editor.engine.performed = answered(answer(BisectDocument, DOCUMENT))
    editor.engine.events = [PartlyAnswered("Net", answer(BisectPiece, {"ladder": RUNGS}))]
    await editor.answer(ask(editor, "bisect", target="Net", partialResultToken="rungs"))
    told = [params["value"] for params in editor.messages.of("$/progress") if params["token"] == "rungs"]
    assert told == [{"target": "Net", "document": {"ladder": DOCUMENT["ladder"], "planned": []}, "page": None}]


async def test_who_asks_for_a_page_gets_it_already_while_the_ladder_is_climbed(start_editor: Make) -> None:
    editor = await start_editor()
    editor.engine.performed = answered(answer(BisectDocument, DOCUMENT))
    planned = [{"backend": name, "adds": f"<{name}>"} for name in ("eager", "dynamo", "inductor")]
    editor.engine.events = [
        PartlyAnswered("Net", answer(BisectPiece, {"ladder": [], "planned": planned})),
        PartlyAnswered("Net", answer(BisectPiece, {"ladder": RUNGS})),
    ]
    asked = ask(editor, "bisect", target="Net", partialResultToken="rungs", format="html")
    result = (await editor.answer(asked))["result"]
    assert result["said"] == ["Net: no layer goes wrong."]
    assert "<h1>Bisection of Net</h1>" in result["page"]
    first, second = (value["value"]["page"] for value in editor.messages.of("$/progress") if value["token"] == "rungs")
    assert first.count("running…") == second.count("running…") == 1
    assert first.index("running…") < first.index("&lt;dynamo&gt;")
    assert second.index("&lt;dynamo&gt;") < second.index("running…") < second.index("&lt;inductor&gt;")


async def test_a_page_that_fits_into_no_message_is_an_artifact_or_else_shorter(start_editor: Make) -> None:
    editor = await start_editor()
    rows = [{**ROW, "name": f"tensor{number}"} for number in range(1500)]
    editor.engine.performed = answered(answer(TransfersDocument, {**TRANSFERS, "transfers": rows}))
    result = (await editor.answer(ask(editor, "transfers", target="Net", format="html")))["result"]
    assert "The log has more: 1,500 transfers." in result["page"]
    assert result["notes"] == ["artifacts are switched off"]
    page = ArtifactReference(ArtifactKind.REPORTS, "/cache/page.html", 9, "text/html")
    editor.engine.kept = KeptArtifact([page], [])
    result = (await editor.answer(ask(editor, "transfers", target="Net", format="html")))["result"]
    assert result["page"] is None
    assert [artifact["path"] for artifact in result["artifacts"]] == [LOG.path, page.path]
    refused = (await editor.answer(ask(editor, "transfers", target="Net", format="pdf")))["error"]
    assert "`format`: unknown value 'pdf'; there are html" in refused["message"]
