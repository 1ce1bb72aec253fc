"""Baselines: what is known is hidden, what is new is not, and the file can be read and merged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inductor_debug.cli.support.baseline import Baseline, BaselineEntry, BaselineError, build, dump, read
from inductor_debug.report.run_report import CheckedFile
from inductor_debug_schema import (
    CostBound,
    FileReport,
    FileStatus,
    Finding,
    Inferred,
    Position,
    Range,
    RunCost,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
)

SPAN = Range(Position(0, 0), Position(0, 1))


def file(path: Path, *fingerprints: str, status: FileStatus = FileStatus.FINDINGS) -> CheckedFile:
    findings = [
        Finding("dtype", Severity.WARNING, f"message {name}\nmore", str(path), SPAN, Stage.MOCK, fingerprint=name)
        for name in fingerprints
    ]
    return CheckedFile(path.name, FileReport(str(path), status, findings=findings), "mock")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "model.py"
    path.write_text("")
    return path


def known(tmp_path: Path, *entries: tuple[str, str]) -> Baseline:
    return Baseline(
        str(tmp_path / "known.json"), tuple(BaselineEntry(path, "dtype", name, "message") for path, name in entries)
    )


def test_known_findings_are_hidden_and_new_ones_are_not(tmp_path: Path, model: Path) -> None:
    applied = known(tmp_path, ("models/model.py", "a")).apply(file(model, "a", "b"))
    assert [finding.fingerprint for finding in applied.findings] == ["b"]
    assert [finding.fingerprint for finding in applied.hidden] == ["a"]
    assert applied.report.status is FileStatus.FINDINGS


def test_a_file_with_nothing_but_known_findings_is_clean(tmp_path: Path, model: Path) -> None:
    assert known(tmp_path, ("models/model.py", "a")).apply(file(model, "a")).report.status is FileStatus.CLEAN


def test_gone_findings_of_checked_files_are_fixed(tmp_path: Path, model: Path) -> None:
    other = model.with_name("other.py")
    other.write_text("")
    baseline = known(
        tmp_path,
        ("models/model.py", "a"),
        ("models/model.py", "b"),
        ("models/other.py", "c"),
        ("models/deleted.py", "d"),
    )
    assert baseline.fixed([baseline.apply(file(model, "a"))]) == 2


def test_a_file_that_could_not_be_analysed_fixes_nothing(tmp_path: Path, model: Path) -> None:
    baseline = known(tmp_path, ("models/model.py", "a"))
    assert baseline.fixed([file(model, status=FileStatus.CRASHED)]) == 0


def test_what_is_written_can_be_read_back(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "known.json"
    baseline = build(str(path), [file(model, "b", "a")], None)
    path.write_text(dump(baseline), encoding="utf-8")
    assert read(str(path)) == baseline
    assert baseline.entries == (
        BaselineEntry("models/model.py", "dtype", "a", "message a"),
        BaselineEntry("models/model.py", "dtype", "b", "message b"),
    )


def test_the_file_has_one_finding_a_line_in_a_stable_order(tmp_path: Path, model: Path) -> None:
    path = str(tmp_path / "known.json")
    text = dump(build(path, [file(model, "b", "a")], None))
    assert text == dump(build(path, [file(model, "a", "b")], None))
    assert text.splitlines()[4] == (
        '  {"file": "models/model.py", "rule": "dtype", "fingerprint": "a", "message": "message a"},'
    )
    assert json.loads(dump(build(path, [], None))) == {"version": 1, "tool": "inductor-debug", "findings": []}


def test_updating_keeps_what_this_run_did_not_look_at(tmp_path: Path, model: Path) -> None:
    other = model.with_name("other.py")
    other.write_text("")
    crashed = model.with_name("crashed.py")
    crashed.write_text("")
    old = known(
        tmp_path,
        ("models/model.py", "gone"),
        ("models/other.py", "kept"),
        ("models/crashed.py", "kept too"),
        ("models/deleted.py", "dropped"),
    )
    new = build(old.path, [file(model, "a"), file(crashed, status=FileStatus.CRASHED)], old)
    assert {entry.fingerprint for entry in new.entries} == {"a", "kept", "kept too"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "cannot read the baseline {}: No such file or directory"),
        ("", "{}:1:1: not a baseline: Expecting value"),
        ("{\n  oops", "{}:2:3: not a baseline: Expecting property name enclosed in double quotes"),
        ("[]", "{}: not a baseline: it has no list named 'findings'"),
        ('{"version": 1, "findings": {}}', "{}: not a baseline: it has no list named 'findings'"),
        ('{"version": 9, "findings": []}', "{}: version: this tool reads version 1, not 9"),
        ('{"version": 1, "findings": [3]}', "{}: findings[0]: not an object"),
        (
            '{"version": 1, "findings": [{"file": "a", "rule": "r", "message": "m"}]}',
            "{}: findings[0].fingerprint: missing, or not a text",
        ),
        ("\udcff", "{}: not a baseline: "),
    ],
)
def test_broken_baselines_are_explained(tmp_path: Path, content: str | None, complaint: str) -> None:
    path = tmp_path / "known.json"
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(BaselineError) as caught:
        read(str(path))
    assert str(caught.value).startswith(complaint.format(path))


def costing(path: Path, seconds: float, peak: int, inputs: str = "") -> CheckedFile:
    total = CostBound(1, 0, 0, 0, 0, seconds, seconds, None, 1.0, 0)
    stage = StageReport(Stage.MOCK, StageState.DONE, 0.1, cost=RunCost("h100", total, {}, peak))
    target = TargetReport("Net", 3, [stage], inferred=Inferred(inputs) if inputs else None)
    return CheckedFile(path.name, FileReport(str(path), FileStatus.CLEAN, targets=[target]), "h100")


def test_what_needs_more_than_the_baseline_knows_is_told_beyond_a_limit(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(dump(build(str(path), [costing(model, 2e-3, 1000)], None)), encoding="utf-8")
    before = read(str(path))
    assert (
        before.grown(costing(model, 2.09e-3, 1049), 5).findings
        == before.grown(costing(model, 1e-3, 9), 0).findings
        == []
    )
    [slower] = before.grown(costing(model, 2.2e-3, 1000), 5).findings
    said = "a run on accelerator 'h100' takes at least 2.2 ms, 10 % more than the 2 ms of the baseline."
    assert (slower.rule, slower.severity, slower.range.start.line, slower.message) == (
        "growth",
        Severity.ERROR,
        3,
        said,
    )
    [larger] = before.grown(costing(model, 2e-3, 2000), 5).findings
    assert "100 % more than the 1000 B of the baseline" in larger.message
    # With other inputs it is another run; and growth is no finding to know.
    assert before.grown(costing(model, 9e-3, 9000, "x f32[2, 3]"), 5).findings == []
    before.require_compared([costing(model, 1e-3, 9)])
    with pytest.raises(BaselineError, match=r"nothing to compare.*1 target on h100"):
        before.require_compared([costing(model, 1e-3, 9, "x f32[2, 3]")])
    again = build(str(path), [before.grown(costing(model, 2.2e-3, 1000), 5)], before)
    assert again.entries == ()
    assert [cost.seconds for cost in again.costs] == [2.2e-3]


def test_baselines_without_costs_are_read_and_wrong_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text('{"version": 1, "findings": []}')
    assert read(str(path)).costs == ()
    path.write_text('{"version": 1, "findings": [], "costs": [{"file": "a.py", "target": "Net", "seconds": "2"}]}')
    with pytest.raises(BaselineError, match=r"costs\[0\].stage: missing, or not a text"):
        read(str(path))
