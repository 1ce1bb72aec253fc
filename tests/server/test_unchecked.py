"""What was not checked is a hint at the class's name, or dimmed code, with inputs to begin with; never a finding."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug_schema import (
    Checked,
    Held,
    Inferred,
    Position,
    Range,
    Severity,
    TargetReport,
    UntakenBlock,
)
from server_harness import AnalysisState, Editor, finding

Make = Callable[..., Awaitable[Editor]]
ABLE = {
    "textDocument": {
        "publishDiagnostics": {"dataSupport": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
MODEL = Path("/project/model.py")
TEXT = """\
import torch

class Model(torch.nn.Module): ...

@register
class Décoder(torch.nn.Module): ...
"""
DIRECTIVE = "# inductor-debug: inputs=(torch.randn(2, 8),), init=(4,)"
LACKING = TargetReport(
    "Décoder", 5, [], Inferred(directive=DIRECTIVE, reason="it needs `config`"), Checked.NO, "it needs `config`"
)


async def desk(make_editor: Make, *targets: TargetReport, text: str = TEXT, **more: Any) -> tuple[Editor, str]:
    editor = await make_editor(ABLE)
    await editor.start(**more)
    uri = editor.open(MODEL, text, version=3)
    editor.engine.done(uri, [], targets)
    return editor, uri


async def quick_fixes(editor: Editor, uri: str, line: int = 5, character: int = 8) -> list[dict[str, Any]]:
    place = {"line": line, "character": character}
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": editor.published(uri)[-1]["diagnostics"], "only": ["quickfix"]},
    }
    response = await editor.request("textDocument/codeAction", params)
    return list(response["result"])


async def test_the_hint_stands_at_the_name_and_says_why(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, LACKING)
    [shown] = editor.published(uri)[-1]["diagnostics"]
    assert (shown["code"], shown["severity"], shown["message"]) == (
        "not-checked",
        4,
        "Décoder: not checked: it needs `config`",
    )
    assert shown["range"] == {"start": {"line": 5, "character": 6}, "end": {"line": 5, "character": 13}}


async def test_a_quick_fix_writes_the_inputs_that_came_furthest_above_the_decorators(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, LACKING)
    first, *others = await quick_fixes(editor, uri)
    assert first["title"] == f"Set example inputs of Décoder: {DIRECTIVE}"
    assert first["diagnostics"][0]["code"] == "not-checked"
    start = {"line": 4, "character": 0}
    [change] = first["edit"]["documentChanges"]
    assert change["edits"] == [{"range": {"start": start, "end": start}, "newText": f"{DIRECTIVE}\n"}]
    assert [action["title"] for action in others] == ["Silence not-checked here", "Explain not-checked"]


@pytest.mark.parametrize(
    ("text", "inferred"),
    [
        (TEXT, Inferred(reason="it needs `config`")),
        (TEXT.replace("@register", "# inductor-debug: init=(4,)\n@register"), LACKING.inferred),
    ],
)
async def test_where_there_is_nothing_to_write_the_client_asks_the_user(
    make_editor: Make, text: str, inferred: Inferred
) -> None:
    target = TargetReport("Décoder", 5, [], inferred, Checked.NO, "it needs `config`")
    editor, uri = await desk(make_editor, target, text=text)
    line = text.count("\n") - 1
    assert [action["title"] for action in await quick_fixes(editor, uri, line)] == [
        "Silence not-checked here",
        "Explain not-checked",
    ]
    commands = ["inductorDebug.setExampleInputs"]
    editor, uri = await desk(make_editor, target, text=text, options={"clientCommands": commands})
    first, *_ = await quick_fixes(editor, uri, line)
    assert first["command"]["arguments"] == [uri, "Décoder"]


async def test_hints_stay_with_their_class_while_a_newer_text_is_analysed(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, LACKING)
    editor.change(uri, 4, {"text": f"# more\n{TEXT}"})
    editor.engine.tell(uri, AnalysisState.RUNNING, [finding(MODEL)], ended=(), targets=[])
    editor.engine.tell(uri, AnalysisState.STALE, [finding(MODEL)])
    hints = [item for item in editor.published(uri)[-1]["diagnostics"] if item["code"] == "not-checked"]
    assert [hint["range"]["start"]["line"] for hint in hints] == [6]
    editor.engine.done(uri, [])
    assert editor.published(uri)[-1]["diagnostics"] == []


async def test_where_a_finding_says_why_there_is_no_hint_beside_it(make_editor: Make) -> None:
    editor, uri = await desk(make_editor)
    raised = finding(MODEL, rule="capture-error", severity=Severity.ERROR, target="Décoder")
    editor.engine.done(uri, [raised], [LACKING])
    assert [item["code"] for item in editor.published(uri)[-1]["diagnostics"]] == ["capture-error"]


DIMMING: dict[str, Any] = {
    **ABLE,
    "textDocument": {
        **ABLE["textDocument"],
        "publishDiagnostics": {"dataSupport": True, "tagSupport": {"valueSet": [1]}},
    },
}
BRANCHY = """\
import torch

class Model(torch.nn.Module):
    def forward(self, x, mask=None):
        if mask is not None:
            x = x * mask
        if self.training:
            x = x + 1
        return x
"""
GIVEN = "# inductor-debug: inputs=(torch.randn(2, 8),)"
IN_PART = TargetReport(
    "Model",
    2,
    [],
    Inferred(signature="x f32[2, 8]", directive=GIVEN),
    Checked.PARTLY,
    "2 branches not taken: lines 6, 8",
    untaken=[
        UntakenBlock(Range(Position(5, 12), Position(5, 24)), "mask", Held.NONE, parameter=True),
        UntakenBlock(Range(Position(7, 12), Position(7, 21)), "self.training", Held.FALSE),
    ],
)


async def branchy(make_editor: Make, capabilities: dict[str, Any] = DIMMING, **more: Any) -> tuple[Editor, str]:
    editor = await make_editor(capabilities)
    await editor.start(**more)
    uri = editor.open(MODEL, BRANCHY, version=3)
    editor.engine.done(uri, [], [IN_PART])
    return editor, uri


async def test_code_that_did_not_run_is_dimmed_and_says_why(make_editor: Make) -> None:
    editor, uri = await branchy(make_editor)
    first, second = editor.published(uri)[-1]["diagnostics"]
    assert [(each["code"], each["severity"], each["tags"]) for each in (first, second)] == [("not-run", 4, [1])] * 2
    assert (
        first["message"] == "This did not run: `mask` is None. Give `mask` in the inputs of Model to have it checked."
    )
    assert second["message"] == "This did not run: `self.training` is false."
    assert first["range"] == {"start": {"line": 5, "character": 12}, "end": {"line": 5, "character": 24}}


async def test_only_where_other_inputs_would_do_a_quick_fix_sets_them(make_editor: Make) -> None:
    editor, uri = await branchy(make_editor)
    first, *others = await quick_fixes(editor, uri, 5, 14)
    assert first["title"] == f"Set example inputs of Model: {GIVEN}"
    assert [action["title"] for action in others] == ["Silence not-run here", "Explain not-run"]
    assert [action["title"] for action in await quick_fixes(editor, uri, 7, 14)] == [
        "Silence not-run here",
        "Explain not-run",
    ]


async def test_dimmed_code_keeps_its_place_while_somebody_types(make_editor: Make) -> None:
    editor, uri = await branchy(make_editor)
    editor.change(uri, 4, {"text": f"# more\n{BRANCHY}"})
    editor.engine.tell(uri, AnalysisState.RUNNING, [finding(MODEL)], ended=(), targets=[])
    editor.engine.tell(uri, AnalysisState.STALE, [finding(MODEL)])
    dimmed = [item for item in editor.published(uri)[-1]["diagnostics"] if item["code"] == "not-run"]
    assert [item["range"]["start"]["line"] for item in dimmed] == [6, 8]


@pytest.mark.parametrize(
    ("capabilities", "options"), [(ABLE, {}), (DIMMING, {"notRun": False})], ids=["cannot", "switched off"]
)
async def test_nothing_is_dimmed_where_an_editor_cannot_or_somebody_does_not_want_it(
    make_editor: Make, capabilities: dict[str, Any], options: dict[str, Any]
) -> None:
    editor, uri = await branchy(make_editor, capabilities, options=options)
    assert editor.published(uri)[-1]["diagnostics"] == []
