"""Documents, settings, commands and progress, in the server's own event loop with a fake engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from inductor_debug_schema import Severity, Stage
from server_harness import PATIENCE, PUSHED, AnalysisState, ConfigurationError, Editor, finding, turns

Make = Callable[..., Awaitable[Editor]]
MODEL = Path("/project/model.py")
PROGRESS = {"window": {"workDoneProgress": True}}


# Documents.


async def test_edits_and_saves_reach_the_engine_as_whole_texts(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL, "a = '😀'\nb\n")
    edit = {"range": {"start": {"line": 0, "character": 8}, "end": {"line": 1, "character": 0}}, "text": "; "}
    editor.change(
        uri,
        2,
        edit,
        {"text": "c"} | {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}},
    )
    assert editor.engine.texts[uri] == "c = '😀'; b\n"
    assert editor.engine.document_versions[uri] == 2
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}, "text": "saved\n"})
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert editor.engine.calls[-2:] == [("save", uri, "saved\n"), ("save", uri, "saved\n")]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert editor.engine.calls[-1] == ("close", uri)


async def test_only_python_documents_reach_the_engine(start_editor: Make) -> None:
    editor = await start_editor()
    editor.open(Path("/project/profile.toml"), language="toml")
    editor.change(Path("/project/profile.toml").as_uri(), 2, {"text": ""})
    editor.notify("textDocument/didSave", {"textDocument": {"uri": "file:///never/opened.py"}})
    editor.notify("textDocument/didClose", {"textDocument": {"uri": "file:///never/opened.py"}})
    assert [call for call in editor.engine.calls if call[0] != "prewarm"] == []
    untitled = {"uri": "untitled:Untitled-1", "languageId": "python", "version": 1, "text": "x"}
    editor.notify("textDocument/didOpen", {"textDocument": untitled})
    assert editor.engine.paths == {"untitled:Untitled-1": ""}


async def test_files_changed_behind_the_editor_s_back_reach_the_engine(start_editor: Make) -> None:
    capabilities = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
    editor = await start_editor(capabilities)
    await editor.messages.first(lambda message: message.get("method") == "client/registerCapability")
    (registration,) = editor.messages.of("client/registerCapability")[0]["registrations"]
    patterns = [watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]]
    assert patterns == ["**/*.py", "**/*.toml"]
    changes = [{"uri": "file:///project/helper.py", "type": 2}, {"uri": "untitled:x", "type": 1}]
    editor.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    assert editor.engine.calls[-1] == ("files_changed", ["/project/helper.py"])
    editor.notify(
        "workspace/didChangeWatchedFiles", {"changes": [{"uri": "file:///project/pyproject.toml", "type": 2}]}
    )
    assert editor.engine.calls[-2:] == [("files_changed", ["/project/pyproject.toml"]), ("settings_changed",)]


async def test_workers_are_started_ahead_for_every_folder(make_editor: Make) -> None:
    editor = await make_editor()
    await editor.start(Path("/project"), Path("/other"))
    assert editor.engine.calls == [("prewarm", "/project"), ("prewarm", "/other")]
    event = {
        "added": [{"uri": "file:///third", "name": "third"}],
        "removed": [{"uri": "file:///other", "name": "other"}],
    }
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    assert editor.engine.calls[-1] == ("prewarm", "/third")
    assert set(editor.server.configuration.folders.values()) == {"/project", "/third"}


# Settings.

ASKS = {"workspace": {"configuration": True}}


class Resolver:
    """Stands for the engine's ladder: keeps what it was made with, and refuses what a test calls bad."""

    bad: ClassVar[dict[str, Any]] = {}

    def __init__(self, **said: Any) -> None:
        self.said = said

    def __call__(self, path: str) -> dict[str, Any]:
        for key, value in self.said["editor"].items():
            if self.bad.get(key) == value:
                raise ConfigurationError(f"{value!r} is no {key}", source="editor settings", key=key)
        if path.endswith("broken.py"):
            raise ConfigurationError(
                "expected a value", source="pyproject.toml", path="/project/pyproject.toml", line=3
            )
        return dict(self.said["editor"])


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> type[Resolver]:
    from inductor_debug.engine.settings import settings_ladder

    monkeypatch.setattr(settings_ladder, "SettingsResolver", Resolver)
    monkeypatch.setattr(Resolver, "bad", {})
    return Resolver


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize("options", [{"trigger": "onSave"}, {"inductorDebug": {"trigger": "onSave"}}])
async def test_initialization_options_are_settings(make_editor: Make, options: Any) -> None:
    editor = await make_editor()
    await editor.start(options=options)
    assert editor.engine.settings_for("/project/model.py") == {"trigger": "onSave"}


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize("options", [None, [], "text", 3, {"inductorDebug": None}, {"unknown": True, "strict": None}])
async def test_options_of_any_shape_do_no_harm(make_editor: Make, options: Any) -> None:
    editor = await make_editor()
    await editor.start(options=options)
    assert editor.engine.settings_for("/project/model.py") == {}


@pytest.mark.usefixtures("resolver")
async def test_each_folder_has_its_own_settings(make_editor: Make) -> None:
    first, second = Path("/work/one"), Path("/work/two")
    settings = {
        "": {"accelerator": "mock"},
        first.as_uri(): {"accelerator": "mock"},
        second.as_uri(): {"accelerator": "spyre", "memoryLimit": 5, "allow": ["network"], "trace": "off"},
    }
    editor = await make_editor(ASKS, settings)
    await editor.start(first, second, options={"strict": True})
    assert editor.engine.settings_for("/work/one/model.py") == {"strict": True, "accelerator": "mock"}
    spyre = {"strict": True, "accelerator": "spyre", "memoryLimit": 5, "allow": ["network"]}
    assert editor.engine.settings_for("/work/two/sub/model.py") == spyre
    assert editor.engine.settings_for("/elsewhere/model.py") == {"strict": True, "accelerator": "mock"}


@pytest.mark.usefixtures("resolver")
async def test_documents_wait_until_the_settings_are_known(make_editor: Make) -> None:
    editor = await make_editor(ASKS, {"": {"trigger": "manual"}})
    editor.silent.add("workspace/configuration")
    await editor.request("initialize", {"processId": None, "rootUri": None, "capabilities": ASKS})
    editor.notify("initialized", {})
    uri = editor.open(MODEL, "old")
    editor.change(uri, 2, {"text": "new"})
    asked = await editor.messages.first(lambda message: message.get("method") == "workspace/configuration")
    assert editor.engine.calls == []
    editor.send({"id": asked["id"], "result": [{"trigger": "manual"}]})
    await asyncio.wait_for(editor.server.ready.wait(), PATIENCE)
    await turns()
    assert editor.engine.calls == [("open", uri)]
    assert editor.engine.texts[uri] == "new"


@pytest.mark.usefixtures("resolver")
async def test_changed_settings_are_asked_for_and_only_news_reach_the_engine(start_editor: Make) -> None:
    settings: dict[str, Any] = {"": {"strict": False}}
    editor = await start_editor(ASKS, settings)
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await turns(50)
    assert ("settings_changed",) not in editor.engine.calls
    settings[""] = {"strict": True}
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await turns(50)
    assert editor.engine.calls[-1] == ("settings_changed",)
    assert editor.engine.settings_for("/project/model.py") == {"strict": True}


@pytest.mark.usefixtures("resolver")
async def test_settings_that_a_client_pushes_are_taken(start_editor: Make) -> None:
    editor = await start_editor()
    editor.notify("workspace/didChangeConfiguration", {"settings": {"inductorDebug": {"stages": ["preview"]}}})
    await turns()
    assert editor.engine.calls[-1] == ("settings_changed",)
    assert editor.engine.settings_for("/project/model.py") == {"stages": ["preview"]}


async def test_a_bad_value_is_told_once_and_the_rung_below_decides(make_editor: Make, resolver: type[Resolver]) -> None:
    resolver.bad = {"timeout": "soon", "stages": 7}
    editor = await make_editor()
    await editor.start(options={"timeout": "soon", "stages": 7, "strict": True})
    for _ in range(3):
        assert editor.engine.settings_for("/project/model.py") == {"strict": True}
    told = [params["message"] for params in editor.messages.of("window/showMessage")]
    assert told == [
        "inductor-debug: editor settings: stages: 7 is no stages",
        "inductor-debug: editor settings: timeout: 'soon' is no timeout",
    ]


async def test_an_accelerator_has_no_stand_in(make_editor: Make, resolver: type[Resolver]) -> None:
    resolver.bad = {"accelerator": "typo"}
    editor = await make_editor()
    await editor.start(options={"accelerator": "typo"})
    for _ in range(2):
        with pytest.raises(ConfigurationError):
            editor.engine.settings_for("/project/model.py")
    assert len(editor.messages.of("window/showMessage")) == 1


@pytest.mark.usefixtures("resolver")
async def test_a_broken_file_is_told_with_its_line_once_until_it_is_mended(start_editor: Make) -> None:
    editor = await start_editor()
    for _ in range(2):
        with pytest.raises(ConfigurationError):
            editor.engine.settings_for("/project/broken.py")
    (told,) = editor.messages.of("window/showMessage")
    assert told == {"type": 1, "message": "inductor-debug: /project/pyproject.toml:4: expected a value"}
    editor.engine.settings_for("/project/model.py")
    with pytest.raises(ConfigurationError):
        editor.engine.settings_for("/project/broken.py")
    assert len(editor.messages.of("window/showMessage")) == 2


async def test_workers_that_cannot_start_are_told_once(start_editor: Make) -> None:
    editor = await start_editor()
    uri, other = editor.open(MODEL), editor.open(Path("/project/other.py"))
    problem = finding(MODEL, rule="environment", message="No torch in this interpreter.", severity=Severity.ERROR)
    for document in (uri, other, uri):
        editor.engine.tell(document, AnalysisState.FAILED, [problem])
    told = editor.messages.of("window/showMessage")
    assert [params["message"] for params in told] == ["inductor-debug: No torch in this interpreter."]
    assert [params["state"] for params in editor.messages.of("inductorDebug/analysis")] == ["failed"] * 3


# Commands.


async def test_check_analyses_an_open_document_and_answers_with_a_summary(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL, version=4)
    asked = editor.ask("workspace/executeCommand", {"command": "inductorDebug.check", "arguments": [uri]})
    await turns()
    assert editor.engine.calls[-1] == ("analyze", uri, "command")
    editor.engine.done(uri, [finding(MODEL), finding(MODEL, 5, severity=Severity.ERROR)])
    assert (await editor.answer(asked))["result"] == {
        "uri": uri,
        "version": 4,
        "generation": 2,
        "state": "done",
        "status": "findings",
        "findings": 2,
        "errors": 1,
        "warnings": 1,
        "seconds": 0.25,
        "artifacts": [],
        "cells": [],
    }


@pytest.mark.parametrize("argument", ["file:///project/closed.py", {"uri": "file:///project/closed.py"}])
async def test_check_reads_a_file_that_is_not_open(start_editor: Make, argument: Any) -> None:
    editor = await start_editor()
    command = {"command": "inductorDebug.check", "arguments": [argument]}
    response = await editor.request("workspace/executeCommand", command)
    assert response["result"]["status"] == "clean"
    assert editor.engine.calls[-1] == ("check", "/project/closed.py")


async def test_a_cancelled_check_leaves_nothing_running(start_editor: Make) -> None:
    editor = await start_editor()
    uri = editor.open(MODEL)
    editor.engine.check_gate = asyncio.Event()
    for argument, trace in (
        (uri, ("cancel", uri)),
        ("file:///project/closed.py", ("check cancelled", "/project/closed.py")),
    ):
        asked = editor.ask("workspace/executeCommand", {"command": "inductorDebug.check", "arguments": [argument]})
        await turns()
        editor.notify("$/cancelRequest", {"id": asked})
        assert (await editor.answer(asked))["error"]["code"] == -32800
        assert editor.engine.calls[-1] == trace


async def test_cancel_and_restart_do_what_they_say(start_editor: Make) -> None:
    editor = await start_editor()
    for command, arguments, call in (
        ("inductorDebug.cancel", [], ("cancel", None)),
        ("inductorDebug.cancel", ["file:///project/model.py"], ("cancel", "file:///project/model.py")),
        ("inductorDebug.restart", None, ("restart",)),
    ):
        response = await editor.request("workspace/executeCommand", {"command": command, "arguments": arguments})
        assert response["result"] is None
        assert editor.engine.calls[-1] == call


@pytest.mark.parametrize(
    ("command", "arguments", "word"),
    [
        ("inductorDebug.undo", ["file:///project/model.py"], "not available"),
        ("inductorDebug.graph", [], "needs the option `uri`"),
        ("inductorDebug.graph", ["untitled:Untitled-1"], "not the URI of a file"),
        ("inductorDebug.graph", [{"uri": "file:///model.py", "stages": ["preview"]}], "mock, aot, inductor"),
        ("inductorDebug.graph", [{"uri": "file:///model.py", "stages": ["moc"]}], "did you mean 'mock'?"),
        ("inductorDebug.graph", [{"uri": "file:///model.py", "target": 3}], "`target`: expected str"),
        ("inductorDebug.graph", [{"uri": "file:///model.py", "stage": ["aot"]}], "'stage'; did you mean 'stages'?"),
        ("inductorDebug.diff", [{"uri": "file:///model.py", "refrence": "eager"}], "did you mean 'reference'?"),
        ("inductorDebug.bisect", [{"uri": "file:///model.py", "backend": "inductor"}], "did you mean 'backends'?"),
        ("inductorDebug.repro", [{"uri": "file:///model.py", "colour": "red"}], "unknown option 'colour'; there are"),
        ("inductorDebug.report", [{"uri": "file:///model.py", "fromat": "html"}], "did you mean 'format'?"),
        ("somebody.else", [], "not available"),
        ("inductorDebug.check", [], "needs the option `uri`"),
        ("inductorDebug.check", [7], "`uri`: expected str, got int"),
        ("inductorDebug.check", ["untitled:Untitled-1"], "not the URI of a file"),
    ],
)
async def test_a_command_that_cannot_be_run_says_why(
    make_editor: Make, command: str, arguments: Any, word: str
) -> None:
    editor = await make_editor()
    result = await editor.start()
    assert "inductorDebug.undo" not in result["capabilities"]["executeCommandProvider"]["commands"]
    response = await editor.request("workspace/executeCommand", {"command": command, "arguments": arguments})
    assert response["error"]["code"] == -32602
    assert word in response["error"]["message"]
    assert editor.messages.of("window/showMessage") == [], "the answer is enough"


# Progress.


async def begun(editor: Editor) -> str:
    message = await editor.messages.first(
        lambda message: message.get("method") == "$/progress" and message["params"]["value"]["kind"] == "begin"
    )
    return str(message["params"]["token"])


async def test_progress_names_the_stage_and_the_cause_and_never_goes_back(start_editor: Make) -> None:
    editor = await start_editor(PROGRESS)
    uri = editor.open(MODEL)
    editor.engine.tell(uri, AnalysisState.RUNNING, stage=Stage.LOAD, cause="saved")
    token = await begun(editor)
    for stage in (Stage.PREVIEW, Stage.MOCK, Stage.PREVIEW, Stage.MOCK):
        editor.engine.tell(uri, AnalysisState.RUNNING, stage=stage, cause="saved")
    editor.engine.done(uri, [])
    values = [params["value"] for params in editor.messages.of("$/progress") if params["token"] == token]
    assert [value["kind"] for value in values] == ["begin", "report", "report", "report", "report", "end"]
    assert values[0]["title"] == "Checking model.py"
    assert [value["message"] for value in values[:3]] == ["load (saved)", "run (saved)", "capture (saved)"]
    percentages = [value["percentage"] for value in values[:-1]]
    assert percentages == sorted(percentages)


async def test_the_cancel_button_cancels(start_editor: Make) -> None:
    editor = await start_editor(PROGRESS)
    uri = editor.open(MODEL)
    editor.engine.tell(uri, AnalysisState.RUNNING, stage=Stage.LOAD)
    token = await begun(editor)
    editor.notify("window/workDoneProgress/cancel", {"token": token})
    assert editor.engine.calls[-1] == ("cancel", uri)
    editor.notify("window/workDoneProgress/cancel", {"token": "somebody else's"})
    editor.engine.tell(uri, AnalysisState.CANCELLED)
    assert editor.messages.of("$/progress")[-1] == {"token": token, "value": {"kind": "end", "message": "cancelled"}}


async def test_a_bar_whose_analysis_ended_before_the_client_agreed_is_never_begun(make_editor: Make) -> None:
    editor = await make_editor(PROGRESS)
    editor.silent.add("window/workDoneProgress/create")
    await editor.start()
    uri = editor.open(MODEL)
    editor.engine.tell(uri, AnalysisState.RUNNING, stage=Stage.LOAD)
    created = await editor.messages.first(lambda message: message.get("method") == "window/workDoneProgress/create")
    editor.engine.done(uri, [])
    editor.send({"id": created["id"], "result": None})
    await turns()
    assert editor.messages.of("$/progress") == []


@pytest.mark.parametrize("capabilities", [PUSHED, PROGRESS])
async def test_no_bar_for_a_client_that_has_none_or_refuses_one(make_editor: Make, capabilities: Any) -> None:
    editor = await make_editor(capabilities)
    editor.answers["window/workDoneProgress/create"] = {"error": {"code": -32601, "message": "no"}}
    await editor.start()
    uri = editor.open(MODEL)
    editor.engine.tell(uri, AnalysisState.RUNNING, stage=Stage.LOAD)
    await turns()
    editor.engine.done(uri, [])
    await turns()
    assert editor.messages.of("$/progress") == []
    assert editor.messages.of("window/showMessage") == []


async def test_typing_shows_no_bar_until_it_takes_long(start_editor: Make) -> None:
    editor = await start_editor(PROGRESS)
    uri = editor.open(MODEL)
    editor.engine.tell(uri, AnalysisState.RUNNING, stage=Stage.LOAD, cause="edited")
    await turns()
    assert editor.messages.of("window/workDoneProgress/create") == []
    await begun(editor)


async def test_waiting_for_the_first_worker_shows_a_bar(start_editor: Make) -> None:
    editor = await start_editor(PROGRESS)
    uri = editor.open(MODEL)
    editor.engine.tell(uri, AnalysisState.QUEUED, cause="opened")
    token = await begun(editor)
    editor.engine.tell(uri, AnalysisState.RUNNING, stage=Stage.LOAD, cause="opened")
    editor.engine.done(uri, [])
    values = [params["value"] for params in editor.messages.of("$/progress") if params["token"] == token]
    assert [value["message"] for value in values] == ["starting (opened)", "load (opened)", "done"]
