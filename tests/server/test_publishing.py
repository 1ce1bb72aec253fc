from __future__ import annotations

import dataclasses
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from inductor_debug.engine.results.analysis import AnalysisUpdate
from inductor_debug.server.state.analysis_notification import analysis_notification
from inductor_debug_schema import (
    FileReport,
    FileStatus,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
    to_wire,
)
from server_harness import PULLED, PUSHED, AnalysisState, Editor, finding, related, turns

Make = Callable[..., Awaitable[Editor]]
MODEL, HELPER = Path("/project/model.py"), Path("/project/helper.py")


async def test_a_finding_becomes_a_diagnostic_with_all_a_client_can_use(start_editor: Make) -> None:
    editor = await start_editor(PUSHED)
    uri = editor.open(MODEL, version=7)
    found = finding(MODEL, 3, related=[related(HELPER, 9)], link="https://docs.pytorch.org/gb0001")
    editor.engine.done(uri, [found])
    (shown,) = editor.published(uri)
    assert shown["version"] == 7
    assert shown["diagnostics"] == [
        {
            "range": {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 13}},
            "message": "float64 is not here",
            "severity": 2,
            "code": "dtype",
            "codeDescription": {"href": "https://docs.pytorch.org/gb0001"},
            "source": "inductor-debug",
            "relatedInformation": [
                {
                    "location": {
                        "uri": "file:///project/helper.py",
                        "range": {"start": {"line": 9, "character": 4}, "end": {"line": 9, "character": 13}},
                    },
                    "message": "declared here",
                }
            ],
            "data": {
                "fingerprint": "dtype-3",
                "reproducible": True,
                "target": "Model",
                "stage": "preview",
                "op": "aten._to_copy.default",
                "module": "layer.0",
                "count": 2,
            },
        }
    ]


async def test_a_client_that_can_little_gets_little(start_editor: Make) -> None:
    editor = await start_editor({})
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(MODEL, related=[related(HELPER, 9)], link="https://example.org")])
    (diagnostic,) = editor.published(uri)[0]["diagnostics"]
    assert set(diagnostic) == {"range", "message", "severity", "code", "source"}


@pytest.mark.parametrize(("severity", "number"), [("error", 1), ("warning", 2), ("information", 3), ("hint", 4)])
async def test_every_severity_has_its_number(start_editor: Make, severity: str, number: int) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(MODEL, severity=Severity(severity))])
    assert editor.published(uri)[0]["diagnostics"][0]["severity"] == number


async def test_diagnostics_stream_stage_by_stage_and_done_comes_last(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    early, late = finding(MODEL, 3), finding(MODEL, 8, "graph-break")
    editor.engine.tell(uri, AnalysisState.QUEUED)
    editor.engine.tell(uri, AnalysisState.RUNNING, stage=Stage.LOAD)
    editor.engine.tell(uri, AnalysisState.RUNNING, [early], stage=Stage.PREVIEW, ended=(Stage.PREVIEW,))
    editor.engine.tell(uri, AnalysisState.RUNNING, [early], stage=Stage.MOCK, ended=(Stage.PREVIEW,))
    editor.engine.done(uri, [early, late])
    said = [
        (message["params"].get("state") or len(message["params"]["diagnostics"]))
        for message in editor.messages.all
        if "method" in message
    ]
    assert said == ["queued", "running", 1, "running", "running", 2, "done"]
    last = editor.messages.of("inductorDebug/analysis")[-1]
    (target,) = last.pop("targets")
    assert (target["name"], [stage["stage"] for stage in target["stages"]]) == ("Model", ["preview", "mock"])
    assert last == {
        "uri": uri,
        "version": 1,
        "generation": 1,
        "state": "done",
        "stage": "mock",
        "findings": 2,
        "seconds": 0.25,
        "cause": last["cause"],
        "status": "findings",
        "accelerator": None,
        "targets_left_out": 0,
        "cells": [],
    }


async def test_an_editor_learns_of_targets_as_far_as_a_message_holds_them(start_editor: Make) -> None:
    stages = [StageReport(Stage.PREVIEW, StageState.DONE, 0.5, ops=12, notes=["redirected to the CPU"])]
    targets = [TargetReport(f"Model{number}", number, stages) for number in range(1000)]
    report = FileReport(str(MODEL), FileStatus.CLEAN, targets)
    update = AnalysisUpdate("file:///m.py", str(MODEL), 1, 1, AnalysisState.DONE, Stage.PREVIEW, report, 0.5, "save")
    notification = analysis_notification(update, "mock")
    assert notification["targets"][0] == to_wire(targets[0])
    assert 0 < notification["targets_left_out"] == 1000 - len(notification["targets"])
    assert len(json.dumps(notification)) < 60_000


async def test_the_last_findings_stay_while_a_newer_run_has_none_yet(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(MODEL)])
    editor.change(uri, 2, {"text": "x = 2\n"})
    editor.engine.tell(uri, AnalysisState.QUEUED, [])
    editor.engine.tell(uri, AnalysisState.RUNNING, [], stage=Stage.LOAD)
    assert len(editor.published(uri)) == 1
    editor.engine.done(uri, [])
    assert editor.published(uri)[-1] == {"uri": uri, "version": 2, "diagnostics": []}


async def test_every_finished_version_is_answered_even_if_nothing_changed(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.done(uri, [])
    editor.change(uri, 2, {"text": "x = 2\n"})
    editor.engine.done(uri, [])
    assert [shown["version"] for shown in editor.published(uri)] == [1, 2]


async def test_a_save_of_what_is_known_is_answered_with_it(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(MODEL)])
    editor.engine.analyze(uri, "saved")
    editor.engine.done(uri, [finding(MODEL)])
    assert [len(shown["diagnostics"]) for shown in editor.published(uri)] == [1, 1]


async def test_a_stage_that_finds_nothing_new_is_not_sent_twice(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.tell(uri, AnalysisState.RUNNING, [finding(MODEL)], stage=Stage.PREVIEW, ended=(Stage.PREVIEW,))
    editor.engine.done(uri, [finding(MODEL)])
    assert len(editor.published(uri)) == 1


async def test_a_syntax_error_shows_while_the_document_waits(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(MODEL)])
    editor.engine.tell(uri, AnalysisState.STALE, [finding(MODEL), finding(MODEL, 5, "syntax-error")])
    assert [item["code"] for item in editor.published(uri)[-1]["diagnostics"]] == ["dtype", "syntax-error"]


async def test_findings_in_a_helper_stand_in_the_helper_and_leave_with_their_finder(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(MODEL), finding(HELPER, 9)])
    helper = HELPER.as_uri()
    assert [len(shown["diagnostics"]) for shown in editor.published(helper)] == [1]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert editor.published(helper)[-1] == {"uri": helper, "diagnostics": []}
    assert editor.published(uri)[-1] == {"uri": uri, "diagnostics": []}


async def test_a_helper_s_findings_are_cleared_when_the_finder_is_mended(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(HELPER, 9)])
    editor.change(uri, 2, {"text": "y = 1\n"})
    editor.engine.done(uri, [])
    assert [len(shown["diagnostics"]) for shown in editor.published(HELPER.as_uri())] == [1, 0]


async def test_what_two_documents_find_in_a_third_is_shown_once(start_editor: Make) -> None:
    editor = await start_editor()
    first, second = editor.open(MODEL), editor.open(Path("/project/other.py"))
    editor.engine.done(first, [finding(HELPER, 9)])
    editor.engine.done(second, [finding(HELPER, 9), finding(HELPER, 1)])
    shown = editor.published(HELPER.as_uri())[-1]["diagnostics"]
    assert [item["range"]["start"]["line"] for item in shown] == [1, 9]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": second}})
    assert len(editor.published(HELPER.as_uri())[-1]["diagnostics"]) == 1


async def test_a_helper_is_named_as_the_client_spells_it(start_editor: Make) -> None:
    editor = await start_editor()
    spelled = "file:///project/my%20helper%2Bmore.py"
    document = {"uri": spelled, "languageId": "python", "version": 1, "text": ""}
    editor.notify("textDocument/didOpen", {"textDocument": document})
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding("/project/my helper+more.py")])
    assert len(editor.published(spelled)[-1]["diagnostics"]) == 1


async def test_no_number_of_findings_makes_a_message_too_long(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    places = [related(HELPER, line, "x" * 900) for line in range(40)]
    many = [
        finding(MODEL, line, message=f"{line} " + "é" * 3000, related=places, module="m" * 2000) for line in range(3000)
    ]
    worst = dataclasses.replace(many[2500], severity=Severity.ERROR)
    editor.engine.done(uri, [*many, worst])  # The harness fails on any message over 64 KiB.
    shown = editor.published(uri)[-1]["diagnostics"]
    assert len(shown) > 10
    assert any(item["severity"] == 1 for item in shown), "the most severe findings stay"
    assert "more findings are not shown" in shown[0]["message"]
    assert editor.messages.of("inductorDebug/analysis")[-1]["findings"] == 3001


async def test_a_few_long_findings_are_shortened_before_any_is_left_out(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(MODEL, line, message="x" * 5000) for line in range(40)])
    assert len(editor.published(uri)[-1]["diagnostics"]) == 40


# Pulling.


async def test_a_client_that_pulls_is_not_pushed_to(make_editor: Make) -> None:
    editor = await make_editor(PULLED)
    result = await editor.start()
    assert result["capabilities"]["diagnosticProvider"]["interFileDependencies"] is True
    uri = editor.open(MODEL)
    asked = editor.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    await turns()
    editor.engine.done(uri, [finding(MODEL)])
    report = (await editor.answer(asked))["result"]
    assert report["kind"] == "full"
    assert [item["code"] for item in report["items"]] == ["dtype"]
    assert editor.messages.of("textDocument/publishDiagnostics") == []


async def test_pulling_again_says_unchanged(start_editor: Make) -> None:
    editor = await start_editor(PULLED)
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(MODEL)])
    first = (await editor.request("textDocument/diagnostic", {"textDocument": {"uri": uri}}))["result"]
    again = {"textDocument": {"uri": uri}, "previousResultId": first["resultId"]}
    second = (await editor.request("textDocument/diagnostic", again))["result"]
    assert second == {"kind": "unchanged", "resultId": first["resultId"]}
    editor.engine.done(uri, [])
    third = (await editor.request("textDocument/diagnostic", again))["result"]
    assert third["kind"] == "full"
    assert third["items"] == []


async def test_a_long_analysis_answers_with_its_first_stage_and_asks_to_pull_again(start_editor: Make) -> None:
    editor = await start_editor(PULLED)
    uri = editor.open(MODEL)
    asked = editor.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    await turns()
    editor.engine.tell(uri, AnalysisState.RUNNING, [finding(MODEL)], stage=Stage.PREVIEW, ended=(Stage.PREVIEW,))
    assert len((await editor.answer(asked))["result"]["items"]) == 1
    assert editor.messages.of("workspace/diagnostic/refresh") == []
    editor.engine.done(uri, [finding(MODEL), finding(MODEL, 8)])
    await editor.messages.first(lambda message: message.get("method") == "workspace/diagnostic/refresh")
    report = (await editor.request("textDocument/diagnostic", {"textDocument": {"uri": uri}}))["result"]
    assert len(report["items"]) == 2


async def test_a_pull_in_time_needs_no_refresh(start_editor: Make) -> None:
    editor = await start_editor(PULLED)
    uri = editor.open(MODEL)
    asked = editor.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    await turns()
    editor.engine.tell(uri, AnalysisState.RUNNING, [finding(MODEL)], stage=Stage.PREVIEW, ended=(Stage.PREVIEW,))
    editor.engine.done(uri, [finding(MODEL), finding(MODEL, 8)])
    assert len((await editor.answer(asked))["result"]["items"]) == 2
    await turns()
    assert editor.messages.of("workspace/diagnostic/refresh") == []


async def test_a_closed_helper_is_pushed_even_to_a_client_that_pulls_until_it_opens_it(start_editor: Make) -> None:
    editor = await start_editor(PULLED)
    uri = editor.open(MODEL)
    editor.engine.done(uri, [finding(HELPER)])
    assert len(editor.published(HELPER.as_uri())[-1]["diagnostics"]) == 1
    helper = editor.open(HELPER)
    assert editor.published(helper)[-1]["diagnostics"] == []
    editor.engine.done(helper, [])
    report = (await editor.request("textDocument/diagnostic", {"textDocument": {"uri": helper}}))["result"]
    assert len(report["items"]) == 1


async def test_a_pull_can_be_cancelled(start_editor: Make) -> None:
    editor = await start_editor(PULLED)
    uri = editor.open(MODEL)
    asked = editor.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    await turns()
    editor.notify("$/cancelRequest", {"id": asked})
    assert (await editor.answer(asked))["error"]["code"] == -32800
    editor.engine.done(uri, [finding(MODEL)])
    assert (
        len((await editor.request("textDocument/diagnostic", {"textDocument": {"uri": uri}}))["result"]["items"]) == 1
    )


async def test_a_client_that_cannot_be_told_to_pull_again_is_pushed_to(make_editor: Make) -> None:
    editor = await make_editor({"textDocument": {"diagnostic": {"dynamicRegistration": False}}})
    result = await editor.start()
    assert "diagnosticProvider" not in result["capabilities"]
    uri = editor.open(MODEL)
    asked = editor.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    await turns()
    editor.engine.tell(uri, AnalysisState.RUNNING, [finding(MODEL)], stage=Stage.PREVIEW, ended=(Stage.PREVIEW,))
    assert len(editor.published(uri)) == 1
    editor.engine.done(uri, [finding(MODEL), finding(MODEL, 8)])
    assert len((await editor.answer(asked))["result"]["items"]) == 2, "asked all the same, it gets the settled answer"


async def test_pulling_a_document_that_is_not_open_is_answered_at_once(start_editor: Make) -> None:
    editor = await start_editor(PULLED)
    report = await editor.request("textDocument/diagnostic", {"textDocument": {"uri": HELPER.as_uri()}})
    assert report["result"]["items"] == []


def test_the_harness_would_notice_a_message_that_is_too_long() -> None:
    from server_harness import check_message

    long = {"jsonrpc": "2.0", "method": "window/showMessage", "params": {"type": 1, "message": "x" * (64 << 10)}}
    assert len(json.dumps(long)) > 64 << 10
    with pytest.raises(AssertionError):
        check_message(long, {})
