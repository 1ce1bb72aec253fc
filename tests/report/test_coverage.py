"""Every report names what was not checked, and "no findings" is said of what ran alone."""

from __future__ import annotations

import dataclasses
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from inductor_debug.report.formats.github import GithubReport
from inductor_debug.report.formats.html_report import HtmlReport
from inductor_debug.report.formats.json_report import JsonReport
from inductor_debug.report.formats.junit import JunitReport
from inductor_debug.report.formats.sarif import SarifReport
from inductor_debug.report.run_report import CheckedFile, CheckResult, ExitCode
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.text import TextReport
from inductor_debug_schema import (
    Checked,
    FileStatus,
    Held,
    Inferred,
    Position,
    Range,
    Severity,
    StageState,
    UntakenBlock,
)
from report_samples import checked, finding, places, result, span, target

DATA = Path(__file__).parent.parent / "data"
MODEL = "class Good:\n    pass\nclass Transformer:\n    pass\nclass Part:\n    pass\n"
GOOD = target("Good", 0)
NOT = target("Transformer", 2, coverage=Checked.NO, why="it needs `params`")
PARTLY = target("Part", 4, coverage=Checked.PARTLY, why="its run ended early.")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


@pytest.fixture
def outcome(model: Path) -> CheckResult:
    return result(checked(model, targets=[GOOD, NOT, PARTLY]))


def text_of(outcome: CheckResult, **values: Any) -> str:
    folder = Path(outcome.files[0].path).parent
    report = TextReport(places(folder, *outcome.files), ShownTexts(), Styler(False), **values)
    return "".join(map(report.file, outcome.files)) + report.end(outcome)


def test_text_ends_with_what_was_checked(outcome: CheckResult) -> None:
    assert text_of(outcome).splitlines() == [
        "no findings in 1 file, 1.2 s",
        "1 of 3 classes checked; not checked: Transformer (it needs `params`); "
        "partly checked: Part (its run ended early)",
    ]


def test_where_all_was_checked_that_is_all_there_is_to_say(model: Path) -> None:
    assert text_of(result(checked(model, targets=[GOOD]))).splitlines()[-1] == "1 class checked"
    assert text_of(result(checked(model, targets=[target("train", 1)]))).splitlines()[-1] == "1 target checked"


def test_how_many_were_checked_in_part_is_said_with_the_whole(model: Path) -> None:
    last = text_of(result(checked(model, targets=[GOOD, NOT, PARTLY, PARTLY]))).splitlines()[-1]
    assert last.startswith("1 of 4 classes checked, 2 partly; not checked: Transformer")


def test_a_file_where_nothing_ran_has_no_findings_to_deny(model: Path) -> None:
    text = text_of(result(checked(model, targets=[NOT], status=FileStatus.NO_TARGET)))
    assert text.splitlines() == [
        "nothing was checked in model.py, 1.2 s",
        "0 of 1 class checked; not checked: Transformer (it needs `params`)",
    ]


def test_quiet_reports_name_what_was_not_checked_too(outcome: CheckResult, model: Path) -> None:
    assert text_of(outcome, quiet=True).startswith("1 of 3 classes checked; not checked: Transformer")
    assert text_of(result(checked(model, targets=[GOOD])), quiet=True) == ""


def test_of_many_the_first_are_named_with_their_files_and_all_with_verbose(model: Path) -> None:
    names = [f"N{number}" for number in range(9)]
    targets = [target(name, 2, coverage=Checked.NO, why="why " * 90) for name in names]
    many = result(checked(model, targets=targets), checked(model.with_name("b.py"), targets=[]))
    head, kind, *named, last = text_of(many).splitlines()[-9:]
    assert (head, kind) == ("0 of 9 classes checked", "  not checked:")
    assert [line.partition(" (why why")[0] for line in named] == [f"    model.py::N{number}" for number in range(6)]
    assert last == "    3 more (all with --verbose)"
    verbose = text_of(many, verbose=True)
    assert all(f"  {name} not checked: {'why ' * 90}" in verbose for name in names)


def test_a_class_that_must_be_checked_and_was_not_is_trouble(model: Path) -> None:
    files = [checked(model, targets=[GOOD, each], required=True) for each in (NOT, PARTLY)]
    assert [result(file).exit_code() for file in files] == [ExitCode.TROUBLE, ExitCode.CLEAN]
    assert result(checked(model, targets=[GOOD, NOT])).exit_code() is ExitCode.CLEAN


def test_a_class_of_inferred_inputs_that_raises_has_findings_and_a_declared_one_is_trouble(model: Path) -> None:
    raised = finding(model, span(0, 0, 5), rule="capture-error", severity=Severity.ERROR, target="Good")
    declared = target("Good", 0, state=StageState.FAILED, coverage=Checked.PARTLY)
    inferred = dataclasses.replace(declared, inferred=Inferred())
    codes = [result(checked(model, raised, targets=[each])).exit_code() for each in (declared, inferred)]
    assert codes == [ExitCode.TROUBLE, ExitCode.FINDINGS]


def test_a_failure_that_the_baseline_knows_is_not_asked_for_again(model: Path) -> None:
    known = finding(model, span(0, 0, 5), rule="capture-error", severity=Severity.ERROR, target=NOT.name)
    file = checked(model, targets=[NOT], required=True, hidden=(known,))
    assert result(file).exit_code() is ExitCode.CLEAN


def test_json_has_it_for_each_target(outcome: CheckResult, tmp_path: Path) -> None:
    document = JsonReport(places(tmp_path, *outcome.files)).document(outcome)
    assert [(each["name"], each["checked"], each["why"]) for each in document["files"][0]["targets"]] == [
        ("Good", "yes", ""),
        ("Transformer", "no", "it needs `params`"),
        ("Part", "partly", "its run ended early."),
    ]


def test_junit_skips_what_did_not_run(outcome: CheckResult, tmp_path: Path) -> None:
    document = ElementTree.fromstring(JunitReport(places(tmp_path, *outcome.files), ShownTexts()).end(outcome))
    good, without, partly = document.iter("testcase")
    assert list(good) == []
    assert without.find("skipped").get("message") == "not checked: it needs `params`"  # type: ignore[union-attr]
    assert partly.findtext("system-out") == "partly checked: its run ended early."
    assert document[0].get("skipped") == "1"


def test_junit_gives_the_reason_where_a_declared_target_ended_early_without_a_finding_about_it(
    model: Path, tmp_path: Path
) -> None:
    early = target("Good", 0, state=StageState.FAILED, coverage=Checked.PARTLY, why="its run ended early.")
    outcome = result(checked(model, finding(model, span(0, 0, 5), target="Good"), targets=[early]))
    document = ElementTree.fromstring(JunitReport(places(tmp_path, *outcome.files), ShownTexts()).end(outcome))
    [error] = document.iter("error")
    assert error.get("message") == "partly checked: its run ended early."


def test_sarif_notifies_and_has_no_result(outcome: CheckResult, tmp_path: Path) -> None:
    log = SarifReport(places(tmp_path, *outcome.files), ShownTexts(), lambda rule: None).document(outcome)
    schema = json.loads((DATA / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(log)
    run = log["runs"][0]
    assert run["results"] == []
    told = [
        (each["level"], each["message"]["text"], each["locations"][0]["physicalLocation"]["region"]["startLine"])
        for each in run["invocations"][0]["toolExecutionNotifications"]
    ]
    assert told == [
        ("warning", "Transformer: not checked: it needs `params`", 3),
        ("note", "Part: partly checked: its run ended early.", 5),
    ]


def test_github_gets_notices_as_far_as_it_reads_them(outcome: CheckResult, model: Path, tmp_path: Path) -> None:
    step = tmp_path / "step.md"
    lines = GithubReport(places(tmp_path), ShownTexts(), {"GITHUB_STEP_SUMMARY": str(step)}).end(outcome).splitlines()
    title = "title=inductor-debug not-checked::"
    assert lines[:2] == [
        f"::notice file=model.py,line=3,{title}Transformer: not checked: it needs `params`",
        f"::notice file=model.py,line=5,{title}Part: partly checked: its run ended early.",
    ]
    assert "- `model.py:3` Transformer: not checked: it needs `params`" in step.read_text()
    notes = [finding(model, span(0, 0, 1), severity=Severity.INFORMATION)] * 9
    crowded = result(checked(model, *notes, targets=[PARTLY, NOT]))
    notices = [
        line
        for line in GithubReport(places(tmp_path), ShownTexts(), {}).end(crowded).splitlines()
        if "not-checked" in line
    ]
    assert len(notices) == 1
    assert "Transformer" in notices[0]


def test_the_page_says_it_at_the_top_and_with_the_file(outcome: CheckResult, tmp_path: Path) -> None:
    page = HtmlReport(places(tmp_path, *outcome.files), ShownTexts(), lambda rule: None).end(outcome)
    assert "<p>1 of 3 classes checked; not checked: Transformer (it needs `params`); partly checked: Part" in page
    assert "Transformer: not checked: it needs `params`</p>" in page


def test_hostile_reasons_stay_text(model: Path, tmp_path: Path) -> None:
    why = "\x1b[31m::error::<script>\x00\nnext"
    hostile: CheckedFile = checked(model, targets=[target("Bad", 0, coverage=Checked.NO, why=why)])
    outcome = result(hostile)
    assert "\x1b" not in text_of(outcome)
    assert len(text_of(outcome).splitlines()) == 2
    assert "<script>" not in HtmlReport(places(tmp_path), ShownTexts(), lambda rule: None).end(outcome)
    ElementTree.fromstring(JunitReport(places(tmp_path), ShownTexts()).end(outcome))
    lines = GithubReport(places(tmp_path), ShownTexts(), {}).end(outcome).splitlines()
    assert [line.startswith("::") for line in lines] == [True, False, False]


LEFT_OUT = [
    UntakenBlock(span(1, 4, 8), "mask", Held.NONE, parameter=True),
    UntakenBlock(Range(Position(4, 0), Position(5, 8)), "generate", Held.NOT_CALLED),
]
IN_PART = dataclasses.replace(
    target("Good", 0, coverage=Checked.PARTLY, why="1 branch not taken: line 2; `generate` not called"),
    untaken=LEFT_OUT,
)


def test_branches_not_taken_are_named_in_a_line_and_listed_when_asked_for(model: Path) -> None:
    outcome = result(checked(model, targets=[IN_PART]))
    last = "0 of 1 class checked; partly checked: Good (1 branch not taken: line 2; `generate` not called)"
    assert text_of(outcome).splitlines()[-1] == last
    assert "did not run" not in text_of(outcome)
    assert [line.strip() for line in text_of(outcome, verbose=True).splitlines() if "did not run" in line] == [
        "line 2 did not run: `mask` is None",
        "lines 5-6 did not run: `generate` is not called",
    ]
    assert outcome.exit_code() is ExitCode.CLEAN


def test_json_and_sarif_say_where_code_was_left_out_and_why(model: Path, tmp_path: Path) -> None:
    outcome = result(checked(model, targets=[IN_PART]))
    [block, _] = JsonReport(places(tmp_path, *outcome.files)).document(outcome)["files"][0]["targets"][0]["untaken"]
    assert (block["subject"], block["held"], block["parameter"]) == ("mask", "none", True)
    assert block["range"]["start"] == {"line": 1, "character": 4}

    log = SarifReport(places(tmp_path, *outcome.files), ShownTexts(), lambda rule: None).document(outcome)
    schema = json.loads((DATA / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(log)
    [notification] = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    regions = [place["physicalLocation"]["region"] for place in notification["locations"]]
    assert regions == [{"startLine": 1}, {"startLine": 2, "endLine": 2}, {"startLine": 5, "endLine": 6}]
    assert notification["locations"][1]["message"]["text"] == "line 2 did not run: `mask` is None"


def test_github_spends_no_annotation_on_branches(model: Path, tmp_path: Path) -> None:
    outcome = result(checked(model, targets=[IN_PART]))
    text = GithubReport(places(tmp_path, *outcome.files), ShownTexts(), {}).end(outcome)
    assert "::notice" not in text
    assert "partly checked: Good" in text
