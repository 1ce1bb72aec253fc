"""Hovers, inlay hints and code lenses, as any editor gets them: at once, from what is known already."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.results.known_expressions import KnownExpression
from inductor_debug.rules.words.cost_words import lines_of_cost
from inductor_debug.server.features.code_lenses import target_title
from inductor_debug.server.features.expression_text import short_dtype
from inductor_debug.server.state.text_outline import outline_of
from inductor_debug_schema import (
    BreakCause,
    Checked,
    ClassCost,
    CostBound,
    DeviceLayout,
    ExpressionFact,
    FileReport,
    FileStatus,
    Finding,
    GraphBreak,
    Inferred,
    Position,
    Range,
    Roof,
    RunCost,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
    TensorFact,
)
from server_harness import Editor, Process, finding, turns

Make = Callable[..., Awaitable[Editor]]

SHOWS = {
    "textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}},
    "workspace": {"inlayHint": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}},
}
MARKED = """\
class Model(nn.Module):
    def forward(self, x):
        '😀'; y = «self.linear(«x.double()»)»
        self.kept, z = «y.chunk(2)»
        y += 1
        w = «f(y)» if z else «g(y)»
        parts = «list(map(f, y))»
        layer = «nn.Linear(8, 8)»
        return «y.float()»
"""
"""A text whose expressions with facts are between marks."""


def unmarked(text: str) -> tuple[str, list[tuple[str, Range]]]:
    """The text without marks, and each marked expression with its place, the inner ones first."""
    found: list[tuple[str, Range]] = []
    lines = []
    for number, line in enumerate(text.split("\n")):
        plain, opened = "", []
        for character in line:
            if character == "«":
                opened.append(len(plain))
            elif character == "»":
                start = opened.pop()
                units = [len(plain[:index].encode("utf-16-le")) // 2 for index in (start, len(plain))]
                found.append((plain[start:], Range(Position(number, units[0]), Position(number, units[1]))))
            else:
                plain += character
        lines.append(plain)
    return "\n".join(lines), found


def tensor(*shape: int | str, dtype: str = "float32", layout: DeviceLayout | None = None) -> TensorFact:
    return TensorFact(list(shape), [64, 1], dtype, 2048, layout)


def known(span: Range, *outputs: TensorFact, stale: bool = False, **more: Any) -> KnownExpression:
    values: dict[str, Any] = {
        "exact": True,
        "ops": {"aten.t.default": 1, "aten.addmm.default": 2},
        "op_count": 4,
        **more,
    }
    return KnownExpression(ExpressionFact("/model.py", span, list(outputs), **values), Stage.MOCK, ("Model",), stale)


TEXT, PLACES = unmarked(MARKED)
SPANS = dict(PLACES)
FACTS = {
    "x.double()": known(SPANS["x.double()"], tensor("s0", 64, dtype="float64"), stale=True),
    "self.linear(x.double())": known(
        SPANS["self.linear(x.double())"],
        tensor(8, 64, dtype="bfloat16", layout=DeviceLayout([1, 8, 64], [64, 64, 1], 1024, 256, 1)),
        modules=["blocks.0", "blocks.1", "blocks.2", "blocks.3"],
        module_count=12,
        runs=12,
        variants=[[tensor(8, 64)], [tensor(8, 32)], [tensor(8, 16)]],
        cost=CostBound(4, 3 << 20, 1 << 20, 1 << 20, 34_359_738_368, 38e-6, 52e-6, Roof.COMPUTE, 0.12),
    ),
    "y.chunk(2)": known(SPANS["y.chunk(2)"], tensor(8, 32), tensor(8, 31)),
    "f(y)": known(SPANS["f(y)"], tensor(8)),
    "g(y)": known(SPANS["g(y)"], tensor(8, dtype="bool")),
    "list(map(f, y))": known(SPANS["list(map(f, y))"], tensor(8)),
    "nn.Linear(8, 8)": known(SPANS["nn.Linear(8, 8)"], tensor(8)),
    "y.float()": known(SPANS["y.float()"], tensor()),
}


async def opened(make_editor: Make, tmp_path: Path, *, facts: bool = True, **options: Any) -> tuple[Editor, str]:
    editor = await make_editor(options.pop("capabilities", SHOWS))
    await editor.start(options={"accelerator": "mock", **options})
    uri = editor.open(tmp_path / "model.py", TEXT)
    if facts:
        editor.engine.known[uri] = list(FACTS.values())
    return editor, uri


async def hover(editor: Editor, uri: str, line: int, character: int) -> dict[str, Any] | None:
    place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
    response = await editor.request("textDocument/hover", place)
    return response["result"]  # type: ignore[no-any-return]


async def hints(editor: Editor, uri: str, first: int = 0, last: int = 10_000) -> list[tuple[int, int, str]]:
    """The hints of some lines as (line, character, label)."""
    asked = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
    response = await editor.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": asked})
    return [(hint["position"]["line"], hint["position"]["character"], hint["label"]) for hint in response["result"]]


async def lenses(editor: Editor, uri: str) -> list[tuple[int, str, str]]:
    """The lenses as (line, title, command)."""
    response = await editor.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    return [
        (lens["range"]["start"]["line"], lens["command"]["title"], lens["command"]["command"])
        for lens in response["result"]
    ]


# Hovers.


async def test_a_hover_tells_of_the_smallest_expression_around_the_cursor(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)
    inner = SPANS["x.double()"].start
    found = await hover(editor, uri, inner.line, inner.character)
    assert found is not None
    assert found["contents"]["value"].splitlines()[0] == "**`f64[s0, 64]`** · strides `[64, 1]` · 2 KiB  "
    assert "before the text was edited" in found["contents"]["value"]
    assert "`s0` stands for a size that may differ from call to call" in found["contents"]["value"]
    assert found["range"]["start"] == {"line": inner.line, "character": inner.character}
    outer = SPANS["self.linear(x.double())"].start
    found = await hover(editor, uri, outer.line, outer.character)
    assert found is not None
    assert [line.rstrip() for line in found["contents"]["value"].splitlines()] == [
        "**`bf16[8, 64]`** · strides `[64, 1]` · 2 KiB",
        "on mock: `[1, 8, 64]` · strides `[64, 64, 1]` · 1 KiB, 256 B padding",
        "4 ops: `aten.t`, `aten.addmm` ×2, …",
        "in `blocks.0`, `blocks.1`, `blocks.2` and 9 more",
        "ran 12 times (capture), with `f32[8, 64]`, `f32[8, 32]`, `f32[8, 16]`",
        "at least 38 µs on mock (compute), 12 % of the run; 52 µs unfused",
        "reads 3 MiB, writes 1 MiB · 34.36 GFLOP · 8,192 FLOP a byte",
    ]


async def test_a_hover_on_an_assigned_name_tells_of_its_value(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)
    found = await hover(editor, uri, 3, 12)
    assert found is not None
    assert found["contents"]["value"].startswith("**`f32[8, 32]`**")
    assert await hover(editor, uri, 0, 8) is None
    assert await hover(editor, "file:///never/opened.py", 0, 0) is None


async def test_a_hover_names_the_findings_there_and_leads_to_their_pages(make_editor: Make, tmp_path: Path) -> None:
    place = SPANS["y.float()"]
    bad = Finding("dtype", Severity.WARNING, "f_l_o_a_t64 `a_b`\nmore", str(tmp_path / "model.py"), place, Stage.MOCK)
    for commands, capabilities, wanted in (
        (["inductorDebug.explainRule"], SHOWS, "[What is this?](command:inductorDebug.explainRule?%5B%22dtype%22%5D)"),
        ([], SHOWS, "**`dtype`** warning: f\\_l\\_o\\_a\\_t64 `a_b` (`inductor-debug explain dtype`)"),
        ([], {}, "dtype warning: f_l_o_a_t64 `a_b` (inductor-debug explain dtype)"),
    ):
        editor, uri = await opened(make_editor, tmp_path, clientCommands=commands, capabilities=capabilities)
        editor.engine.done(uri, [bad])
        found = await hover(editor, uri, place.start.line, place.start.character)
        assert found is not None
        assert wanted in found["contents"]["value"]
        assert found["contents"]["kind"] == ("markdown" if capabilities else "plaintext")


async def test_what_torch_says_of_a_graph_break_is_in_the_hover_with_links_to_issues(
    make_editor: Make, tmp_path: Path
) -> None:
    facts = GraphBreak(
        BreakCause.PRINT,
        "print(y)",
        registry_id="GB0059",
        torch_kind="Failed to trace builtin operator",
        explanation="It cannot, see pytorch/pytorch#12345.",
        hints=["Leave it out."],
    )
    at = Range(Position(0, 0), Position(0, 3))  # nothing else is known of this place
    bad = Finding(
        "graph-break", Severity.WARNING, "`print(y)` prints.", str(tmp_path / "model.py"), at, Stage.MOCK, facts=facts
    )
    for capabilities, issue in (
        (SHOWS, "[pytorch/pytorch\\#12345](https://github.com/pytorch/pytorch/issues/12345)"),
        ({}, "pytorch/pytorch#12345"),
    ):
        editor, uri = await opened(make_editor, tmp_path, capabilities=capabilities)
        editor.engine.done(uri, [bad])
        found = await hover(editor, uri, 0, 1)
        assert found is not None
        assert [line.rstrip() for line in found["contents"]["value"].splitlines()] == [
            f"torch: Failed to trace builtin operator (GB0059). It cannot, see {issue}.",
            "Leave it out.",
        ]


async def test_what_is_not_sure_and_what_gives_nothing_is_said_so(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)
    place = SPANS["f(y)"]
    for fact, wanted in (
        (known(place, tensor(8), exact=False), "The last op under it gave"),
        (known(place), "Gives no tensor."),
        (known(place, *[tensor(8)] * 5), "and 2 more tensors"),
    ):
        editor.engine.known[uri] = [fact]
        found = await hover(editor, uri, place.start.line, place.start.character)
        assert found is not None
        assert wanted in found["contents"]["value"]


# Inlay hints.


async def test_hints_stand_at_assigned_names_and_returned_values(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)
    assert await hints(editor, uri) == [
        (2, 15, ": f32[8, 64] | f32[8, 32] | …"),
        (3, 17, ": f32[8, 32]"),
        (3, 20, ": f32[8, 31]"),
        (5, 9, ": f32[8] | bool[8]"),
        (8, 24, "-> f32[]"),
    ]
    assert [hint[0] for hint in await hints(editor, uri, 3, 6)] == [3, 3, 5]


async def test_only_what_is_sure_is_hinted_at(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)
    place = SPANS["y.chunk(2)"]
    for fact in (known(place, tensor(8), exact=False), known(place), known(place, tensor(8))):
        editor.engine.known[uri] = [fact]
        assert await hints(editor, uri) == []


async def test_an_augmented_assignment_is_known_by_its_statement(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)
    editor.engine.known[uri] = [known(Range(Position(4, 8), Position(4, 14)), tensor(8))]
    assert await hints(editor, uri) == [(4, 9, ": f32[8]")]


async def test_a_text_that_does_not_parse_has_no_hints_and_fails_nothing(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)
    editor.change(uri, 2, {"text": TEXT + "def f(:\n"})
    assert await hints(editor, uri) == []
    assert await hover(editor, uri, 3, 12) is None
    assert await lenses(editor, uri) == []


async def test_no_number_of_hints_and_lenses_makes_a_message_too_long(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path, clientCommands=["inductorDebug.setExampleInputs"])
    lines = 5000
    classes = "".join(f"class C{number}(Module): pass\n" for number in range(1000))
    editor.change(uri, 2, {"text": "a = f(x)\n" * lines + classes})
    wide = tensor(*[f"s{number}*64" for number in range(8)])
    editor.engine.known[uri] = [known(Range(Position(n, 4), Position(n, 8)), wide) for n in range(lines)]
    editor.engine.done(uri, [])
    assert 100 < len(await hints(editor, uri)) < lines
    assert [hint[0] for hint in await hints(editor, uri, 4000, 4010)][:2] == [4000, 4001]
    assert len(await lenses(editor, uri)) == 200  # the harness checks every message's size


# Code lenses.


def stage(name: Stage, state: StageState = StageState.DONE, **more: Any) -> StageReport:
    return StageReport(name, state, 0.114, **more)


def update_of(
    *stages: StageReport,
    state: AnalysisState = AnalysisState.DONE,
    status: FileStatus = FileStatus.CLEAN,
    findings: list[Finding] | None = None,
    inferred: Inferred | None = None,
    running: Stage | None = None,
) -> AnalysisUpdate:
    seen = any(report.state is StageState.DONE for report in stages)
    why = inferred.reason if inferred is not None else ""
    targets = [TargetReport("Model", 0, list(stages), inferred, Checked.YES if seen else Checked.NO, why)]
    report = FileReport("/model.py", status, targets, findings or [])
    return AnalysisUpdate("file:///model.py", "/model.py", 1, 1, state, running, report, 0.5, "opened")


def partly(update: AnalysisUpdate, why: str) -> AnalysisUpdate:
    """The same of a target whose look ended early."""
    update.report.targets[0] = replace(update.report.targets[0], checked=Checked.PARTLY, why=why)
    return update


PREVIEW = stage(Stage.PREVIEW, ops=46)
MOCK = stage(Stage.MOCK, ops=46, graphs=2, graph_breaks=1)
BAD = finding("/model.py")
RAISED = finding("/model.py", rule="capture-error", message="ValueError: no\nmore", severity=Severity.ERROR)
CRASH = finding("/model.py", rule="crash", message="killed by SIGSEGV", severity=Severity.ERROR, target="", op=None)


@pytest.mark.parametrize(
    ("update", "title"),
    [
        (update_of(PREVIEW, MOCK, findings=[BAD] * 3), "capture: 3 findings · 46 ops · 1 graph break · 0.11 s"),
        (update_of(PREVIEW), "run: no findings · 46 ops · 0.11 s"),
        (update_of(state=AnalysisState.QUEUED), "queued"),
        (update_of(state=AnalysisState.RUNNING, running=Stage.PREVIEW), "analysing… run"),
        (
            update_of(PREVIEW, state=AnalysisState.RUNNING, running=Stage.MOCK, findings=[BAD]),
            "analysing… capture · run: 1 finding · 46 ops · 0.11 s",
        ),
        (update_of(PREVIEW, state=AnalysisState.STALE), "not up to date · run: no findings · 46 ops · 0.11 s"),
        (update_of(PREVIEW, state=AnalysisState.CANCELLED), "cancelled · run: no findings · 46 ops · 0.11 s"),
        (
            update_of(stage(Stage.PREVIEW, StageState.FAILED), findings=[BAD, RAISED]),
            "failed: ValueError: no",
        ),
        (
            update_of(PREVIEW, state=AnalysisState.FAILED, status=FileStatus.CRASHED, findings=[CRASH]),
            "failed: killed by SIGSEGV",
        ),
        (
            update_of(
                stage(Stage.PREVIEW, StageState.SKIPPED),
                state=AnalysisState.RUNNING,
                running=Stage.MOCK,
                inferred=Inferred(reason="its width is not known"),
            ),
            "analysing… capture · not checked: its width is not known",
        ),
        (
            partly(update_of(PREVIEW), "its capture ended early"),
            "run: no findings · 46 ops · 0.11 s · partly checked: its capture ended early",
        ),
        (
            update_of(PREVIEW, inferred=Inferred(signature="x f32[s0, 64]")),
            "run: no findings · 46 ops · 0.11 s · inputs inferred: x f32[s0, 64]",
        ),
        (
            update_of(inferred=Inferred(reason="its width is not known")),
            "not checked: its width is not known",
        ),
    ],
)
def test_a_target_s_lens_says_how_its_analysis_went(update: AnalysisUpdate, title: str) -> None:
    assert target_title(update.report.targets[0], update) == title


async def test_lenses_follow_their_classes_and_invite_the_others(make_editor: Make, tmp_path: Path) -> None:
    text = "import x\n\n\nclass Base(nn.Module): pass\nclass Model(Base): pass\nclass Other: pass\n"
    for commands, invited in ((["inductorDebug.setExampleInputs"], [3]), ([], [])):
        editor, uri = await opened(make_editor, tmp_path, clientCommands=commands)
        assert await lenses(editor, uri) == []
        editor.change(uri, 2, {"text": text})
        editor.engine.tell(uri, AnalysisState.RUNNING, [], stage=Stage.PREVIEW)
        assert await lenses(editor, uri) == []
        editor.engine.done(uri, [])
        shown = await lenses(editor, uri)
        assert [line for line, title, _ in shown if title == "set example inputs"] == invited
        assert [(line, command) for line, title, command in shown if title.startswith("capture:")] == [
            (4, "inductorDebug.check")
        ]


@pytest.mark.parametrize(
    ("inferred", "offered"),
    [(None, True), (Inferred(signature="x f32[4]"), True), (Inferred(reason="who knows"), False)],
)
async def test_graphs_and_comparisons_are_offered_of_what_can_run(
    make_editor: Make, tmp_path: Path, inferred: Inferred | None, offered: bool
) -> None:
    commands = ["inductorDebug.showGraph", "inductorDebug.compare"]
    editor, uri = await opened(make_editor, tmp_path, clientCommands=commands)
    editor.engine.updates[uri] = update_of(inferred=inferred)
    assert [command in {of for *_, of in await lenses(editor, uri)} for command in commands] == [offered, offered]


@pytest.mark.parametrize(
    ("cost", "lines"),
    [
        (CostBound(1, 1024, 1024, 0, 0, 0.0, 7.5e-6, None, 0.0), ["costs nothing if fused; 7.5 µs unfused"]),
        (
            CostBound(2, 1024, 1024, 64, 0, 2e-9, 7.5e-6, Roof.MEMORY, 0.001, uncounted=2),
            ["at least 2 ns on h100 (memory), less than 1 % of the run; 7.5 µs unfused"],
        ),
        (CostBound(1, 1024, 1024, 0, 0), []),
    ],
)
def test_a_cost_in_words(cost: CostBound, lines: list[str]) -> None:
    told = lines_of_cost(cost, "h100")
    assert told[:-1] == lines
    assert told[-1] == "reads 1 KiB, writes 1 KiB" + (" · 2 ops may cost more" if cost.uncounted else "")


async def test_lenses_tell_the_bound_of_a_target_and_the_part_of_its_classes(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path, clientCommands=["inductorDebug.showGraph"])
    editor.change(
        uri, 2, {"text": "class Block(nn.Module): pass\nclass Idle(nn.Module): pass\nclass Model(nn.Module): pass\n"}
    )
    total = CostBound(9, 1 << 20, 1 << 20, 1 << 20, 1 << 30, 40e-6, 60e-6, Roof.MEMORY, 1.0)
    part = replace(total, seconds=15e-6, share=0.375, limited_by=Roof.COMPUTE)
    classes = [ClassCost("/model.py", "Model", total), ClassCost("/model.py", "Block", part)]
    run = RunCost("h100", total, {"memory": 25e-6, "compute": 15e-6}, 1 << 30, classes, backward=False)
    editor.engine.updates[uri] = update_of(stage(Stage.PREVIEW, cost=run), stage(Stage.MOCK))
    shown = await lenses(editor, uri)
    assert (0, "38 % of the bound of Model's forward pass: 15 µs on h100, compute", "inductorDebug.showGraph") in shown
    assert (2, "forward pass: at least 40 µs on h100 (62 % memory)", "inductorDebug.showGraph") in shown
    assert not [title for line, title, _ in shown if line == 1 and "bound" in title]


def of_seconds(seconds: float, peak: int = 1 << 30) -> RunCost:
    return RunCost("h100", CostBound(9, 1, 1, 1, 0, seconds, seconds, Roof.MEMORY, 1.0), {"memory": seconds}, peak)


async def test_a_lens_tells_by_how_much_a_bound_has_changed_since_the_last_save(
    make_editor: Make, tmp_path: Path
) -> None:
    editor, uri = await opened(make_editor, tmp_path)

    async def title(version: int, run: RunCost) -> str:
        editor.engine.updates[uri] = update = replace(update_of(stage(Stage.MOCK, cost=run)), uri=uri, version=version)
        editor.server.hear(update)
        return next(title for _, title, _ in await lenses(editor, uri) if "at least" in title)

    assert await title(1, of_seconds(50e-6)) == "at least 50 µs on h100 (100 % memory)"
    editor.change(uri, 2, {"text": TEXT + "y = 2\n"})
    assert (await title(2, of_seconds(56e-6, 3 << 29))).endswith(", +12 %, peak +50 % since the last save")
    assert (await title(2, of_seconds(50.1e-6))) == "at least 50.1 µs on h100 (100 % memory)"
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    assert (await title(2, of_seconds(50.1e-6))) == "at least 50.1 µs on h100 (100 % memory)"
    editor.change(uri, 3, {"text": TEXT})
    assert (await title(3, of_seconds(25.05e-6))).endswith(", -50 % since the last save")


async def test_a_file_that_fails_as_a_whole_says_so_over_its_first_module(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)
    report = FileReport(str(tmp_path / "model.py"), FileStatus.CRASHED, [], [CRASH])
    editor.engine.updates[uri] = AnalysisUpdate(uri, "", 1, 1, AnalysisState.FAILED, None, report, 1.0, "opened")
    assert await lenses(editor, uri) == [(0, "failed: killed by SIGSEGV", "inductorDebug.check")]


# All of them.


@pytest.mark.parametrize("said", [False, {"enabled": False}])
async def test_each_can_be_switched_off(make_editor: Make, tmp_path: Path, said: object) -> None:
    editor, uri = await opened(make_editor, tmp_path, inlayHints=said, hover=said, codeLens=said)
    editor.engine.done(uri, [])
    assert await hints(editor, uri) == []
    assert await hover(editor, uri, 3, 12) is None
    assert await lenses(editor, uri) == []
    for on in (True, {"enabled": True}, "nonsense"):
        settings = {"inlayHints": on, "hover": on, "codeLens": on}
        editor.notify("workspace/didChangeConfiguration", {"settings": {"inductorDebug": settings}})
        assert await hints(editor, uri) != []
        assert await lenses(editor, uri) != []


async def test_a_client_is_asked_to_ask_again_when_more_is_known(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path)

    async def refreshed(kind: str, after: int) -> None:
        await editor.messages.first(lambda message: message.get("method") == f"workspace/{kind}/refresh", after)

    for change in (
        lambda: editor.engine.done(uri, []),
        lambda: editor.notify("workspace/didChangeConfiguration", {"settings": {"inlayHints": False}}),
    ):
        before = len(editor.messages.all)
        change()
        await refreshed("inlayHint", before)
        await refreshed("codeLens", before)


async def test_a_client_that_cannot_refresh_is_not_asked(make_editor: Make, tmp_path: Path) -> None:
    editor, uri = await opened(make_editor, tmp_path, capabilities={})
    editor.engine.done(uri, [])
    await asyncio.sleep(0)
    await turns()
    assert [message for message in editor.messages.all if "refresh" in message.get("method", "")] == []


def test_dtypes_are_written_for_people() -> None:
    names = ["float32", "bfloat16", "int64", "uint8", "bool", "complex64", "float8_e4m3fn", "quint8"]
    assert [short_dtype(name) for name in names] == ["f32", "bf16", "i64", "u8", "bool", "c64", "f8_e4m3fn", "quint8"]


def test_the_outline_finds_modules_by_their_bases() -> None:
    text = "if a:\n  class A(torch.nn.Module): pass\nclass B(A[int]): pass\nclass C(Dataset): pass\ndef f(): pass\n"
    outline = outline_of(text)
    assert outline is not None
    assert [(module.name, module.line) for module in outline.modules] == [("A", 1), ("B", 2)]
    assert (outline.line_of("f"), outline.line_of("g")) == (4, None)
    assert outline_of("def f(:") is None
    assert outline_of("x = 1\n" * 100_000) is None


MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(8, 64),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 32)

    def forward(self, x):
        y = self.linear(x)
        low, high = y.chunk(2, dim=-1)
        return low * high
"""


@pytest.mark.torch
async def test_a_real_model_shows_its_shapes_to_any_editor(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.inductor-debug]\naccelerator = "mock"\n', encoding="utf-8")
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    uri = path.as_uri()
    client = await serve()
    offered = (await client.initialize(capabilities=SHOWS))["capabilities"]
    assert offered["hoverProvider"] is True
    assert {"inlayHintProvider", "codeLensProvider"} <= set(offered)
    item = {"uri": uri, "languageId": "python", "version": 1, "text": MODEL}
    client.notify("textDocument/didOpen", {"textDocument": item})
    await client.messages.first(
        lambda message: message.get("method") == "inductorDebug/analysis" and message["params"]["state"] == "done"
    )
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    shown = await client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": everything})
    assert [(hint["position"]["line"], hint["label"]) for hint in shown["result"]] == [
        (11, ": f32[8, 32]"),
        (12, ": f32[8, 16]"),
        (12, ": f32[8, 16]"),
        (13, "-> f32[8, 16]"),
    ]
    place = {"textDocument": {"uri": uri}, "position": {"line": 11, "character": 15}}
    found = (await client.request("textDocument/hover", place))["result"]
    assert "in `linear`" in found["contents"]["value"]
    (lens,) = (await client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}))["result"]
    assert lens["range"]["start"]["line"] == 5
    assert lens["command"]["title"].startswith("capture: 1 finding · 4 ops · ")
