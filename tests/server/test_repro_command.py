"""The command for reproducers: which finding is meant, where the script is, and what a cancelled search leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from answers import answer
from inductor_debug.engine.orders.orders import Performed
from inductor_debug.engine.orders.proving import Proof
from inductor_debug.engine.results.keeping import KeptArtifact
from inductor_debug.server.rpc.protocol import LARGEST_MESSAGE
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    ArtifactReference,
    DiffDocument,
    FileReport,
    FileStatus,
    Progressed,
    ReproDocument,
    ReproTask,
)
from server_harness import Editor, finding

Make = Callable[..., Awaitable[Editor]]
SCRIPT = "print('it fails')\n"
MADE = ArtifactMade(ArtifactKind.REPROS, "repro", ".py", "text/x-python", SCRIPT.encode(), "Model")
KEPT = ArtifactReference(ArtifactKind.REPROS, "/cache/repros/repro.py", len(SCRIPT), "text/x-python")
WORKED = answer(ReproDocument, {"script": SCRIPT, "nodes_before": 8, "nodes_after": 1, "attempts": 3, "seconds": 0.5})


@pytest.fixture(autouse=True)
def proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts are verified without being run: a process with torch is the business of other tests."""

    async def prove(script: str, files: Any, **_: Any) -> Proof:
        return Proof(True, "", 0.1)

    monkeypatch.setattr("inductor_debug.engine.orders.reproducing.prove", prove)


def performed(*references: ArtifactReference, script: str = SCRIPT) -> Performed:
    made = ArtifactMade(ArtifactKind.REPROS, "repro", ".py", "text/x-python", script.encode(), "Model")
    report = FileReport("/project/model.py", FileStatus.CLEAN)
    return Performed(report, "", [Answered("Model", WORKED)], [made], references=list(references))


def ask(editor: Editor, **options: Any) -> int:
    params = {"command": "inductorDebug.repro", "arguments": [options], "workDoneToken": "mine"}
    return editor.ask("workspace/executeCommand", params)


async def test_the_answer_names_the_file_of_a_verified_script(start_editor: Make, tmp_path: Path) -> None:
    editor = await start_editor()
    uri = editor.open(tmp_path / "model.py")
    shown = finding(tmp_path / "model.py")
    editor.engine.done(uri, [shown])
    editor.engine.performed = performed(KEPT)
    result = (await editor.answer(ask(editor, uri=uri, fingerprint=shown.fingerprint)))["result"]
    assert (result["script"], result["verified"], result["nodes_after"]) == (KEPT.path, True, 1)
    assert result["text"] is None
    order = editor.engine.calls[-1][2]
    assert isinstance(order.task, ReproTask)
    assert (order.target, order.task.rule) == ("Model", "dtype")


async def test_a_script_that_no_file_has_travels_itself(start_editor: Make) -> None:
    editor = await start_editor()
    editor.engine.performed = performed()
    result = (await editor.answer(ask(editor, uri="file:///project/model.py", rule="dtype")))["result"]
    assert (result["script"], result["text"], result["verified"]) == (None, SCRIPT, True)
    editor.engine.performed = performed(script="#" * LARGEST_MESSAGE)
    result = (await editor.answer(ask(editor, uri="file:///project/model.py", rule="dtype")))["result"]
    assert result["script"] is None
    assert result["text"] is None


async def test_what_stands_in_a_module_is_looked_for_where_it_was_found(start_editor: Make, tmp_path: Path) -> None:
    editor = await start_editor()
    helper, model = editor.open(tmp_path / "helper.py"), editor.open(tmp_path / "model.py")
    shown = finding(tmp_path / "helper.py")
    editor.engine.done(model, [shown])
    editor.engine.performed = performed(KEPT)
    result = (await editor.answer(ask(editor, uri=helper, fingerprint=shown.fingerprint)))["result"]
    assert result["uri"] == model
    assert editor.engine.calls[-1][1] == str(tmp_path / "model.py")


async def test_a_difference_in_numbers_is_reduced_with_the_backend_that_made_it(
    make_editor: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = await make_editor(
        {"textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}}}
    )
    await editor.start(options={"clientCommands": ["inductorDebug.makeReproducer"]})
    monkeypatch.setattr(editor.engine, "judged", lambda path, found, text: found, raising=False)
    path = tmp_path / "model.py"
    uri = editor.open(path)
    editor.engine.done(uri, [])
    shown = finding(path, rule="numerics")
    compared = {"backend": "inductor", "reference": "eager", "verdict": "wrong", "blame": [], "nodes": []}
    report = FileReport(str(path), FileStatus.FINDINGS)
    comparison = Performed(report, "x = 1\n", [Answered("Model", answer(DiffDocument, compared))], found=[shown])
    editor.server.numerics.take(str(path), comparison)
    place = {"start": {"line": 3, "character": 5}, "end": {"line": 3, "character": 5}}
    params = {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": []}}
    (action,) = (await editor.request("textDocument/codeAction", params))["result"]
    assert action["command"]["command"] == "inductorDebug.makeReproducer"
    (asked,) = action["command"]["arguments"]
    editor.engine.performed = performed(KEPT)
    await editor.answer(ask(editor, **asked))
    assert editor.engine.calls[-1][2].task.backend == "inductor"


async def test_a_finding_that_is_gone_is_said_to_be(start_editor: Make, tmp_path: Path) -> None:
    editor = await start_editor()
    uri = editor.open(tmp_path / "model.py")
    editor.engine.done(uri, [])
    error = (await editor.answer(ask(editor, uri=uri, fingerprint="gone")))["error"]
    assert error["message"] == "The finding is not there any more."


@pytest.mark.parametrize("kept", [[KEPT], []], ids=["kept", "not kept"])
async def test_a_cancelled_search_is_answered_with_the_smallest_script(
    start_editor: Make, monkeypatch: pytest.MonkeyPatch, kept: Sequence[ArtifactReference]
) -> None:
    editor = await start_editor()

    def keep(path: str, artifacts: Sequence[ArtifactMade]) -> KeptArtifact:
        return KeptArtifact(list(kept))

    monkeypatch.setattr(editor.engine, "keep", keep, raising=False)
    editor.engine.check_gate = asyncio.Event()
    editor.engine.events = [MADE, Progressed("3 nodes left", 5, 8)]
    asked = ask(editor, uri="file:///project/model.py", rule="dtype")
    await editor.messages.first(lambda message: message.get("method") == "$/progress")
    editor.notify("$/cancelRequest", {"id": asked})
    result = (await editor.answer(asked))["result"]
    assert (result["status"], result["verified"], result["why"]) == ("cancelled", False, "the search was cancelled")
    assert (result["script"], result.get("text")) == ((KEPT.path, None) if kept else (None, SCRIPT))
    assert editor.messages.of("$/progress")[-1]["value"]["kind"] == "end"


async def test_a_search_that_had_nothing_yet_is_only_cancelled(start_editor: Make) -> None:
    editor = await start_editor()
    editor.engine.check_gate = asyncio.Event()
    editor.engine.events = [Progressed("looking")]
    asked = ask(editor, uri="file:///project/model.py", rule="dtype")
    await editor.messages.first(lambda message: message.get("method") == "$/progress")
    editor.notify("$/cancelRequest", {"id": asked})
    assert (await editor.answer(asked))["error"]["code"] == -32800
