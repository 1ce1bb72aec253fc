"""`inductor-debug survey` at a terminal: a row for each model whatever becomes of it, kept as it comes."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Command
from fake_pool import FakePool

Write = Callable[[str, str], Path]
CLEAN = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    pass\n"
WIDE = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    x = torch.ones(2).double()\n"


@pytest.fixture
def models(write: Write) -> None:
    write("models/a.py", CLEAN)
    write("models/b.py", WIDE)
    write("models/c.py", CLEAN + "# crash\n")
    write("models/d.py", CLEAN + "# timeout\n")


def rows(project: Path, name: str = "models") -> list[dict[str, object]]:
    lines = (project / "survey" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[1:]]


@pytest.mark.usefixtures("models")
def test_every_model_has_a_row_whatever_becomes_of_it(command: Command, project: Path) -> None:
    ran = command("survey", "models", "-q", "--no-page")
    assert ran.code == 2  # two could not be analysed
    lines = ran.out.splitlines()
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["models/a.py", "yes"],
        ["models/b.py", "yes"],
        ["models/c.py", "crashed"],
        ["models/d.py", "timeout"],
    ]
    assert "dtype" in lines[2]
    assert any(line.startswith("not checked: models/c.py: ") for line in lines)
    assert "4 models, 2 checked" in lines[-1]
    assert "2 failed" in lines[-1]
    assert "torch 2.13.0" in lines[-1]
    assert [row["status"] for row in sorted(rows(project), key=lambda row: str(row["path"]))] == [
        "clean",
        "findings",
        "crashed",
        "timeout",
    ]


@pytest.mark.usefixtures("models")
def test_a_survey_that_was_cut_off_goes_on_without_doing_anything_twice(command: Command, project: Path) -> None:
    command("survey", "models", "-q", "--no-page", "--jobs", "1")
    results = project / "survey" / "models.jsonl"
    lines = results.read_text(encoding="utf-8").splitlines()
    results.write_text("\n".join(lines[:3]) + "\n" + lines[3][:50], encoding="utf-8")
    FakePool.requests.clear()
    assert command("survey", "models", "-q", "--no-page", "--resume", "--jobs", "1").code == 2
    assert [Path(request.path).name for request in FakePool.requests] == ["c.py", "d.py"]
    assert [str(row["path"]) for row in rows(project)] == [f"models/{name}.py" for name in "abcd"]


@pytest.mark.usefixtures("models")
def test_a_model_that_was_edited_is_looked_at_again(command: Command, write: Write) -> None:
    command("survey", "models", "-q", "--no-page", "--limit", "2")
    write("models/b.py", CLEAN)
    FakePool.requests.clear()
    assert command("survey", "models", "-q", "--no-page", "--limit", "2", "--resume").code == 0
    assert [Path(request.path).name for request in FakePool.requests] == ["b.py"]


@pytest.mark.usefixtures("models")
def test_results_of_other_options_are_not_gone_on_with_and_are_kept_where_one_begins_anew(
    command: Command, project: Path
) -> None:
    command("survey", "models", "-q", "--no-page")
    refused = command("survey", "models", "-q", "--no-page", "--resume", "--accelerators", "h100")
    assert refused.code == 2
    assert "--accelerators not set, and this would be with h100" in refused.err
    assert len(rows(project)) == 4
    again = command("survey", "models", "--no-page", "--limit", "1")
    assert "survey/models.previous.jsonl" in again.err
    assert len((project / "survey" / "models.previous.jsonl").read_text(encoding="utf-8").splitlines()) == 5


@pytest.mark.usefixtures("models")
def test_results_are_shown_again_in_every_format(command: Command, project: Path) -> None:
    command("survey", "models", "-q")
    page = (project / "survey" / "models.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    FakePool.requests.clear()
    kept = str(project / "survey" / "models.jsonl")
    table = list(csv.DictReader(io.StringIO(command("survey", kept, "--format", "csv").out)))
    assert [row["model"] for row in table] == [f"models/{name}.py" for name in "abcd"]
    assert [row["rule dtype"] for row in table] == ["", "1", "", ""]
    document = json.loads(command("survey", kept, "--format", "json").out)
    assert document["survey"]["models"] == 4
    assert [row["status"] for row in document["rows"]] == ["clean", "findings", "crashed", "timeout"]
    markdown = command("survey", kept, "--format", "markdown").out
    assert "| models/b.py | yes |" in markdown
    assert FakePool.requests == []


def test_of_a_long_name_the_end_is_shown(command: Command, write: Write) -> None:
    folder = "models/a_folder_whose_name_takes_more_than_there_is"
    write(f"{folder}/net.py", "import torch\n\n\nclass Net(torch.nn.Module): ...\n")
    assert command("survey", folder, "-q", "--no-page").out.splitlines()[1].startswith("…")
    assert "takes_more_than_there_is/net.py " in command("survey", folder, "-q", "--no-page").out


def test_a_suite_names_files_and_filters_take_a_few(command: Command, write: Write, project: Path) -> None:
    write("zoo/a.py", CLEAN)
    write("zoo/b.py", WIDE)
    write(
        "zoo/mine.toml",
        'schema = 1\n[[models]]\nname = "First"\nfiles = ["a.py"]\ntags = ["small"]\n[[models]]\nfiles = ["b*.py"]\n',
    )
    assert command("survey", "--suite", "zoo/mine.toml", "--filter", "small", "-q", "--no-page").code == 0
    assert [row["model"] for row in rows(project, "mine")] == ["First"]
    assert command("survey", "--suite", "zoo/mine.toml", "--filter", "b", "-q", "--no-page").code == 1
    assert [row["model"] for row in rows(project, "mine")] == ["b.py"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[models]]\nfiles = ['a.py']\n", "schema = 1 is missing"),
        ("schema = 1\n", "no [[models]]"),
        ("schema = 1\n[[models]]\nfiles = ['a.py']\ntimm = 'x'\n", "exactly one of files, transformers, timm"),
        ("schema = 1\n[[models]]\nfile = ['a.py']\n", "unknown key 'file'; did you mean 'files'?"),
        ("schema = 1\n[[models]]\nfiles = 'a.py'\n", "files must be a list of texts"),
        ("schema = 1\n[[models]]\nfiles = ['lost.py']\n", "no file is called lost.py"),
        ("schema = 1\n[[models]]\ntimm = '('\n", "timm is no regular expression: missing )"),
        ("schema = ", "mine.toml: "),
    ],
)
def test_what_is_wrong_with_a_suite_is_told_in_a_line(command: Command, write: Write, text: str, told: str) -> None:
    write("mine.toml", text)
    ran = command("survey", "--suite", "mine.toml", "-q")
    assert ran.code == 2
    assert told in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_filter_that_is_no_regular_expression_is_told(command: Command) -> None:
    ran = command("survey", "--suite", "quick", "--filter", "(")
    assert ran.code == 2
    assert "argument --filter: ( is no regular expression: missing )" in ran.err


@pytest.mark.usefixtures("models")
def test_two_interpreters_are_surveyed_and_compared_by_one_command(
    command: Command, project: Path, write: Write
) -> None:
    other = write("other/python", "").parent / "python3"
    other.symlink_to(sys.executable)
    ran = command("survey", "models", "--against", str(other), "-q")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "4 rows compared: 0 worse, 0 otherwise")
    assert len(rows(project, "models.against")) == len(rows(project)) == 4
    assert list(dict.fromkeys(FakePool.interpreters)) == [str(other), sys.executable]
    assert "0 worse" in (project / "survey" / "models.html").read_text(encoding="utf-8")
    refused = command("survey", "models", "--against", str(other), "--format", "csv")
    assert refused.code == 2
    assert "--against surveys and compares" in refused.err


def test_an_unknown_suite_and_damaged_results_are_named(command: Command, write: Write) -> None:
    assert "unknown suite 'quik'; did you mean 'quick'?" in command("survey", "--suite", "quik").err
    assert "name files or folders, or --suite: quick" in command("survey").err
    write("old.jsonl", '{"kind":"survey","schema":99}\n')
    assert "results of schema 99" in command("survey", "old.jsonl").err
    write("bad.jsonl", "{}\n")
    assert "bad.jsonl: no results of a survey" in command("survey", "bad.jsonl").err
