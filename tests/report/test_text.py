"""The report that people read."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from inductor_debug.report.run_report import BaselineUse, CheckedFile
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.text import TextReport
from inductor_debug_schema import (
    CostBound,
    FileStatus,
    Inferred,
    Related,
    Roof,
    RunCost,
    Severity,
    Stage,
    StageReport,
    StageState,
)
from report_samples import checked, finding, places, related, result, span, span_of, target

MODEL = """\
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        y = x.double() @ self.weight
        return torch.cat(
            [y, y],
        )
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def render(folder: Path, *files: CheckedFile, colour: bool = False, verbose: bool = False) -> str:
    report = TextReport(places(folder, *files), ShownTexts(), Styler(colour), verbose=verbose)
    return "".join(report.file(file) for file in files)


def test_a_finding_shows_its_place_its_source_and_what_is_known(model: Path) -> None:
    file = checked(
        model, finding(model, span_of(MODEL, "x.double()"), related=[related(model, span_of(MODEL, "self.weight"))])
    )
    assert render(model.parent, file) == (
        "model.py:5:13: warning[dtype] float64 is not supported by mock\n"
        "   |\n"
        " 5 |         y = x.double() @ self.weight\n"
        "   |             ^^^^^^^^^^\n"
        "   = aten._to_copy.default in encoder.layer.0, covers 12 ops, target Model, seen in the run\n"
        "  model.py:5:26: note: declared here\n"
        "   |\n"
        " 5 |         y = x.double() @ self.weight\n"
        "   |                          -----------\n"
        "\n"
    )


def test_the_source_of_a_place_that_several_findings_share_is_shown_once(model: Path) -> None:
    shared = related(model, span_of(MODEL, "self.weight"))
    findings = [finding(model, span_of(MODEL, text), related=[shared]) for text in ("x.double()", "torch.cat")]
    text = render(model.parent, checked(model, *findings))
    assert text.count("note: declared here") == 2
    assert text.count("-----------") == 1
    assert render(model.parent, checked(model, *findings), verbose=True).count("-----------") == 2


def test_a_finding_without_op_module_or_source_still_reads_well(tmp_path: Path) -> None:
    gone = tmp_path / "gone.py"
    bare = finding(gone, span(0, 0, 0), op=None, module=None, count=1, target="", stage=Stage.LOAD, rule="crash")
    assert render(tmp_path, checked(gone, bare)) == ("gone.py:1:1: warning[crash] float64 is not supported by mock\n\n")


def test_columns_count_characters_not_utf16_units(tmp_path: Path) -> None:
    text = "s = '🙂🙂'; f(x)\n"
    path = tmp_path / "emoji.py"
    path.write_text(text, encoding="utf-8")
    assert render(tmp_path, checked(path, finding(path, span_of(text, "f(x)")))).startswith("emoji.py:1:11:")


def test_findings_come_in_reading_order_and_other_files_last(model: Path) -> None:
    other = model.with_name("aaa.py")
    file = checked(
        model,
        finding(other, span(0, 0, 1), message="elsewhere"),
        finding(model, span(6, 0, 1), message="third"),
        finding(model, span(4, 8, 9), message="second", severity=Severity.WARNING),
        finding(model, span(4, 8, 9), message="first", severity=Severity.ERROR),
    )
    assert re.findall(r"\] (\w+)$", render(model.parent, file), re.M) == ["first", "second", "third", "elsewhere"]


def test_further_lines_of_a_message_and_the_link_stand_below(model: Path) -> None:
    file = checked(model, finding(model, span(4, 8, 9), message="first\nsecond", link="https://example.org/page"))
    lines = render(model.parent, file).splitlines()
    assert lines[0].endswith("first")
    assert "   = second" in lines
    assert "   = see https://example.org/page" in lines


def test_a_long_message_is_a_headline_and_an_explanation(model: Path) -> None:
    explanation = "Dynamo does not know how to do this, e.g. when a builtin is called. " * 3
    file = checked(model, finding(model, span(4, 8, 9), message=f"Graph break: it cannot be traced. {explanation}"))
    lines = render(model.parent, file).splitlines()
    assert lines[0].endswith("warning[dtype] Graph break: it cannot be traced.")
    assert lines[4].startswith("   = Dynamo does not know")
    assert lines[5].startswith("     ")
    assert max(map(len, lines)) < 120


def test_many_related_places_are_cut_unless_asked_for(model: Path) -> None:
    many = [related(model, span(number, 0, 1), f"place {number}") for number in range(7)]
    file = checked(model, finding(model, span(4, 8, 9), related=many))
    brief = render(model.parent, file)
    assert brief.count("note:") == 4
    assert "3 related places more with --verbose" in brief
    assert render(model.parent, file, verbose=True).count("note:") == 7


def test_a_log_is_shown_line_by_line_and_no_source_twice(model: Path) -> None:
    area = span_of(MODEL, "x.double()")
    log = related(model, area, "The end of its log:\nfirst\nSegmentation fault")
    shown = render(model.parent, checked(model, finding(model, area, related=[log])))
    assert "  model.py:5:13: note: The end of its log:\n   | first\n   | Segmentation fault\n" in shown
    assert shown.count("x.double()") == 1


def test_verbose_shows_every_stage_of_every_target(model: Path) -> None:
    file = checked(model, targets=[target("Model"), target("Other", 9, state=StageState.FAILED)])
    shown = render(model.parent, file, verbose=True)
    assert re.search(r"Model:4 +run +done +0 +40 +0 +0\.05", shown)
    assert re.search(r"capture +done +2 +41 +1 +0\.75", shown)
    assert re.search(r"Other:10 +run +failed", shown)
    assert "capture: a device was redirected" in shown


def test_colour_paints_and_nothing_else_changes(model: Path) -> None:
    file = checked(model, finding(model, span_of(MODEL, "x.double()")))
    painted = render(model.parent, file, colour=True)
    assert "\x1b[1;33mwarning[dtype]\x1b[0m" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == render(model.parent, file)


def test_messages_cannot_send_escape_sequences(model: Path) -> None:
    file = checked(model, finding(model, span(4, 8, 9), message="\x1b[2Jgone", module="\x1b[1m"))
    assert "\x1b" not in render(model.parent, file)


def summary_of(*files: CheckedFile, **values: object) -> str:
    folder = Path("/nowhere")
    """The line that counts findings; the one after it is about coverage."""
    return TextReport(places(folder), ShownTexts(), Styler(False)).end(result(*files, **values)).splitlines()[0]


def test_the_summary_counts(model: Path) -> None:
    error = finding(model, span(0, 0, 1), severity=Severity.ERROR)
    warning = finding(model, span(0, 0, 1))
    hint = finding(model, span(0, 0, 1), severity=Severity.HINT)
    clean = checked(model)
    assert summary_of(checked(model, error, warning, warning)) == "3 findings (1 error, 2 warnings) in 1 file, 1.2 s"
    assert summary_of(checked(model, warning, hint), clean) == ("2 findings (1 warning, 1 hint) in 1 of 2 files, 1.2 s")
    assert summary_of(clean) == "no findings in 1 file, 1.2 s"
    assert summary_of(checked(model, status=FileStatus.NO_TARGET, targets=[]), clean) == (
        "no findings in 2 files, 1 file without targets, 1.2 s"
    )
    assert summary_of(checked(model, status=FileStatus.TIMEOUT, targets=[])) == (
        "nothing was checked in model.py, 1 file could not be analysed, 1.2 s"
    )


def test_the_summary_tells_what_a_baseline_did(model: Path) -> None:
    use = BaselineUse("known.json", hidden=4, fixed=1)
    assert summary_of(checked(model), baseline=use) == (
        "no findings in 1 file, 4 known to the baseline, 1 of the baseline fixed, 1.2 s"
    )
    written = BaselineUse("known.json", hidden=4, fixed=0, written=4)
    assert summary_of(checked(model), baseline=written) == (
        "no findings in 1 file, 4 findings written to known.json, 1.2 s"
    )


def test_what_several_files_find_in_one_that_they_import_is_shown_once(model: Path) -> None:
    shared = finding(model, span_of(MODEL, "x.double()"))
    files = [
        checked(
            model.with_name(f"{name}.py"), shared, finding(model.with_name(f"{name}.py"), span(0, 0, 1), rule="rank")
        )
        for name in "abcdefg"
    ]
    files[2] = checked(files[2].path, dataclasses.replace(shared, message="float16 is not supported by mock"))

    def shown(files: list[CheckedFile], *, verbose: bool = False, quiet: bool = True) -> str:
        report = TextReport(places(model.parent, *files), ShownTexts(), Styler(False), verbose=verbose, quiet=quiet)
        return "".join([*map(report.file, files), report.end(result(*files))])

    heads = [line for line in shown(files).splitlines() if line.startswith("model.py:5:13: warning[dtype]")]
    assert heads == [
        "model.py:5:13: warning[dtype] float64 is not supported by mock",
        "model.py:5:13: warning[dtype] float16 is not supported by mock",
    ]
    again = "some of them were met again through 5 more files: b.py, d.py, e.py, f.py, …: all with --verbose"
    assert shown(files).splitlines()[-1] == again
    assert shown(files).count("warning[rank]") == 6
    assert shown(files[:2]).splitlines()[-1] == "some of them were met again through 1 more file: b.py"
    assert shown(files[:2], quiet=False).splitlines()[-3].startswith("3 findings (3 warnings) in 2 files")
    assert "again" not in shown(files[:1]) + shown(files, verbose=True)
    assert shown([checked(model, shared, shared)]).count("float64 is not supported") == 2
    own = checked(model, shared)
    for several in ([own, files[0]], [files[0], own]):
        assert shown(several).count("warning[dtype] float64 is not supported") == 1
    assert "met again through 1 more file: a.py" in shown([own, files[0]])
    assert "again" not in shown([files[0], own])


@pytest.mark.parametrize("order", [1, -1])
def test_what_shows_at_one_of_its_places_through_another_file_is_the_same_cause(model: Path, order: int) -> None:
    first, second = span_of(MODEL, "x.double()"), span(6, 4, 12)
    both = finding(model, first, rule="graph-break", message="`a` cannot be traced. The same at 1 more place.")
    both = dataclasses.replace(both, cause="setattr in f", related=[Related(str(model), second, "the same here")])
    later = finding(model, second, rule="graph-break", message="`b` cannot be traced.")
    later = dataclasses.replace(later, cause="setattr in f")
    other = dataclasses.replace(later, cause="print")
    files = [checked(model.with_name("a.py"), both), checked(model.with_name("b.py"), later)][::order]
    assert len(result(*files).findings()) == 1
    assert len(result(*files, checked(model.with_name("c.py"), other)).findings()) == 2


def test_a_library_that_many_files_lack_is_told_once(tmp_path: Path) -> None:
    def lacking(name: str, module: str) -> CheckedFile:
        path = str(tmp_path / name)
        missing = finding(path, span(0, 0, 1), rule="import-error", message=f"There is no {module}.")
        return checked(path, dataclasses.replace(missing, cause=module), status=FileStatus.FAILED, targets=[])

    files = [lacking("a.py", "gym"), lacking("b.py", "gym"), lacking("c.py", "scipy")]
    report = TextReport(places(tmp_path, *files), ShownTexts(), Styler(False))
    text = "".join([*map(report.file, files), report.end(result(*files))])
    assert (text.count("There is no gym."), text.count("There is no scipy.")) == (1, 1)
    assert "2 findings" in text


def test_what_a_package_lacks_of_itself_is_told_once_whatever_it_is_called(tmp_path: Path) -> None:
    package = str(tmp_path / "package.py")
    names = ["package.missing", "folder.package.missing"]
    found = [finding(package, span(0, 0, 1), rule="import-error", message=f"There is no {name}.") for name in names]
    files = [
        checked(str(tmp_path / f"{index}.py"), one, status=FileStatus.FAILED, targets=[])
        for index, one in enumerate(found)
    ]
    report = TextReport(places(tmp_path, *files), ShownTexts(), Styler(False))
    text = "".join([*map(report.file, files), report.end(result(*files))])
    assert (text.count("There is no"), text.count("1 finding")) == (1, 1)


def test_what_torch_logged_stands_below_the_stage_that_it_came_from(model: Path) -> None:
    """With what is different in each line of what torch puts before it."""
    log = (
        "V1126 16:52:59.163000 1234 lib/torch/_dynamo/graph.py:5124] [0/0] [__graph_breaks] Graph break\n"
        "V1126 16:52:59.163000 1234 lib/torch/_dynamo/graph.py:5124] [0/0] [__graph_breaks]   x\x1b[31m = 1\n"
    )
    stages = [StageReport(Stage.PREVIEW, StageState.DONE, 0.1), StageReport(Stage.MOCK, StageState.DONE, 0.1, log=log)]
    told = target()
    file = checked(model, targets=[dataclasses.replace(told, stages=stages)])
    assert render(model.parent, file, verbose=True).splitlines()[4:7] == [
        f"  {told.name}, capture, logged by torch:",
        "    V graph.py:5124] [0/0] [__graph_breaks] Graph break",
        "    V graph.py:5124] [0/0] [__graph_breaks]   x␛[31m = 1",
    ]
    assert "logged" not in render(model.parent, file)


def test_of_one_file_for_a_card_is_told_what_each_target_takes_there_at_least(model: Path) -> None:
    total = CostBound(ops=3, bytes_read=8, bytes_written=8, crossing_bytes=16, operations=9, seconds=2e-3)
    total = dataclasses.replace(total, limited_by=Roof.MEMORY)
    run = RunCost(
        accelerator="rtx-4090", total=total, by_roof={"memory": 1.5e-3, "compute": 0.5e-3}, peak_bytes=3 << 30
    )
    stages = [StageReport(Stage.MOCK, StageState.DONE, 0.5, cost=dataclasses.replace(run, backward=False))]
    file = checked(model, targets=[dataclasses.replace(target("GPT"), stages=stages)], explicit=True)

    def end(*files: CheckedFile) -> str:
        return TextReport(places(model.parent), ShownTexts(), Styler(False)).end(result(*files))

    needs = "3 GiB of memory without what a backward pass keeps"
    line = f"GPT, forward pass: at least 2 ms on rtx-4090 (memory 75%), {needs}"
    assert line in end(file).splitlines()
    assert "`inductor-debug analyze --type cost`" in end(file)
    assert "at least" not in end(file, checked(model.with_name("other.py")))
    assert "at least" not in end(checked(model, explicit=True))
    inferred = dataclasses.replace(file.report.targets[0], inferred=Inferred("idx i64[b, t]"))
    guessed = checked(model, targets=[inferred], explicit=True)
    assert f"GPT, forward pass with small inferred inputs: at least 2 ms on rtx-4090 (memory 75%), {needs}" in end(
        guessed
    )
