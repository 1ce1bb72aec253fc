"""The command `inductorDebug.diff`: what it takes, and the short answer that it gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from inductor_debug.engine.orders import Performed
from inductor_debug_schema import Answered, FileReport, FileStatus
from server_harness import Editor

Make = Callable[..., Awaitable[Editor]]
URI = "file:///project/model.py"


def asked_for(editor: Editor, **options: Any) -> int:
    params = {"command": "inductorDebug.diff", "arguments": [{"uri": URI, **options}]}
    return editor.ask("workspace/executeCommand", params)


async def test_it_answers_with_verdicts_and_blame_and_leaves_the_numbers_to_the_artifact(make_editor: Make) -> None:
    editor = await make_editor()
    await editor.start()
    document = {
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
    editor.engine.performed = Performed(file, "", answers=[Answered("Net", document)])
    response = await editor.answer(asked_for(editor, target="Net", backend="spyre", runs=2))
    found = response["result"]["comparisons"]
    assert [comparison["verdict"] for comparison in found] == ["wrong"]
    assert len(found[0]["blame"]) == 10
    assert "outputs" not in found[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": "two"}, "`runs` must be of type int"),
        ({"seed": True}, "`seed` must be of type int"),
        ({"target": 3}, "`target`"),
        ({"backend": "missing.toml"}, "missing.toml"),
    ],
)
async def test_bad_arguments_are_told(make_editor: Make, options: dict[str, Any], words: str) -> None:
    editor = await make_editor()
    await editor.start()
    response = await editor.answer(asked_for(editor, **options))
    assert words in response["error"]["message"]
