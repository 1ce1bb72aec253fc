"""`inductor-debug check` from words to exit code, over the real engine and a pool without processes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from commands import Command
from fake_pool import FakePool
from inductor_debug_schema import Stage

DOUBLE = "y = x.double()\ndef get_inputs(): ...\n"
CLEAN = "y = x.half()\ndef get_inputs(): ...\n"
Write = Callable[[str, str], Path]


def test_a_finding_is_shown_with_its_source_and_fails_the_command(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    ran = command("check", "model.py")
    assert ran.code == 1
    assert ran.out.startswith(
        "model.py:1:1: warning[dtype] .double() is not supported\n   |\n 1 | y = x.double()\n   | ^^^^^^^^^^^^^^\n"
    )
    assert ran.out.splitlines()[-2].startswith("1 finding (1 warning) in 1 file, ")
    assert ran.err == ""


def test_for_language_models_a_finding_is_a_line(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    ran = command("check", "model.py", "--format", "llm")
    first, *others = ran.out.splitlines()
    assert first.startswith("model.py:1:1 warning dtype | y = x.double() | .double() is not supported")
    assert others[-1].startswith("1 finding (1 warning) in 1 file")
    assert ran.err == ""


def test_a_clean_file_passes(command: Command, write: Write) -> None:
    write("model.py", CLEAN)
    ran = command("check", "model.py")
    assert ran.code == 0
    assert ran.out.startswith("no findings in 1 file, ")


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        (DOUBLE, ["--strict"], 1),
        (DOUBLE, ["--warn"], 0),
        ("y = x.double()  # and a graph break\n", ["--warn"], 0),
        ("y = x  # int64\n", [], 0),
        ("y = 1  # no target\n", [], 0),
        ("y = 1  # raise\n", [], 2),
        ("y = 1  # raise\n", ["--warn"], 2),
        ("y = 1  # crash\n", [], 2),
        ("y = 1  # timeout\n", [], 2),
        ("def f(:\n", [], 2),
    ],
)
def test_exit_codes(command: Command, write: Write, text: str, words: list[str], code: int) -> None:
    write("model.py", text)
    assert command("check", "model.py", *words).code == code


def test_a_report_is_a_check_with_a_page(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    ran = command("report", "model.py", "-o", "report.html")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("inductor-debug: 1 finding (1 warning) in 1 file, ")
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "y = x.double()" in page
    assert "A tensor has a dtype that the accelerator does not support." in page
    document = json.loads(command("report", "model.py", "--format", "json").out)
    assert document["summary"]["findings"] == 1


def test_a_comparison_goes_into_a_page_on_this_machine_alone(command: Command, write: Write) -> None:
    write("model.py", "y = 1\n")
    refused = command("check", "model.py", "--compare", "inductor")
    assert (refused.code, refused.out) == (2, "")
    assert "--compare goes into the page: --format html" in refused.err
    refused = command("report", "model.py", "--compare", "inductor", "--cluster", "local")
    assert refused.code == 2
    assert "--compare runs models on this machine" in refused.err
    refused = command("report", "model.py", "--compare", "mine.toml")
    assert refused.code == 2
    assert "mine.toml" in refused.err


def test_a_page_names_what_was_kept_and_why_nothing_was_compared(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    ran = command("report", "model.py", "--artifacts", "project", "--compare", "inductor", "-o", "report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    assert ran.code == 2  # a comparison of which nothing came is no pass
    assert "KernelDiff: Model, inductor against eager: failed" in page
    assert "of this run (inductor-debug list names all that are kept)" in page
    assert 'href="debug_artifacts/' in page


def test_strict_makes_constraint_violations_errors_and_nothing_else(command: Command, write: Write) -> None:
    write("model.py", "y = x.double()\nz = y  # graph break\n")
    out = command("check", "model.py", "--strict").out
    assert "error[dtype]" in out
    assert "warning[graph-break]" in out


def test_a_named_file_without_targets_is_mentioned(command: Command, write: Write) -> None:
    write("model.py", "x = 1  # no target\n")
    ran = command("check", "model.py")
    assert ran.code == 0
    assert "model.py: nothing in it to compile" in ran.err
    assert command("check", "model.py", "--quiet").err == ""


def test_a_named_file_whose_classes_cannot_be_given_inputs_says_why(command: Command, write: Write) -> None:
    write("model.py", "x = 1  # no inputs\n")
    ran = command("check", "model.py")
    assert ran.code == 0
    assert ran.out.splitlines()[0].startswith("nothing was checked in model.py, ")
    assert ran.out.splitlines()[1] == "0 of 1 target checked; not checked: Model (Inputs could not be inferred)"
    assert "no findings" not in ran.out
    assert ran.err == ""


def test_classes_that_were_not_checked_fail_a_check_that_requires_them(command: Command, write: Write) -> None:
    write("model.py", "x = 1  # no inputs\n")
    assert command("check", "model.py", "--require-targets").code == 2
    write("pyproject.toml", "[tool.inductor-debug]\nrequire_targets = true\n")
    assert command("check", "model.py").code == 2
    write("model.py", CLEAN)
    assert command("check", "model.py", "--require-targets").code == 0


def test_a_folder_with_files_without_targets_is_no_error(command: Command, write: Write) -> None:
    write("pkg/empty.py", "import torch\ndef get_inputs(): ...  # no target\n")
    write("pkg/model.py", DOUBLE)
    ran = command("check", "pkg")
    assert ran.code == 1
    assert ran.err == ""
    assert "1 finding (1 warning) in 1 of 2 files, 1 file without targets" in ran.out


def test_an_empty_folder_is_mentioned_and_passes(command: Command, project: Path) -> None:
    (project / "empty").mkdir()
    ran = command("check", "empty")
    assert ran.code == 0
    assert "no Python files in empty" in ran.err


def test_results_come_in_the_order_of_the_files(command: Command, write: Write) -> None:
    for number in range(9):
        write(f"m{number}.py", DOUBLE)
    out = command("check", "m8.py", ".", "--jobs", "4").out
    order = [line.split(":")[0] for line in out.splitlines() if "warning[" in line]
    assert order == ["m8.py", *(f"m{number}.py" for number in range(8))]


@pytest.mark.parametrize("name", ["with space.py", "müdel 日本.py", "--odd.py", "a:b.py", "100%.py"])
def test_odd_names(command: Command, write: Write, name: str) -> None:
    write(name, DOUBLE)
    ran = command("check", "--", name)
    assert ran.code == 1
    assert ran.out.startswith(f"{name}:1:1: warning[dtype]")
    for format_name in ("json", "sarif", "github", "junit"):
        assert command("check", "--format", format_name, "--", name).code == 1


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "no findings"),
        (b"\x00\x01\x02ELF", "binary"),
        (b"\n\nx = '\xff'\n", "0xff"),
        (b"def f(:\n", "syntax-error"),
        (b"# -*- coding: no-such-coding -*-\n", "encoding"),
    ],
)
def test_files_that_are_no_python_are_explained(command: Command, project: Path, content: bytes, part: str) -> None:
    (project / "odd.py").write_bytes(content)
    ran = command("check", "odd.py")
    assert ran.code == (0 if not content else 2)
    assert part in ran.out
    assert "ELF" not in ran.out  # nobody wants to read a binary file


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["gone.py"], "gone.py does not exist"),
        (["a\nb\x1b.py"], r"a\nb\x1b.py does not exist"),
        (["model.py", "--accelerator", "abacus"], "abacus"),
        (["model.py", "--accelerator", "gone.toml"], "gone.toml"),
        (["model.py", "--baseline", "gone.json"], "cannot read the baseline gone.json"),
        (["model.py", "--output", "gone/out.txt"], "cannot write gone/out.txt"),
        (["model.py", "--output", "."], "cannot write .: it is a folder"),
        (["model.py", "--write-baseline", "gone/known.json"], "cannot write gone/known.json"),
        (["model.py", "--config", "gone.toml"], "gone.toml"),
        (["model.py", "--stages", "mock,deep"], "unknown stage 'deep'"),
        (["model.py", "--stages", ","], "no stage named"),
        (["model.py", "--jobs", "0"], "'0' is not a number of at least 1"),
        (["model.py", "--timeout", "soon"], "'soon' is not a positive number of seconds"),
        (["model.py", "--timeout", "inf"], "'inf' is not a positive number"),
        (["model.py", "--strict", "--warn"], "not allowed with"),
        (["model.py", "--entry", "build("], "'build(' is not a Python expression"),
        (["model.py", "other.py", "--entry", "build()"], "name that file alone"),
        ([".", "--entry", "build()"], "name that file alone"),
        (["model.py", "--format", "xml"], "invalid choice"),
        (["model.py", "--verb"], "unrecognized arguments"),
        ([], "required"),
    ],
)
def test_bad_usage_is_told_in_a_line_and_runs_nothing(
    command: Command, write: Write, words: list[str], complaint: str
) -> None:
    write("model.py", DOUBLE)
    ran = command("check", *words)
    assert ran.code == 2
    assert ran.out == ""
    assert complaint in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err
    assert FakePool.started == []


def test_a_folder_that_is_gone_under_ones_feet(command: Command, write: Write, project: Path) -> None:
    model = write("model.py", DOUBLE)
    (project / "gone").mkdir()
    os.chdir(project / "gone")
    (project / "gone").rmdir()
    ran = command("check", str(model))
    assert ran.code == 2
    assert "does not exist any more" in ran.err


def test_a_mistake_in_the_configuration_names_file_line_and_key(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    write("pyproject.toml", "[tool.inductor-debug]\naccelerator = 'mock'\ntimeout = 'soon'\n")
    ran = command("check", "model.py")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "pyproject.toml:3: tool.inductor-debug.timeout: must be a number" in ran.err


def test_the_command_line_outweighs_the_project(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    write("pyproject.toml", "[tool.inductor-debug]\nstages = ['preview', 'mock']\naccelerator = 'spyre'\n")
    ran = command("check", "model.py", "--stages", "preview", "--accelerator", "mock", "--format", "json")
    assert json.loads(ran.out)["accelerator"] == "mock"
    assert FakePool.requests[0].stages == [Stage.PREVIEW]


def test_a_profile_of_ones_own_is_called_by_its_name(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    write("profiles/mine.toml", (files("inductor_debug.accelerators") / "profiles" / "mock.toml").read_text())
    write("profiles/mine.toml", Path("profiles/mine.toml").read_text().replace('name = "mock"', 'name = "mine"'))
    ran = command("check", "model.py", "--accelerator", "profiles/mine.toml", "--format", "json")
    assert json.loads(ran.out)["accelerator"] == "mine"


def test_a_relative_interpreter_is_relative_to_where_the_user_is(
    command: Command, write: Write, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("pkg/model.py", DOUBLE)
    monkeypatch.chdir(project / "pkg")
    command("check", "model.py", "--python", "env/bin/python")
    command("check", "model.py", "--python", "python3.99")
    assert FakePool.interpreters == [str(project / "pkg" / "env/bin/python"), "python3.99"]


def test_what_the_project_excludes_is_left_out_of_folders(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    write("old/legacy.py", DOUBLE)
    write("pyproject.toml", "[tool.inductor-debug]\nexclude = ['old']\n")
    assert "in 1 file," in command("check", ".").out
    assert "in 1 file," in command("check", "old/legacy.py").out
    assert "old/legacy.py" in command("check", ".", "--exclude", "model.py").out


def test_a_known_finding_does_not_fail_and_a_new_one_does(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    written = command("check", ".", "--write-baseline", "known.json")
    assert written.code == 0
    assert "1 finding written to known.json" in written.out
    assert command("check", ".", "--baseline", "known.json").code == 0
    write("model.py", "\n" + DOUBLE + "z = w.double()\n")
    ran = command("check", ".", "--baseline", "known.json")
    assert ran.code == 1
    assert "model.py:4:1" in ran.out
    assert "model.py:2:1" not in ran.out
    assert "1 known to the baseline" in ran.out


def test_a_fixed_finding_is_reported(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    command("check", ".", "--write-baseline", "known.json")
    write("model.py", CLEAN)
    ran = command("check", ".", "--baseline", "known.json")
    assert ran.code == 0
    assert "1 of the baseline fixed" in ran.out


def test_a_baseline_can_be_renewed_in_place(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    command("check", ".", "--write-baseline", "known.json")
    write("other.py", DOUBLE)
    renewed = command("check", ".", "--baseline", "known.json", "--write-baseline", "known.json")
    assert renewed.code == 0
    assert command("check", ".", "--baseline", "known.json").code == 0


def test_a_crash_is_never_known(command: Command, write: Write) -> None:
    write("model.py", CLEAN + "# crash\n")
    assert command("check", ".", "--write-baseline", "known.json").code == 2
    ran = command("check", ".", "--baseline", "known.json")
    assert ran.code == 2
    assert "error[crash]" in ran.out


def test_a_broken_baseline_is_not_overwritten(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    broken = write("known.json", "<<<<<<< HEAD\n")
    ran = command("check", ".", "--write-baseline", "known.json")
    assert ran.code == 2
    assert "known.json:1:1: not a baseline" in ran.err
    assert broken.read_text() == "<<<<<<< HEAD\n"
    assert FakePool.started == []


def test_a_failure_can_be_known_too(command: Command, write: Write) -> None:
    write("model.py", "y = 1  # raise\n")
    assert command("check", ".", "--write-baseline", "known.json").code == 0
    assert command("check", ".", "--baseline", "known.json").code == 0


def test_the_output_file_is_whole_and_the_terminal_gets_the_summary(
    command: Command, write: Write, project: Path
) -> None:
    write("model.py", DOUBLE)
    ran = command("check", "model.py", "--format", "json", "--output", "out.json")
    assert ran.out == ""
    assert "1 finding (1 warning) in 1 file" in ran.err
    assert json.loads((project / "out.json").read_text())["summary"]["findings"] == 1
    assert [path.name for path in project.iterdir() if path.name.endswith(".tmp")] == []


def test_json_names_the_versions_that_ran_the_models(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    document = json.loads(command("check", "model.py", "--format", "json").out)
    assert document["tool"]["torch"] == "2.13.0"
    assert document["tool"]["python"] == "3.11.2"
    finding = document["files"][0]["findings"][0]
    assert finding["path"] == "model.py"
    assert len(finding["fingerprint"]) == 16


def test_sarif_paths_are_relative_to_the_repository(
    command: Command, write: Write, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("pkg/model.py", DOUBLE)
    monkeypatch.chdir(project / "pkg")
    run = json.loads(command("check", "model.py", "--format", "sarif").out)["runs"][0]
    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "pkg/model.py", "uriBaseId": "%SRCROOT%"}
    assert run["tool"]["driver"]["rules"][0]["help"]["markdown"].startswith("# dtype")


def test_colour_on_demand_only(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    assert "\x1b[" not in command("check", "model.py").out
    assert "\x1b[" in command("check", "model.py", "--color", "always").out


def test_verbose_shows_the_stages(command: Command, write: Write) -> None:
    write("model.py", CLEAN)
    out = command("check", "model.py", "--verbose").out
    assert "  run  " in out
    assert "  capture  " in out


def test_quiet_shows_findings_only(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    ran = command("check", "model.py", "--quiet")
    assert "warning[dtype]" in ran.out
    assert "1 finding (" not in ran.out


def test_nothing_is_left_running(command: Command, write: Write) -> None:
    write("model.py", DOUBLE)
    command("check", "model.py")
    assert FakePool.closed == 1


def test_our_own_fault_costs_one_file_and_not_the_others(
    command: Command, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.py", DOUBLE)
    write("b.py", DOUBLE)
    real = FakePool.run

    async def run(self: FakePool, request: object, *rest: object, **named: object) -> object:
        if str(getattr(request, "path", "")).endswith("a.py"):
            raise ZeroDivisionError("ours")
        return await real(self, request, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(FakePool, "run", run)
    ran = command("check", "a.py", "b.py")
    assert ran.code == 2
    assert "ours" in ran.out
    assert "b.py:1:1: warning[dtype]" in ran.out


def test_files_of_a_folder_that_need_not_run_are_not_opened(command: Command, write: Write) -> None:
    write("model.py", CLEAN)
    write("setup.py", "from setuptools import setup\nsetup()\n")
    write("tests/test_model.py", DOUBLE)
    write("notes.py", "x = 1\n")
    ran = command("check", ".")
    assert ran.code == 0
    assert [Path(path).name for path in FakePool.started] == ["model.py"]
    assert "no findings in 1 file, 3 files not opened" in ran.out
    assert "\n3 files not opened: 1 test, 1 set-up, 1 without torch; --verbose lists them" in ran.out
    assert "  tests/test_model.py: a test\n" in command("check", ".", "--verbose").out
    document = json.loads(command("check", ".", "--format", "json").out)
    assert {(file["path"], file["reason"]) for file in document["skipped"]} == {
        ("setup.py", "set-up"), ("tests/test_model.py", "test"), ("notes.py", "without-torch"),
    }  # fmt: skip
    log = json.loads(command("check", ".", "--format", "sarif").out)
    notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert "tests/test_model.py was not opened: a test" in [note["message"]["text"] for note in notes]
    assert "without torch" in command("report", ".").out


def test_a_file_that_is_named_or_included_is_opened(command: Command, write: Write) -> None:
    write("tests/test_model.py", DOUBLE)
    assert command("check", "tests/test_model.py").code == 1
    assert command("check", ".").code == 0
    assert command("check", ".", "--include", "test_*.py").code == 1
    write("pyproject.toml", "[tool.inductor-debug]\ninclude = ['tests/*']\n")
    assert command("check", ".").code == 1


def test_what_code_may_do_arrives_at_the_worker(command: Command, write: Write) -> None:
    write("model.py", CLEAN)
    command("check", "model.py")
    assert FakePool.requests[-1].allow == []
    command("check", "model.py", "--allow", "network", "--allow", "write")
    assert FakePool.requests[-1].allow == ["network", "write"]
    write("pyproject.toml", "[tool.inductor-debug]\nallow = ['subprocess']\n")
    command("check", "model.py")
    assert FakePool.requests[-1].allow == ["subprocess"]
    write("pyproject.toml", "[tool.inductor-debug]\nallow = ['netwrok']\n")
    ran = command("check", "model.py")
    assert ran.code == 2
    assert "network" in ran.err


def test_entries_and_the_main_program_arrive_at_the_worker(command: Command, write: Write) -> None:
    write("model.py", CLEAN)
    command("check", "model.py")
    assert (FakePool.requests[-1].entries, FakePool.requests[-1].follow_main) == ([], False)
    command("check", "model.py", "--entry", "build(2)", "--follow-main", "--argv", "--name 'a b' -v")
    request = FakePool.requests[-1]
    assert [entry.expression for entry in request.entries] == ["build(2)"]
    assert (request.follow_main, request.argv) == (True, ["--name", "a b", "-v"])
    command("check", "model.py", "--argv", "--layers=2", "--quiet")
    assert FakePool.requests[-1].argv == ["--layers=2"]
    assert command("check", "model.py", "--argv").code == 2


def test_a_notebook_is_checked_where_it_is_named_and_refused_where_it_is_none(command: Command, write: Write) -> None:
    code = {"cell_type": "code", "source": ["%matplotlib inline\n", "x = 1\n"]}
    write("models.ipynb", json.dumps({"cells": [code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    command("check", "models.ipynb")
    assert FakePool.requests[-1].text.endswith("pass\nx = 1\n\n")
    write("broken.ipynb", "{}")
    ran = command("check", "broken.ipynb")
    assert ran.code == 2
    assert "broken.ipynb:1:1: error[unreadable] The file is no notebook: there are no cells in it." in ran.out
    FakePool.requests.clear()
    command("check", ".")
    assert FakePool.requests == [], "folders mean Python files"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("text", "models.ipynb: cell 2, line 3: warning[dtype]"),
        ("json", '"number": 2'),
        ("html", "models.ipynb: cell 2, line 3"),
        ("junit", "models.ipynb: cell 2, line 3: warning[dtype]"),
        ("github", "::cell 2, line 3: "),
        ("sarif", '"text": "cell 2, line 3: '),
    ],
)
def test_findings_of_a_notebook_are_told_by_cell_and_line(command: Command, write: Write, form: str, said: str) -> None:
    cells = [
        {"cell_type": "markdown", "source": "# A model"},
        {"cell_type": "code", "source": "%matplotlib inline\nimport torch\ny = x.double()"},
    ]
    write("models.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert said in command("check", "models.ipynb", "--format", form).out


def test_an_unchanged_file_runs_once(command: Command, write: Write) -> None:
    write("model.py", "x.double()\n")
    first = command("check", "model.py", "--format", "json")
    assert command("check", "model.py", "--format", "json").out.count("double") == first.out.count("double")
    assert len(FakePool.requests) == 1
    command("check", "model.py", "--no-cache")
    assert len(FakePool.requests) == 2
    write("helper.py", "x = 1\n")
    command("check", "model.py")
    assert len(FakePool.requests) == 3


@pytest.mark.parametrize(("words", "times"), [([], 1), (["--quiet"], 0), (["--format", "json"], 1)])
def test_a_torch_that_was_never_tried_is_remarked_on_once(
    command: Command, write: Write, monkeypatch: pytest.MonkeyPatch, words: list[str], times: int
) -> None:
    monkeypatch.setattr(FakePool, "torch_version", "2.99.0")
    write("model.py", DOUBLE)
    write("other.py", CLEAN)
    ran = command("check", "model.py", "other.py", *words)
    assert ran.code == 1
    assert ran.err.count("torch 2.99.0 is newer than any that inductor-debug was tried with") == times


@pytest.mark.parametrize(("words", "asked"), [(["-v"], True), (["--format", "json"], True), ([], False)])
def test_what_torch_logs_is_asked_for_where_it_is_shown(
    command: Command, write: Write, monkeypatch: pytest.MonkeyPatch, words: list[str], asked: bool
) -> None:
    monkeypatch.setenv("TORCH_LOGS", "graph_breaks")
    write("model.py", "fine\n")
    command("check", "model.py", "--no-cache", *words)
    assert FakePool.requests[-1].torch_logs == ("graph_breaks" if asked else "")
