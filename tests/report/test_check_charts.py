"""The charts of the report, and what else a run made of a file: all there, linked, and readable without a script."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from inductor_debug.engine.orders.comparing import no_comparison
from inductor_debug.engine.orders.orders import Performed
from inductor_debug.report.formats.html_report import HtmlReport
from inductor_debug.report.html.card_pieces import BarRow, bars, pieces_style
from inductor_debug.report.html.check_charts import check_charts
from inductor_debug.report.html.markup import page
from inductor_debug.report.run_report import CheckResult, ExitCode, MadeBeside
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug_schema import (
    ArtifactKind,
    ArtifactReference,
    DiffVerdict,
    FileReport,
    FileStatus,
    Severity,
    TargetReport,
)
from inductor_debug_schema.answers.guards_document import GuardsDocument
from inductor_debug_schema.compiling.capture_facts import BreakCause, GraphBreak
from inductor_debug_schema.cost_bounds import CostBound, Roof, RunCost
from report_samples import checked, finding, places, result, span, target

TEXT = "x.double()\ny.double()\n"


@pytest.fixture
def outcome(tmp_path: Path) -> CheckResult:
    files = []
    for name in ("a.py", "b.py"):
        path = tmp_path / name
        path.write_text(TEXT)
        area = span(0, 0, 10)
        broken = GraphBreak(BreakCause.PRINT, "print(x)")
        found = [
            finding(path, area),
            finding(path, span(1, 0, 10), severity=Severity.ERROR),
            finding(path, area, rule="graph-break", severity=Severity.WARNING, facts=broken, message="it prints"),
        ]
        files.append(checked(path, *found[: 3 if name == "a.py" else 1], targets=[costly()]))
    return result(*files)


def costly() -> TargetReport:
    total = CostBound(3, 10, 10, 20, 100, seconds=2e-3, limited_by=Roof.MEMORY)
    cost = RunCost("h100", total, {"memory": 1.5e-3, "compute": 5e-4}, 3 << 20)
    known = target()
    return replace(known, stages=[replace(known.stages[0], cost=cost), *known.stages[1:]])


def test_no_element_has_a_style_of_its_own_which_pages_over_http_may_not_have(outcome: CheckResult) -> None:
    assert "style=" not in check_charts(outcome, lambda file: "file-1")
    assert ".bars .w67 { width: 67%; }" in pieces_style()


def test_findings_are_counted_by_rule_with_the_part_of_each_severity(outcome: CheckResult) -> None:
    charts = check_charts(outcome, lambda file: "file-1")
    by_rule = charts[: charts.index("Graphs break by")]
    assert re.findall(r'<span class="amount">([\d,]+)', by_rule) == ["3", "1"]
    widths = re.findall(r'<i class="(\w+) w(\d+)" title="([^"]+)"', by_rule)
    assert widths == [("error", "33", "1 error"), ("warning", "67", "2 warning"), ("warning", "33", "1 warning")]
    assert '<a href="#dtype"><code>dtype</code></a>' in by_rule


def test_breaks_bounds_and_a_map_of_files_are_drawn_where_there_is_something_to_draw(outcome: CheckResult) -> None:
    charts = check_charts(outcome, lambda file: f"at-{file.shown}")
    assert "Graphs break by" in charts
    assert '<span class="name">print</span>' in charts
    assert "Time at least on h100, by what limits it" in charts
    assert 'w75" title="memory 1.5 ms"' in charts
    assert '<span class="amount">3 MiB</span>' in charts
    assert '<a href="#at-a.py">a.py</a>' in charts
    assert '<span class="cell error" title="error">2</span>' in charts  # two of a rule are as strong as the worse one
    alone = check_charts(result(outcome.files[1]), lambda file: "")
    assert "Files × rules" not in alone  # bars say the same
    assert check_charts(result(), lambda file: "") == ""


def test_names_in_charts_stay_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    bad = finding(tmp_path / "m.py", span(0, 0, 1), rule=evil, message=evil)
    charts = check_charts(result(checked(tmp_path / "m.py", bad, shown=evil), checked(tmp_path / "n.py", bad)), str)
    assert "<script" not in charts


def test_bars_beyond_what_one_looks_at_are_left_out_and_counted() -> None:
    drawn = bars("Many", [BarRow(str(number), "1", [("part0", 1.0, "")]) for number in range(99)])
    assert drawn.count('class="name"') == 14
    assert "Many: the first 14 of 99" in drawn
    assert bars("None", []) == ""


def test_the_page_has_guards_comparisons_and_kept_files_where_the_run_made_them(
    outcome: CheckResult, tmp_path: Path
) -> None:
    (tmp_path / "debug_artifacts").mkdir()
    guards = GuardsDocument(
        schema=1, target="Model", sets=2, frames=1, calls=7, graphs=[], breaks=[], recompiles=[], eager=[],
        notes=["<b>a note</b>"], path=str(tmp_path / "a.py"),
    )  # fmt: skip
    lost = no_comparison("Model", "inductor", Performed(FileReport(str(tmp_path), FileStatus.CLEAN), ""))
    wrong = replace(lost, verdict=DiffVerdict.WRONG, why="far off")
    kept = [
        ArtifactReference(ArtifactKind.FX_GRAPHS, str(tmp_path / "debug_artifacts" / "m.graph"), 2048, "x/y"),
        ArtifactReference(ArtifactKind.STATISTICS, "/home/somebody/.cache/it/m.json", 10, "x/y"),
    ]
    made = MadeBeside((guards,), (wrong,), tuple(kept), ("artifacts were not kept: the disk is full",))
    told = replace(outcome, files=(replace(outcome.files[0], made=made), outcome.files[1]))
    shown = HtmlReport(places(tmp_path, *told.files), ShownTexts(), lambda rule: None).end(told)
    assert "Guards: a.py::Model: 0 graphs, 7 operations captured" in shown
    assert "&lt;b&gt;a note" in shown
    assert "<details open><summary>KernelDiff: Model, inductor against eager: wrong</summary>" in shown
    assert "far off" in shown
    assert '<a href="debug_artifacts/m.graph">m.graph</a>' in shown
    assert "<code>m.json</code>" in shown
    assert "somebody" not in shown  # a page is for passing on
    assert "the disk is full" in shown
    assert "KernelDiff" not in HtmlReport(places(tmp_path), ShownTexts(), lambda rule: None).end(outcome)


def test_a_wrong_comparison_fails_the_command_and_a_failed_one_more_so(tmp_path: Path) -> None:
    lost = no_comparison("Model", "inductor", Performed(FileReport(str(tmp_path), FileStatus.CLEAN), ""))

    def ended(verdict: DiffVerdict) -> ExitCode:
        made = MadeBeside(compared=(replace(lost, verdict=verdict),))
        return result(replace(checked(tmp_path / "a.py"), made=made)).exit_code()

    assert [ended(verdict) for verdict in DiffVerdict] == [0, 1, 1, 2]


def test_colours_are_the_same_for_light_dark_and_an_editor_around() -> None:
    style = pieces_style()
    for name in ("error", "warning", "information", "hint", "good", "part0", "part4"):
        assert style.count(f"--{name}: #") == 3
    assert pieces_style() in page("title", [], style)
