"""The documents to pass on: JSON, SARIF, GitHub's commands, JUnit and the HTML page."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from inductor_debug.engine.selection.effects import TopLevelDeed, TopLevelEffect
from inductor_debug.engine.selection.selection import Skip, SkipReason
from inductor_debug.report.formats.github import GithubReport
from inductor_debug.report.formats.html_report import HtmlReport
from inductor_debug.report.formats.json_report import JsonReport
from inductor_debug.report.formats.junit import JunitReport
from inductor_debug.report.formats.sarif import SarifReport
from inductor_debug.report.run_report import BaselineUse, CheckedFile, CheckResult, SkippedFile
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.judging.base import Page
from inductor_debug_schema import FileStatus, Finding, Severity, StageState
from report_samples import checked, finding, places, related, result, span, span_of, target

DATA = Path(__file__).parent.parent / "data"
TEXT = "s = '🙂'; y = x.double()\nz = y @ w\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "some models").mkdir()
    path = tmp_path / "some models" / "modèle.py"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def outcome(model: Path) -> CheckResult:
    """Files that end in every way, findings of every severity, related places, hostile messages."""
    consumer = related(model, span_of(TEXT, "y @ w"), "consumed here")
    outside = related("/elsewhere/lib.py", span(3, 0, 4), "called from\nhere")
    findings = [
        finding(model, span_of(TEXT, "x.double()"), related=[consumer, outside]),
        finding(model, span(1, 4, 4), rule="capture-error", severity=Severity.ERROR, op=None, module=None),
        finding(model, span(1, 0, 5), rule="unused-ignore", severity=Severity.HINT, target="", fingerprint=""),
        finding(model, span(0, 0, 2, end_line=1), message="two\nlines\x1b & <more>, 100% | ::error::"),
    ]
    folder = model.parent
    crash = finding(folder / "crash.py", span(0, 0, 0), rule="crash", severity=Severity.ERROR, target="", op=None)
    return result(
        checked(model, *findings, shown="some models/modèle.py", targets=[target(), target("Other", 7)]),
        checked(folder / "clean.py", shown="some models/clean.py"),
        checked(folder / "none.py", status=FileStatus.NO_TARGET, targets=[]),
        checked(folder / "crash.py", crash, status=FileStatus.CRASHED, targets=[]),
        checked(folder / "late.py", status=FileStatus.TIMEOUT, targets=[target(state=StageState.FAILED)]),
        checked(folder / "locked.py", status=FileStatus.FAILED, targets=[], problem="Permission denied"),
        baseline=BaselineUse("known.json", 3, 1),
    )


def page_of(rule: str) -> Page | None:
    return Page(rule, f"About {rule}.", f"# {rule}\n\nText.") if rule != "unused-ignore" else None


def sarif(outcome: CheckResult, folder: Path) -> dict[str, Any]:
    report = SarifReport(places(folder, *outcome.files), ShownTexts(), page_of)
    assert all(report.file(file) == "" for file in outcome.files)
    document: dict[str, Any] = json.loads(report.end(outcome))
    return document


def test_json_is_the_document_of_the_contract(outcome: CheckResult, tmp_path: Path) -> None:
    document = json.loads(JsonReport(places(tmp_path, *outcome.files)).end(outcome))
    assert document["schema"] == 1
    assert document["tool"] == {"name": "inductor-debug", "version": "0.1.0", "torch": "2.13.0", "python": "3.11.2"}
    assert document["accelerator"] == "mock"
    file = document["files"][0]
    assert file["path"] == "some models/modèle.py"
    assert file["status"] == "findings"
    assert file["targets"][0]["name"] == "Model"
    assert file["targets"][0]["line"] == 3
    stage = file["targets"][0]["stages"][1]
    contracted = {"stage", "state", "seconds", "graphs", "ops", "graph_breaks"}
    assert contracted <= stage.keys()
    assert (stage["stage"], stage["state"], stage["graphs"], stage["graph_breaks"]) == ("mock", "done", 2, 1)
    first = next(entry for entry in file["findings"] if entry["rule"] == "dtype" and entry["related"])
    assert first["path"] == file["path"]
    assert first["range"] == {"start": {"line": 0, "character": 14}, "end": {"line": 0, "character": 24}}
    assert first["severity"] == "warning"
    assert first["op"] == "aten._to_copy.default"
    assert first["module"] == "encoder.layer.0"
    assert first["count"] == 12
    assert first["fingerprint"] == "0123456789abcdef"
    assert [place["path"] for place in first["related"]] == [file["path"], "/elsewhere/lib.py"]
    assert [entry["status"] for entry in document["files"]] == [
        "findings", "clean", "no-target", "crashed", "timeout", "failed",
    ]  # fmt: skip
    assert document["summary"] == {
        "files": 6, "skipped": 0, "findings": 5, "errors": 2, "warnings": 2, "seconds": 1.234,
        "baseline": {"hidden": 3, "fixed": 1},
    }  # fmt: skip


def test_json_names_other_files_relative_to_where_the_user_is(tmp_path: Path) -> None:
    helper = tmp_path / "pkg" / "helper.py"
    file = checked(tmp_path / "model.py", finding(helper, span(0, 0, 1)), shown="./model.py")
    document = JsonReport(places(tmp_path, file)).document(result(file))
    assert document["files"][0]["path"] == "./model.py"
    assert document["files"][0]["findings"][0]["path"] == str(Path("pkg", "helper.py"))


def test_sarif_is_valid_by_the_published_schema(outcome: CheckResult, tmp_path: Path) -> None:
    schema = json.loads((DATA / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    checker = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    for document in (sarif(outcome, tmp_path), sarif(result(), tmp_path)):
        assert [error.message for error in checker.iter_errors(document)] == []


def test_the_published_schema_does_find_mistakes(outcome: CheckResult, tmp_path: Path) -> None:
    schema = json.loads((DATA / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    document = sarif(outcome, tmp_path)
    document["runs"][0]["results"][0]["level"] = "fatal"
    assert not jsonschema.Draft4Validator(schema).is_valid(document)


def test_sarif_points_into_the_repository(outcome: CheckResult, tmp_path: Path) -> None:
    run = sarif(outcome, tmp_path)["runs"][0]
    first = next(entry for entry in run["results"] if "relatedLocations" in entry)
    physical = first["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "some%20models/mod%C3%A8le.py", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {
        "startLine": 1, "startColumn": 15, "endLine": 1, "endColumn": 25, "snippet": {"text": "x.double()"},
    }  # fmt: skip
    assert first["partialFingerprints"] == {"inductorDebug/v1": "0123456789abcdef"}
    inside, outside = first["relatedLocations"]
    assert inside["message"] == {"text": "consumed here"}
    assert outside["physicalLocation"]["artifactLocation"] == {"uri": "file:///elsewhere/lib.py"}
    assert run["columnKind"] == "utf16CodeUnits"
    assert run["automationDetails"] == {"id": "inductor-debug/mock/"}


def test_every_sarif_result_refers_to_its_rule_and_has_a_line(outcome: CheckResult, tmp_path: Path) -> None:
    run = sarif(outcome, tmp_path)["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["capture-error", "crash", "dtype", "unused-ignore"]
    assert rules[2]["help"]["markdown"] == "# dtype\n\nText."
    for entry in run["results"]:
        assert rules[entry["ruleIndex"]]["id"] == entry["ruleId"]
        assert entry["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
    assert {entry["ruleId"]: entry["level"] for entry in run["results"]} == {
        "capture-error": "error", "crash": "error", "dtype": "warning", "unused-ignore": "note",
    }  # fmt: skip


def test_sarif_says_what_could_not_be_analysed(outcome: CheckResult, tmp_path: Path) -> None:
    invocation = sarif(outcome, tmp_path)["runs"][0]["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 2
    notes = invocation["toolExecutionNotifications"]
    assert [note["descriptor"]["id"] for note in notes] == ["crash", "not-analysed", "not-analysed"]
    assert notes[2]["message"]["text"] == "Permission denied"
    assert sarif(result(), tmp_path)["runs"][0]["invocations"][0]["executionSuccessful"] is True


def github(outcome: CheckResult, folder: Path, environ: dict[str, str] | None = None) -> list[str]:
    return GithubReport(places(folder, *outcome.files), ShownTexts(), environ or {}).end(outcome).splitlines()


def test_github_commands_are_escaped_and_sorted(outcome: CheckResult, tmp_path: Path) -> None:
    lines = github(outcome, tmp_path)
    assert lines[0] == "::error file=some models/locked.py,title=inductor-debug::Permission denied"
    assert lines[1] == (
        "::error file=some models/modèle.py,line=2,endLine=2,col=5,endColumn=5,"
        "title=inductor-debug capture-error::float64 is not supported by mock"
    )
    assert [line.split(" ")[0] for line in lines[:-2]] == ["::error"] * 3 + ["::warning"] * 2 + ["::notice"]
    hostile = next(line for line in lines if "100" in line)
    assert hostile == (
        "::warning file=some models/modèle.py,line=1,endLine=2,title=inductor-debug dtype"
        "::two%0Alines\u241b & <more>, 100%25 | ::error::"
    )
    assert lines[-1].startswith("5 findings")


def test_github_columns_count_characters(model: Path) -> None:
    file = checked(model, finding(model, span_of(TEXT, "x.double()")))
    assert "col=14,endColumn=24" in github(result(file), model.parent)[0]


def test_github_gets_ten_of_a_kind_and_the_rest_in_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    many = [finding(path, span(number, 0, 1), message=f"w{number} <a|b>\nx") for number in range(14)]
    many += [finding(path, span(number, 0, 1), severity=Severity.ERROR) for number in range(3)]
    step = tmp_path / "step.md"
    step.write_text("before\n")
    lines = github(result(checked(path, *many)), tmp_path, {"GITHUB_STEP_SUMMARY": str(step)})
    assert [line.split(" ")[0] for line in lines[:-2]] == ["::error"] * 3 + ["::warning"] * 10
    assert lines[-1].endswith("4 not annotated, 10 of a kind are the most")
    table = step.read_text()
    assert table.startswith("before\n### inductor-debug: 17 findings (3 errors, 14 warnings) in 1 file, 1.2 s")
    assert "| warning | dtype | model.py:14:1 | w13 &lt;a\\|b><br>x |" in table
    assert table.count("| warning |") == 14


def test_github_without_a_writable_summary_says_so(outcome: CheckResult, tmp_path: Path) -> None:
    lines = github(outcome, tmp_path, {"GITHUB_STEP_SUMMARY": str(tmp_path / "gone" / "step.md")})
    assert lines[-1].startswith("::warning title=inductor-debug::The step's summary cannot be written: No such file")


def junit(outcome: CheckResult, folder: Path) -> ElementTree.Element:
    return ElementTree.fromstring(JunitReport(places(folder, *outcome.files), ShownTexts()).end(outcome))


_ELEMENTS: dict[str, tuple[set[str], list[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, ["testsuite"]),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"},
        ["properties", "testcase", "system-out", "system-err"],
    ),
    "properties": (set(), ["property"]),
    "property": ({"name", "value"}, []),
    "testcase": ({"name", "classname", "time"}, ["skipped", "error", "failure", "system-out"]),
    "skipped": ({"message"}, []),
    "error": ({"message", "type"}, []),
    "failure": ({"message", "type"}, []),
    "system-out": (set(), []),
    "system-err": (set(), []),
}
"""Ant's and Jenkins' schemas, as far as both allow it: attributes, and children in their order."""


def test_junit_keeps_to_the_common_schema(outcome: CheckResult, tmp_path: Path) -> None:
    for element in junit(outcome, tmp_path).iter():
        attributes, children = _ELEMENTS[element.tag]
        assert set(element.keys()) == attributes, element.tag
        order = [children.index(child.tag) for child in element]
        assert order == sorted(order), element.tag


def test_junit_tells_failures_errors_and_skips_apart(outcome: CheckResult, tmp_path: Path) -> None:
    suites = junit(outcome, tmp_path)
    seen = {
        (suite.get("name"), case.get("name")): next(
            (child.tag for child in case if child.tag != "system-out"), "passed"
        )
        for suite in suites
        for case in suite.iter("testcase")
    }
    assert seen == {
        ("some models/modèle.py", "Model"): "failure",
        ("some models/modèle.py", "Other"): "passed",
        ("some models/modèle.py", "(file)"): "passed",
        ("some models/clean.py", "Model"): "passed",
        ("none.py", "(file)"): "skipped",
        ("crash.py", "(file)"): "error",
        ("late.py", "Model"): "error",
        ("locked.py", "(file)"): "error",
    }
    assert [suites.get(kind) for kind in ("tests", "failures", "errors")] == ["8", "1", "3"]
    failure = suites.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "3 findings: dtype, capture-error"
    assert "some models/modèle.py:1:14: warning[dtype]" in (failure.text or "")


def test_junit_lists_the_files_that_were_not_opened(outcome: CheckResult, tmp_path: Path) -> None:
    passed_over = [
        SkippedFile("setup.py", str(tmp_path / "setup.py"), Skip(SkipReason.SET_UP)),
        SkippedFile(
            "train.py", str(tmp_path / "train.py"), Skip(SkipReason.SCRIPT, TopLevelDeed(TopLevelEffect.WRITES, 11))
        ),
    ]
    suites = junit(replace(outcome, skipped=tuple(passed_over)), tmp_path)
    suite = suites.find("testsuite[@name='(not opened)']")
    assert suite is not None
    told = {case.get("classname"): case.find("skipped") for case in suite.iter("testcase")}
    assert {name: skip.get("message") for name, skip in told.items() if skip is not None} == {
        "setup.py": "not opened: a set-up file",
        "train.py": "not opened: writes files when it is loaded, in line 12",
    }
    assert (suite.get("tests"), suite.get("skipped"), suites.get("tests")) == ("2", "2", "10")


def test_junit_times_add_up(outcome: CheckResult, tmp_path: Path) -> None:
    case = junit(outcome, tmp_path).find(".//testcase")
    assert case is not None
    assert case.get("time") == "0.800"


def test_junit_milder_findings_are_output_only(model: Path) -> None:
    file: CheckedFile = checked(model, finding(model, span(0, 0, 1), severity=Severity.INFORMATION))
    case = junit(result(file), model.parent).find(".//testcase")
    assert case is not None
    assert [child.tag for child in case] == ["system-out"]


def test_no_document_shows_what_a_baseline_hides(model: Path) -> None:
    known: Finding = finding(model, span(0, 0, 1), message="known one")
    outcome = result(checked(model, hidden=(known,)))
    folder = model.parent
    shown = [json.dumps(sarif(outcome, folder)), "".join(github(outcome, folder))]
    shown.append(JsonReport(places(folder)).end(outcome))
    shown.append(JunitReport(places(folder), ShownTexts()).end(outcome))
    assert not any("known one" in text for text in shown)


class Seen(HTMLParser):
    """The tags of a page, and its text without style and markup."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def test_the_page_tells_every_file_finding_and_rule(outcome: CheckResult, model: Path) -> None:
    page = HtmlReport(places(model.parent.parent, *outcome.files), ShownTexts(), page_of).end(outcome)
    seen = Seen(page)
    text = " ".join(" ".join(seen.words).split())
    assert seen.open == []
    assert "5 findings (2 errors, 2 warnings, 1 hint) in 2 of 6 files" in text
    for file in outcome.files:
        assert file.shown in text
    assert [attributes["class"] for tag, attributes in seen.tags if tag == "article"] == [
        finding.severity.value for _, finding in outcome.findings()
    ]
    assert "^^^^^^^^^^" in page  # the excerpt of `x.double()`
    assert "Model checked capture done 41 2 1 0.75" in text
    assert "a device was redirected" in text
    assert "Permission denied" in text
    assert "About dtype." in text
    rules = {attributes["id"] for tag, attributes in seen.tags if tag == "details"}
    links = [attributes for tag, attributes in seen.tags if tag == "a"]
    within = {str(link["href"]) for link in links if "data-range" not in link}
    assert {f"#{rule}" for rule in rules} <= within
    assert within <= {f"#{attributes['id']}" for _, attributes in seen.tags if "id" in attributes}


def test_every_place_on_the_page_is_a_link_to_it(outcome: CheckResult, model: Path) -> None:
    shown = places(model.parent.parent, *outcome.files)
    seen = Seen(HtmlReport(shown, ShownTexts(), page_of).end(outcome))
    links = {
        (attributes["href"], attributes["data-range"]) for _, attributes in seen.tags if "data-range" in attributes
    }
    for _, found in outcome.findings():
        start, end = found.range.start, found.range.end
        address = f"{shown.uri(found.path)}#L{start.line + 1}"
        assert (address, f"{start.line}:{start.character}-{end.line}:{end.character}") in links


def test_the_page_loads_and_runs_nothing_whatever_names_say(model: Path) -> None:
    evil = "<script>alert('x')</script><img src=x onerror=alert(1)>&amp;\x1b[31m"
    bad = finding(
        model, span_of(TEXT, "x.double()"), message=evil, op=evil, module=evil, target=evil, link=f"javascript:{evil}",
        related=[related(model, span(0, 0, 1), evil)],
    )  # fmt: skip
    outcome = result(checked(model, bad, shown=evil, targets=[target(evil)], problem=evil))
    page = HtmlReport(places(model.parent, *outcome.files), ShownTexts(), lambda rule: Page(rule, evil, evil)).end(
        outcome
    )
    seen = Seen(page)
    assert {tag for tag, _ in seen.tags}.isdisjoint({"script", "img", "iframe", "link", "object", "form"})
    assert not [name for _, attributes in seen.tags for name in attributes if name.startswith("on") or name == "src"]
    assert not [1 for _, attributes in seen.tags if str(attributes.get("href", "#")).startswith("javascript:")]
    assert "default-src 'none'" in page
