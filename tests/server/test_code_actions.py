"""Code actions: what an editor is offered for a finding, and when a fix may be among it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.rules.registry import page
from inductor_debug.server.commands.repro_commands import TITLE
from inductor_debug.server.features import code_actions
from inductor_debug_schema import Finding, Position, Range, Related, Severity, UnwantedDtype
from server_harness import PATIENCE, AnalysisState, Editor, finding, turns

Make = Callable[..., Awaitable[Editor]]
ABLE = {
    "textDocument": {
        "publishDiagnostics": {"dataSupport": True},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}},
            "isPreferredSupport": True,
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
MODEL, HELPER = Path("/project/model.py"), Path("/project/helper.py")
TEXT = "import torch\ndef f(x):\n    y = x.double()\n    return y.t() + 1\n"
DOUBLE = "float64 is not supported"


def at(line: int, start: int, end: int, rule: str = "dtype", message: str = DOUBLE, path: Path = MODEL) -> Finding:
    made = finding(path, line, rule, message)
    values = {name: getattr(made, name) for name in made.__slots__}
    facts = UnwantedDtype(["float64"]) if rule == "dtype" else None
    return Finding(**{**values, "range": Range(Position(line, start), Position(line, end)), "facts": facts})


CAST, VIEW = at(2, 8, 18), at(3, 11, 16, "layout", "aten.t gives a tensor that is not contiguous")
CAST_FIXED, VIEW_FIXED = TEXT.replace("double", "float"), TEXT.replace("y.t()", "y.t().contiguous()")


def oracle(text: str) -> list[Finding]:
    """What is found in a text that fixes made of `TEXT`."""
    found = [CAST] if "double" in text else []
    return [*found, VIEW] if "contiguous" not in text else found


def wait_for_proofs(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """So long an answer waits for proofs that run."""
    monkeypatch.setattr(code_actions, "PATIENCE_SECONDS", seconds)
    monkeypatch.setattr(code_actions, "FIX_ALL_PATIENCE_SECONDS", seconds)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs of a fake engine are there at once: an answer has them however busy the machine is."""
    wait_for_proofs(monkeypatch, PATIENCE)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, _patient: None) -> None:
    """For tests that hold proofs up: answers do not wait for them."""
    wait_for_proofs(monkeypatch, 0.02)


async def desk(make_editor: Make, findings: list[Finding], **more: Any) -> tuple[Editor, str]:
    """An editor with `TEXT` open and analysed."""
    editor = await make_editor(more.pop("capabilities", ABLE), more.pop("settings", None))
    await editor.start(options={"accelerator": "mock", **more.pop("options", {})}, **more)
    uri = editor.open(MODEL, TEXT, version=3)
    editor.engine.trial = oracle
    editor.engine.done(uri, findings)
    return editor, uri


async def actions(
    editor: Editor, uri: str, line: int = 2, only: list[str] | None = None, **context: Any
) -> list[dict[str, Any]]:
    published = editor.published(uri)
    shown = list(published[-1]["diagnostics"]) if published else []
    place = {"line": line, "character": 9}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    params = {
        "textDocument": {"uri": uri},
        "range": whole if line < 0 else {"start": place, "end": place},
        "context": {"diagnostics": shown, **({} if only is None else {"only": only}), **context},
    }
    response = await editor.request("textDocument/codeAction", params)
    return [action for action in response["result"] if not action["title"].startswith(TITLE)]


async def test_every_finding_has_an_action_that_makes_a_reproducer(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    place = {"line": 2, "character": 9}
    params = {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}, "context": {"diagnostics": []}}
    response = await editor.request("textDocument/codeAction", params)
    (action,) = [action for action in response["result"] if action["title"].startswith(TITLE)]
    assert "edit" not in action
    assert "kind" not in action
    assert action["command"]["command"] == "inductorDebug.repro"
    (asked,) = action["command"]["arguments"]
    assert asked["uri"] == uri
    assert asked["rule"] == "dtype"
    assert await actions(editor, uri, only=["quickfix"])


def titles(offered: list[dict[str, Any]]) -> list[str]:
    return [action["title"] for action in offered]


def insert(line: int, character: int, text: str) -> dict[str, Any]:
    place = {"line": line, "character": character}
    return {"range": {"start": place, "end": place}, "newText": text}


async def test_a_proved_fix_comes_first_then_the_comment_then_the_page(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW], options={"clientCommands": ["inductorDebug.explainRule"]})
    fix, silence, explain = await actions(editor, uri)
    (diagnostic,) = fix["diagnostics"]
    assert diagnostic["code"] == "dtype"
    assert fix == {
        "title": "Use float32 instead of float64 (verified)",
        "kind": "quickfix",
        "isPreferred": True,
        "diagnostics": [diagnostic],
        "edit": {
            "documentChanges": [
                {
                    "textDocument": {"uri": uri, "version": 3},
                    "edits": [
                        {
                            "range": {"start": {"line": 2, "character": 10}, "end": {"line": 2, "character": 16}},
                            "newText": "float",
                        }
                    ],
                }
            ]
        },
    }
    assert silence["title"] == "Silence dtype here"
    (change,) = silence["edit"]["documentChanges"]
    assert change["edits"] == [insert(2, 18, "  # inductor-debug: ignore[dtype]")]
    assert explain["title"] == "Explain dtype"
    assert explain["command"]["command"] == "inductorDebug.explainRule"
    assert explain["command"]["arguments"] == ["dtype"]
    assert editor.engine.tried == [CAST_FIXED]


TWICE = TEXT.replace("return y.t() + 1", "z = y.double()\n    return z + 1")
SECOND = at(3, 8, 18)
FOLDED = replace(CAST, related=[Related(str(MODEL), SECOND.range, "the same here", again=True)])


def oracle_of_two(text: str) -> list[Finding]:
    """What is found in a text that fixes made of `TWICE`: one finding, at the first of its places."""
    places = [place for line, place in ((2, CAST), (3, SECOND)) if "double" in text.splitlines()[line]]
    return [FOLDED] if len(places) == 2 else places


async def test_what_holds_at_several_places_is_mended_at_all_of_them_or_here(make_editor: Make) -> None:
    editor = await make_editor(ABLE, None)
    await editor.start(options={"accelerator": "mock"})
    uri = editor.open(MODEL, TWICE, version=3)
    editor.engine.trial = oracle_of_two
    editor.engine.done(uri, [FOLDED])
    everywhere, here, *_ = await actions(editor, uri)
    assert everywhere["title"] == "Use float32 instead of float64 here and at 1 more place (verified)"
    assert here["title"] == "Use float32 instead of float64 (verified)"
    lines = [
        [edit["range"]["start"]["line"] for edit in each["edit"]["documentChanges"][0]["edits"]]
        for each in (everywhere, here)
    ]
    assert lines == [[2, 3], [2]]
    (whole,) = await actions(editor, uri, only=[code_actions.FIX_ALL])
    assert [edit["range"]["start"]["line"] for edit in whole["edit"]["documentChanges"][0]["edits"]] == [2, 3]


async def test_what_was_just_typed_is_mended_before_it_is_taken_away(make_editor: Make) -> None:
    cast = replace(CAST, severity=Severity.ERROR)
    editor, uri = await desk(make_editor, [cast])
    editor.engine.trial = lambda text: [cast] if "double" in text else []
    editor.engine.ran[cast.target or ""] = TEXT.replace("    y = x.double()\n", "")
    mended, taken_away, *_ = titles(await actions(editor, uri))
    assert mended == "Use float32 instead of float64 (verified)"
    assert taken_away == "Back to what ran, without this (verified)"
    editor, uri = await desk(make_editor, [cast])
    editor.engine.trial = lambda text: [cast] if "double" in text else []
    editor.engine.ran[cast.target or ""] = TEXT.replace("x.double()", "x.relu()")
    first, second, *_ = titles(await actions(editor, uri))
    assert (first, second) == ("Back to what ran: `x.relu()` (verified)", mended)


async def test_a_fix_that_proves_nothing_is_not_offered(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    editor.engine.trial = lambda text: [at(2, 8, 17)]
    assert titles(await actions(editor, uri)) == ["Silence dtype here", "Explain dtype"]
    editor.engine.trial = oracle
    assert titles(await actions(editor, uri)) == ["Silence dtype here", "Explain dtype"]
    assert editor.engine.tried == [CAST_FIXED], "what is known of a text is not asked again"


async def test_a_fix_that_brings_a_new_finding_is_not_offered(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST])
    assert "Use float32 instead of float64 (verified)" not in titles(await actions(editor, uri))


@pytest.mark.usefixtures("impatient")
async def test_an_answer_does_not_wait_for_a_slow_proof_and_the_next_one_has_it(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    editor.engine.trial_gate = asyncio.Event()
    assert titles(await actions(editor, uri)) == ["Silence dtype here", "Explain dtype"]
    editor.engine.trial_gate.set()
    await turns()
    assert titles(await actions(editor, uri))[0] == "Use float32 instead of float64 (verified)"
    assert editor.engine.tried == [CAST_FIXED]


@pytest.mark.usefixtures("impatient")
async def test_an_edit_ends_the_proofs_of_the_text_before(make_editor: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    editor.engine.trial_gate = asyncio.Event()
    await actions(editor, uri)
    editor.change(uri, 4, {"text": f"{TEXT}# more\n"})
    editor.engine.tell(uri, AnalysisState.QUEUED)
    await turns()
    assert ("trial cancelled", CAST_FIXED) in editor.engine.calls
    editor.engine.trial_gate = None
    wait_for_proofs(monkeypatch, PATIENCE)
    editor.engine.done(uri, [CAST, VIEW])
    offered = await actions(editor, uri)
    assert titles(offered)[0] == "Use float32 instead of float64 (verified)"
    assert offered[0]["edit"]["documentChanges"][0]["textDocument"]["version"] == 4


@pytest.mark.usefixtures("impatient")
async def test_closing_a_document_ends_its_proofs(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    editor.engine.trial_gate = asyncio.Event()
    await actions(editor, uri)
    editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    await turns()
    assert ("trial cancelled", CAST_FIXED) in editor.engine.calls
    assert await actions(editor, uri) == []


async def test_a_save_of_the_same_text_keeps_what_is_known(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    await actions(editor, uri)
    editor.engine.done(uri, [CAST, VIEW])
    assert titles(await actions(editor, uri))[0] == "Use float32 instead of float64 (verified)"
    assert editor.engine.tried == [CAST_FIXED]


async def test_other_findings_of_the_same_text_ask_for_new_proofs(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST])
    await actions(editor, uri)
    editor.engine.done(uri, [CAST, VIEW])
    assert titles(await actions(editor, uri))[0] == "Use float32 instead of float64 (verified)"


async def test_a_trial_of_which_nobody_can_tell_is_made_again_for_who_asks_again(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    editor.engine.trial = lambda text: None
    assert len(await actions(editor, uri)) == 2
    editor.engine.trial = oracle
    assert titles(await actions(editor, uri))[0] == "Use float32 instead of float64 (verified)"


@pytest.mark.usefixtures("impatient")
async def test_while_an_analysis_runs_comments_are_offered_and_nothing_is_tried(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    editor.change(uri, 4, {"text": TEXT})
    editor.engine.tell(uri, AnalysisState.RUNNING)
    assert titles(await actions(editor, uri)) == ["Silence dtype here", "Explain dtype"]
    assert editor.engine.tried == []


async def test_findings_of_an_older_text_get_no_edits(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    editor.change(uri, 4, {"text": f"\n{TEXT}"})
    assert await actions(editor, uri) == []


async def test_where_the_user_wants_to_be_asked_only_the_user_starts_a_trial(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW], options={"trigger": "manual"})
    assert len(await actions(editor, uri, triggerKind=2)) == 2
    assert editor.engine.tried == []
    assert len(await actions(editor, uri, triggerKind=1)) == 3
    assert len(await actions(editor, uri, triggerKind=2)) == 3


async def test_a_client_without_versions_gets_plain_changes(make_editor: Make) -> None:
    capabilities = {"textDocument": ABLE["textDocument"]}
    editor, uri = await desk(make_editor, [CAST, VIEW], capabilities=capabilities)
    fix, *_ = await actions(editor, uri)
    assert list(fix["edit"]) == ["changes"]
    assert [edit["newText"] for edit in fix["edit"]["changes"][uri]] == ["float"]


async def test_a_client_that_knows_commands_only_gets_commands(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW], capabilities={})
    (command,) = await actions(editor, uri)
    assert command == {
        "title": "Explain dtype",
        "command": "inductorDebug.explain",
        "arguments": [{"rule": "dtype", "show": True}],
    }
    response = await editor.request("workspace/executeCommand", command | {"title": None})
    assert response["result"] == {"rule": "dtype", "markdown": page("dtype")}
    (message,) = editor.messages.of("window/showMessage")
    assert message == {"type": 3, "message": page("dtype")}


@pytest.mark.parametrize("arguments", [[], ["dtyp"], [{"rule": 3}], [None]])
async def test_a_rule_that_is_none_is_refused(make_editor: Make, arguments: list[Any]) -> None:
    editor, _ = await desk(make_editor, [])
    request = {"command": "inductorDebug.explain", "arguments": arguments}
    response = await editor.request("workspace/executeCommand", request)
    assert response["error"]["code"] == -32602


async def test_an_unused_comment_can_be_removed(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [])
    text = TEXT.replace("double()", "float()  # inductor-debug: ignore[dtype]")
    editor.change(uri, 4, {"text": text})
    message = "This comment silences nothing: there is no finding of `dtype` on this line."
    editor.engine.done(uri, [at(2, 19, 50, "unused-ignore", message)])
    remove, explain = await actions(editor, uri, line=-1)
    assert titles([remove, explain]) == ["Remove what silences nothing", "Explain unused-ignore"]
    (change,) = remove["edit"]["documentChanges"]
    assert [edit["newText"] for edit in change["edits"]] == [""]


async def test_findings_of_one_line_share_a_comment_and_a_page(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [at(2, 4, 18, "graph-break"), at(2, 8, 18, "graph-break", "other")])
    silence, explain = await actions(editor, uri, line=-1)
    assert len(silence["diagnostics"]) == len(explain["diagnostics"]) == 2


async def test_only_what_is_asked_for_is_offered(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    assert await actions(editor, uri, only=["refactor"]) == []
    assert len(await actions(editor, uri, only=["quickfix"])) == 3
    assert len(await actions(editor, uri, line=0)) == 0
    assert editor.engine.tried == [CAST_FIXED]


async def test_what_another_document_finds_here_can_be_silenced_where_the_client_shows_it(make_editor: Make) -> None:
    editor, _ = await desk(make_editor, [CAST, at(1, 0, 9, path=HELPER)])
    helper = editor.open(HELPER, TEXT)
    editor.engine.done(helper, [])
    assert titles(await actions(editor, helper, line=1)) == ["Silence dtype here", "Explain dtype"]
    editor.change(helper, 2, {"text": f"\n{TEXT}"})
    params = {
        "textDocument": {"uri": helper},
        "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}},
        "context": {"diagnostics": []},
    }
    assert (await editor.request("textDocument/codeAction", params))["result"] == []


async def test_all_fixes_at_once_are_proved_as_a_whole(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    (every,) = await actions(editor, uri, only=["source.fixAll.inductorDebug"])
    assert (every["title"], every["kind"]) == ("Apply all fixes (verified)", "source.fixAll.inductorDebug")
    (change,) = every["edit"]["documentChanges"]
    assert [edit["newText"] for edit in change["edits"]] == ["float", ".contiguous()"]
    both = VIEW_FIXED.replace("double", "float")
    assert editor.engine.tried == [CAST_FIXED, VIEW_FIXED, both]


async def test_fixes_that_fail_together_are_not_offered_together(make_editor: Make) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    both = VIEW_FIXED.replace("double", "float")
    editor.engine.trial = lambda text: [at(0, 0, 5)] if text == both else oracle(text)
    assert await actions(editor, uri, only=["source.fixAll.inductorDebug"]) == []


@pytest.mark.parametrize("kind", ["source.fixAll", "source"])
async def test_what_changes_numbers_is_not_applied_by_a_save(make_editor: Make, kind: str) -> None:
    editor, uri = await desk(make_editor, [CAST, VIEW])
    (every,) = await actions(editor, uri, only=[kind])
    (change,) = every["edit"]["documentChanges"]
    assert [edit["newText"] for edit in change["edits"]] == [".contiguous()"]


async def test_the_kinds_are_announced(make_editor: Make) -> None:
    editor = await make_editor(ABLE)
    result = await editor.start()
    assert result["capabilities"]["codeActionProvider"] == {
        "codeActionKinds": ["quickfix", "refactor.rewrite", "source.fixAll.inductorDebug"]
    }
