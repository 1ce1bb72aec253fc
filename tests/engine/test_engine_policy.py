"""What becomes of findings: comments, severities, fingerprints, order, and doubles of stages and targets."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from desk import Desk, body, brief
from fakes import findings_of
from inductor_debug.engine.results.merge import CarriedFindings, Results, unite, withheld
from inductor_debug.engine.results.policy import apply_policy
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.text.source_facts import PolicySource, source_of
from inductor_debug_schema import (
    Checked,
    FileReport,
    FileStatus,
    Finding,
    Finished,
    Loaded,
    MemoryOverrun,
    Position,
    Range,
    Related,
    Severity,
    Stage,
    StageFinished,
    StageReport,
    StageState,
    TargetFound,
    TargetReport,
    UnknownName,
)

PATH = "/project/model.py"


def shown(
    text: str, findings: list[Finding] | None = None, *, complete: bool = True, **settings: object
) -> list[Finding]:
    def source_for(path: str) -> PolicySource | None:
        return source_of(text) if path == PATH else None

    if findings is None:
        findings = findings_of(PATH, text, Stage.PREVIEW)
    chosen = Settings("/project", **{"profile": {"name": "mock"}, **settings})  # type: ignore[arg-type]
    return apply_policy(findings, path=PATH, settings=chosen, source_for=source_for, complete=complete)


COMMENTS = [
    pytest.param("x = BAD  # inductor-debug: ignore[dtype]\n", [], id="named"),
    pytest.param("x = BAD  # inductor-debug: ignore\n", [], id="bare"),
    pytest.param(
        "x = BAD  # inductor-debug: ignore[layout, dtype]\n", ["unused-ignore 0:9-48"], id="one of two is idle"
    ),
    pytest.param(
        "x = BAD  # inductor-debug: ignore[layout]\n", ["dtype 0:4-7", "unused-ignore 0:9-41"], id="another rule"
    ),
    pytest.param("x = 1  # inductor-debug: ignore\n", ["unused-ignore 0:7-31"], id="unused"),
    pytest.param("x = '# inductor-debug: ignore'; BAD\n", ["dtype 0:32-35"], id="in a string"),
    pytest.param("x = f(  # inductor-debug: ignore[dtype]\n    BAD,\n)\n", [], id="first line of the statement"),
    pytest.param("x = f(\n    BAD,  # inductor-debug: ignore[dtype]\n)\n", [], id="its own line"),
    pytest.param(
        "x = f(\n    1,  # inductor-debug: ignore[dtype]\n    BAD,\n)\n",
        ["unused-ignore 1:8-39", "dtype 2:4-7"],
        id="another line",
    ),
    pytest.param("x = '😀'; BAD; y = '#' # note # inductor-debug: ignore[dtype]\n", [], id="after another comment"),
]


@pytest.mark.parametrize(("text", "expected"), COMMENTS)
def test_comments_silence_findings_and_unused_ones_are_told(text: str, expected: list[str]) -> None:
    assert brief(shown(text)) == expected


def test_a_comment_about_an_accelerator_is_not_called_unused_where_none_was_chosen() -> None:
    text = "x = 1  # inductor-debug: ignore[layout]\ny = 1  # inductor-debug: ignore[float64]\n"
    assert brief(shown(text, profile={"name": "none"})) == ["unused-ignore 1:7-40"]


def test_a_comment_on_the_last_line_of_an_expression_silences_it() -> None:
    text = "x = f(\n    1,\n).double()  # inductor-debug: ignore[dtype]\n"
    finding = Finding("dtype", Severity.WARNING, "m", PATH, Range(Position(0, 4), Position(2, 10)), Stage.MOCK)
    assert shown(text, [finding]) == []


def test_a_comment_is_not_called_unused_before_all_has_been_seen() -> None:
    text = "x = 1  # inductor-debug: ignore[graph-break]\n"
    assert shown(text, complete=False) == []
    assert shown(text, stages=(Stage.PREVIEW,)) == []
    assert [finding.severity for finding in shown(text)] == [Severity.HINT]
    assert shown(text, severity={"unused-ignore": None}) == []


def finding(rule: str, severity: Severity = Severity.WARNING, column: int = 0, **more: object) -> Finding:
    span = Range(Position(0, column), Position(0, column + 1))
    values = {"message": f"{rule}!", "path": PATH, "range": span, "stage": Stage.PREVIEW, "target": "Model", **more}
    return Finding(rule=rule, severity=severity, **values)  # type: ignore[arg-type]


SEVERITIES = [
    pytest.param({}, finding("dtype"), "warning", id="as given"),
    pytest.param({"strict": True}, finding("dtype"), "error", id="strict raises constraints"),
    pytest.param({"strict": True}, finding("graph-break"), "warning", id="strict leaves the run's rules"),
    pytest.param(
        {"strict": True}, finding("dtype", Severity.INFORMATION), "information", id="strict leaves information"
    ),
    pytest.param(
        {"strict": True, "severity": {"dtype": Severity.HINT}}, finding("dtype"), "hint", id="a rule's own holds"
    ),
    pytest.param({"severity": {"crash": Severity.WARNING}}, finding("crash", Severity.ERROR), "warning", id="lowered"),
]


@pytest.mark.parametrize(("settings", "given", "expected"), SEVERITIES)
def test_severity_is_what_the_settings_say(settings: dict[str, object], given: Finding, expected: str) -> None:
    assert [item.severity.value for item in shown("x\n", [given], **settings)] == [expected]


def test_a_rule_that_is_off_is_not_shown() -> None:
    assert shown("x\n", [finding("dtype")], severity={"dtype": None}) == []


def test_findings_are_in_order_of_path_position_and_severity() -> None:
    far = finding("dtype", column=3)
    mild, grave = finding("layout", Severity.HINT), finding("rank", Severity.ERROR)
    other = dataclasses.replace(finding("dtype"), path="/project/a.py")
    assert [(item.path, item.rule) for item in shown("x\n", [far, mild, grave, other])] == [
        ("/project/a.py", "dtype"),
        (PATH, "rank"),
        (PATH, "layout"),
        (PATH, "dtype"),
    ]


def prints(text: str) -> list[str]:
    return [finding.fingerprint for finding in shown(text)]


def test_fingerprints_survive_edits_elsewhere_and_tell_equal_expressions_apart() -> None:
    text = "class A:\n    def f(self):\n        return BAD + BAD\n\n    def g(self):\n        return BAD\n"
    first = prints(text)
    assert len(set(first)) == 3
    assert prints("import os\n\n" + text.replace("return", "y = 1; return")) == first
    assert prints(text.replace("def g", "def h"))[:2] == first[:2]
    assert prints(text.replace("def g", "def h"))[2] != first[2]
    silenced = text.replace("return BAD + BAD", "return f(BAD,  # inductor-debug: ignore\n          BAD)")
    assert prints(silenced) == first[2:]
    assert all(len(item) == 16 for item in first)


def test_fingerprints_do_not_depend_on_where_the_project_is(tmp_path: Path) -> None:
    def first(root: str) -> str:
        path = f"{root}/model.py"
        found = findings_of(path, "BAD\n", Stage.MOCK)
        return apply_policy(
            found, path=path, settings=Settings(root), source_for=lambda _: source_of("BAD\n"), complete=True
        )[0].fingerprint

    assert first("/a/b") == first("/c")


QUALNAMES = {
    0: "",
    1: "A",
    2: "A",
    3: "A.f",
    4: "A.f",
    5: "A.f.inner",
    6: "A.f.inner",
    7: "A.f",
    8: "A",
    9: "A.g",
    10: "A.g",
    11: "",
}


def test_findings_know_the_function_around_them() -> None:
    text = (
        "x = 1\nclass A:\n    y = 2\n    def f(self):\n        z = 3\n        async def inner():\n            pass\n"
        "        return (\n    3)\n    def g(self): return 1\n        # odd\ny = 3\n"
    )
    source = source_of(text.replace("return (\n    3)", "return 3\n    w = 4"))
    assert {line: source.qualname(line) for line in QUALNAMES} == QUALNAMES
    assert source.qualname(99) == ""


def report(stage: Stage, state: StageState = StageState.DONE) -> StageReport:
    return StageReport(stage, state, 0.0)


def test_the_later_stage_speaks_for_both_and_what_only_the_preview_saw_stays() -> None:
    place = [Related("/lib.py", Range(Position(0, 0), Position(0, 1)), "here")]
    preview = [finding("dtype", message="early", related=place), finding("layout", column=5)]
    mock = [finding("dtype", message="late", stage=Stage.MOCK, count=12)]
    parts = {("Model", Stage.MOCK): mock, ("Model", Stage.PREVIEW): preview}
    united = unite([], parts, {})
    assert [(item.rule, item.message, item.count) for item in united] == [
        ("dtype", "late", 12),
        ("layout", "layout!", 1),
    ]
    assert united[0].related == place


def test_what_one_stage_tells_first_of_a_place_stays_and_the_rest_is_related_to_it() -> None:
    first, then = (
        finding("graph-break", severity, message=message, stage=Stage.MOCK)
        for severity, message in (
            (Severity.INFORMATION, "It writes to a log."),
            (Severity.WARNING, "It makes a layer."),
        )
    )
    [told] = unite([], {("Model", Stage.MOCK): [first, then]}, {})
    assert (told.message, told.severity) == (first.message, Severity.WARNING)
    assert [place.message for place in told.related] == ["also: It makes a layer."]


def test_findings_of_a_target_that_is_gone_are_not_carried_on() -> None:
    before = Results(PATH, "x\n")
    before.accept(StageFinished("Old", report(Stage.PREVIEW), [finding("dtype", target="Old")]))
    before.accept(StageFinished("Kept", report(Stage.PREVIEW), [finding("rank", target="Kept", column=3)]))
    now = Results(PATH, "x\n")
    assert len(now.findings(CarriedFindings.of(before))) == 2
    now.accept(Loaded([TargetFound("Kept", 0, "")], [], [], 0.0))
    assert [item.target for item in now.findings(CarriedFindings.of(before))] == ["Kept"]


def test_targets_share_a_finding() -> None:
    parts = {
        ("train", Stage.MOCK): [finding("dtype", target="train", count=2)],
        ("eval", Stage.MOCK): [finding("dtype", target="eval", count=7)],
    }
    assert [(item.target, item.count) for item in unite([], parts, {})] == [("train", 7)]


@pytest.mark.parametrize(("state", "kept"), [(StageState.DONE, 0), (StageState.FAILED, 1)])
def test_a_capture_error_that_the_next_stage_did_not_meet_is_dropped(state: StageState, kept: int) -> None:
    parts = {("Model", Stage.PREVIEW): [finding("capture-error", Severity.ERROR)], ("Model", Stage.MOCK): []}
    assert len(unite([], parts, {("Model", Stage.MOCK): report(Stage.MOCK, state)})) == kept


def test_a_name_that_is_not_there_stays_though_capture_never_looked_it_up() -> None:
    missing = finding("capture-error", Severity.ERROR, facts=UnknownName("foo", "Tensor"))
    parts = {("Model", Stage.PREVIEW): [missing], ("Model", Stage.MOCK): []}
    assert unite([], parts, {("Model", Stage.MOCK): report(Stage.MOCK)}) == [missing]


def test_an_exception_is_told_where_it_was_raised_first() -> None:
    first = finding("capture-error", Severity.ERROR, column=9)
    again = finding("capture-error", Severity.ERROR, column=2, stage=Stage.MOCK)
    parts = {("Model", Stage.PREVIEW): [first], ("Model", Stage.MOCK): [again]}
    assert unite([], parts, {}) == [first]
    assert len(unite([], {**parts, ("Other", Stage.MOCK): [again]}, {})) == 2


def test_what_is_withheld_has_ended_nothing_yet() -> None:
    early, other = finding("capture-error", Severity.ERROR), finding("dtype", column=3)
    failed = TargetReport("Model", 4, [report(Stage.PREVIEW, StageState.FAILED)], why="it ends with the error")
    before = TargetReport("Model", 3, [report(Stage.PREVIEW), report(Stage.MOCK)], checked=Checked.YES)
    now = FileReport(PATH, FileStatus.FINDINGS, [failed], [early, other])
    held = withheld(now, [early], [before])
    assert held.findings == [other]
    assert held.targets == [dataclasses.replace(before, line=4)]
    assert withheld(now, [early], []).targets[0].stages == []
    apart = dataclasses.replace(early, target="Other")
    assert withheld(now, [apart], [before]).targets == [failed]


@pytest.mark.parametrize(("state", "columns"), [(StageState.DONE, [4]), (StageState.FAILED, [0, 4])])
def test_the_peak_of_memory_is_told_once_by_the_deepest_look(state: StageState, columns: list[int]) -> None:
    parts = {
        ("Model", Stage.MOCK): [finding("peak-memory", column=0)],
        ("Model", Stage.AOT): [finding("peak-memory", column=4)],
    }
    united = unite([], parts, {("Model", Stage.AOT): report(Stage.AOT, state)})
    assert [item.range.start.character for item in united] == columns


@pytest.mark.parametrize(("deepest", "told"), [(Stage.MOCK, 1), (Stage.AOT, 0)])
def test_what_training_keeps_eagerly_is_told_until_a_stage_with_a_backward_pass_ran(deepest: Stage, told: int) -> None:
    facts = MemoryOverrun(2, 1, [], [], eager_training=True)
    parts = {
        ("Model", Stage.PREVIEW): [dataclasses.replace(finding("peak-memory"), facts=facts)],
        ("Model", deepest): [],
    }
    assert len(unite([], parts, {("Model", deepest): report(deepest)})) == told


def test_a_call_that_raises_is_no_graph_break_as_well() -> None:
    raised, met = finding("capture-error", Severity.ERROR), finding("graph-break", stage=Stage.MOCK)
    elsewhere = finding("graph-break", column=5, stage=Stage.MOCK)
    parts = {("Model", Stage.MOCK): [met, elsewhere], ("Model", Stage.PREVIEW): [raised]}
    assert unite([], parts, {}) == [raised, elsewhere]
    parts = {("Model", Stage.PREVIEW): [raised], ("Other", Stage.MOCK): [met]}
    assert len(unite([], parts, {})) == 2, "it breaks the graph of a target in which it does not raise"


def test_the_same_sentence_about_the_same_place_is_said_once() -> None:
    twice = [finding("graph-break", message="m"), finding("capture-error", Severity.ERROR, message="m")]
    assert [item.rule for item in unite(twice, {}, {})] == ["capture-error"]


def test_a_file_is_not_failed_when_a_later_stage_saw_its_target() -> None:
    results = Results(PATH, "", (Stage.PREVIEW, Stage.MOCK))
    results.accept(Loaded([TargetFound("Model", 0, "")], [], [], 0.0))
    results.accept(StageFinished("Model", report(Stage.PREVIEW, StageState.FAILED), [finding("capture-error")]))
    results.accept(StageFinished("Model", report(Stage.MOCK), []))
    results.accept(Finished(FileStatus.FAILED))
    results.close()
    assert results.report(results.findings()).status is FileStatus.CLEAN
    assert not results.complete


async def test_changing_only_policy_shows_findings_anew_without_a_run(desk: Desk) -> None:
    await desk.opened(body("BAD"))
    desk.settings(strict=True)
    assert [item.severity.value for item in (await desk.settled()).report.findings] == ["error"]
    desk.settings(severity={"dtype": "off"})
    last = await desk.settled()
    assert (last.report.status, last.report.findings) == (FileStatus.CLEAN, [])
    assert len(desk.ran) == 1


async def test_comments_in_helper_files_count(desk: Desk) -> None:
    helper = desk.write("y = 1  # inductor-debug: ignore[dtype]\n", "helper.py")
    results = Results(str(desk.path()), "import helper\n")
    results.general = [dataclasses.replace(finding("dtype"), path=helper)]
    settings = desk.resolver(str(desk.path()))
    assert desk.engine._runner.report(results, settings).findings == []
