"""Commands that run an order: progress at the client's token, references in the answer, and an end when it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug_schema import (
    ArtifactKind,
    ArtifactReference,
    FileReport,
    FileStatus,
    Finding,
    Position,
    Progressed,
    Range,
    Severity,
    Stage,
    StageReport,
    StageStarted,
    StageState,
    TargetReport,
)
from server_harness import Editor

Make = Callable[..., Awaitable[Editor]]
URI = "file:///project/model.py"


def asked_for(editor: Editor, *arguments: Any, token: str | None = None) -> int:
    params: dict[str, Any] = {"command": "inductorDebug.graph", "arguments": list(arguments)}
    if token is not None:
        params["workDoneToken"] = token
    return editor.ask("workspace/executeCommand", params)


async def test_graph_answers_with_references_and_the_state_of_every_stage(start_editor: Make) -> None:
    editor = await start_editor()
    report = StageReport(Stage.AOT, StageState.DONE, 0.5, notes=["no backward"])
    reference = ArtifactReference(ArtifactKind.AOT_GRAPHS, "/cache/a.graph", 7, "application/x-graph")
    file = FileReport("/project/model.py", FileStatus.CLEAN, [TargetReport("Net", 3, [report])])
    editor.engine.performed = Performed(file, "", references=[reference], notes=["a note"])
    response = await editor.answer(asked_for(editor, {"uri": URI, "target": "Net", "stages": ["inductor", "aot"]}))
    assert response["result"] == {
        "uri": URI,
        "status": "clean",
        "reason": None,
        "notes": ["a note"],
        "artifacts": [
            {"kind": "aot_graphs", "path": "/cache/a.graph", "bytes": 7, "media_type": "application/x-graph"}
        ],
        "targets": [
            {"name": "Net", "line": 3, "stages": [{"stage": "aot", "state": "done", "notes": ["no backward"]}]}
        ],
    }
    _, path, order = editor.engine.calls[-1]
    assert path == "/project/model.py"
    assert order == Order(target="Net", stages=(Stage.AOT, Stage.INDUCTOR), keep_graphs=True)
    assert editor.messages.of("$/progress") == [], "no token, no progress"


async def test_graphs_that_the_check_has_captured_are_not_captured_again(start_editor: Make) -> None:
    editor = await start_editor()
    file = FileReport("/project/model.py", FileStatus.CLEAN)
    editor.engine.holds = Performed(file, "", notes=["of the check"])
    editor.engine.performed = Performed(file, "", notes=["new"])
    wanted = {"uri": URI, "target": "Net", "stages": ["mock"]}
    assert (await editor.answer(asked_for(editor, wanted)))["result"]["notes"] == ["of the check"]
    assert editor.engine.calls == []
    assert (await editor.answer(asked_for(editor, {**wanted, "fresh": True})))["result"]["notes"] == ["new"]


async def test_a_report_of_no_known_format_is_refused_before_anything_runs(start_editor: Make) -> None:
    editor = await start_editor()
    params = {"command": "inductorDebug.report", "arguments": [{"uri": URI, "format": "pdf"}]}
    response = await editor.answer(editor.ask("workspace/executeCommand", params))
    assert response["error"]["message"] == "inductorDebug.report: `format`: unknown value 'pdf'; there are html, json."
    assert editor.engine.calls == []


async def test_progress_goes_to_the_token_of_the_request(start_editor: Make) -> None:
    editor = await start_editor()
    editor.engine.events = [StageStarted("Net", Stage.MOCK), Progressed("half", 1, 2), Progressed("back", 1, 9)]
    await editor.answer(asked_for(editor, URI, token="mine"))
    sent = editor.messages.of("$/progress")
    assert {params["token"] for params in sent} == {"mine"}
    values = [params["value"] for params in sent]
    assert [value["kind"] for value in values] == ["begin", "report", "report", "report", "end"]
    assert [value.get("percentage") for value in values] == [0, 0, 50, 50, None], "a bar never goes back"
    assert [value.get("message") for value in values[1:4]] == ["Net: capture", "half", "back"]


async def test_a_cancelled_order_ends_its_worker_and_its_bar(start_editor: Make) -> None:
    editor = await start_editor()
    editor.engine.check_gate = asyncio.Event()
    editor.engine.events = [StageStarted("Net", Stage.MOCK)]
    asked = asked_for(editor, URI, token="mine")
    await editor.messages.first(lambda message: message.get("method") == "$/progress")
    editor.notify("$/cancelRequest", {"id": asked})
    assert (await editor.answer(asked))["error"]["code"] == -32800
    assert editor.engine.calls[-1] == ("perform cancelled", "/project/model.py")
    assert editor.messages.of("$/progress")[-1]["value"]["kind"] == "end"


async def test_a_run_that_failed_says_why(start_editor: Make) -> None:
    editor = await start_editor()
    area = Range(Position(0, 0), Position(0, 1))
    findings = [
        Finding("dtype", Severity.WARNING, "narrow", "/project/model.py", area, Stage.MOCK),
        Finding("import-error", Severity.ERROR, "No module named 'x'", "/project/model.py", area, Stage.LOAD),
    ]
    file = FileReport("/project/model.py", FileStatus.FAILED, [], findings)
    editor.engine.performed = Performed(file, "", broken=True)
    result = (await editor.answer(asked_for(editor, URI)))["result"]
    assert (result["status"], result["reason"], result["artifacts"]) == ("failed", "No module named 'x'", [])
