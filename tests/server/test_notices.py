"""Where no worker can be started the user is told once: by the server, or by an editor that can mend it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from inductor_debug.engine.results.kept_runs import Versions
from inductor_debug_schema import Severity
from server_harness import PUSHED, AnalysisState, Editor, finding, turns

Make = Callable[..., Awaitable[Editor]]
MODEL = Path("/project/model.py")


@pytest.mark.parametrize(("commands", "told"), [([], 1), (["inductorDebug.chooseInterpreter"], 0)])
async def test_a_worker_that_cannot_be_started_is_told_once(make_editor: Make, commands: list[str], told: int) -> None:
    editor = await make_editor(PUSHED)
    await editor.start(options={"clientCommands": commands})
    uri = editor.open(MODEL)
    await turns()
    failure = finding(MODEL, 0, rule="environment", message="torch is not installed", severity=Severity.ERROR)
    for _ in range(2):
        editor.engine.tell(uri, AnalysisState.FAILED, [failure])
    assert len(editor.messages.of("window/showMessage")) == told


async def test_versions_that_were_never_tried_go_to_the_log_once(
    make_editor: Make, caplog: pytest.LogCaptureFixture
) -> None:
    editor = await make_editor(PUSHED)
    await editor.start()
    uri = editor.open(MODEL)
    await turns()
    editor.engine.versions = Versions("2.99.0", "3.11.2")
    for _ in range(2):
        editor.engine.tell(uri, AnalysisState.DONE, [])
    remarks = [record.message for record in caplog.records if record.message.startswith("torch 2.99.0 is newer than")]
    assert len(remarks) == 1
    assert editor.messages.of("window/showMessage") == []
