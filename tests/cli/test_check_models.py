"""`inductor-debug check` as a user runs it: real models, real workers, one process for each command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from zygote import COMMAND

pytestmark = pytest.mark.torch

MODEL = """\
import torch

# inductor-debug: inputs=(torch.randn(8, 64),)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)

    def forward(self, x):
        s = '🙂'; y = self.linear(x){call}
        return y + 1
"""
FILES = {
    "clean.py": MODEL.format(call=""),
    "crash.py": "import os\nprint('last words', flush=True)\nos._exit(7)\n",
    "double 日本.py": MODEL.format(call=".double()"),
    "empty.py": "",
    "loop.py": "while True:\n    pass\n",
    "raises.py": MODEL.format(call=".no_such_method()"),
    "sub/also_double.py": MODEL.format(call=".double()"),
    "syntax.py": "def f(:\n",
}
DOUBLE = "double 日本.py"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.inductor-debug]\naccelerator = "mock"\ntimeout = 3\n')
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def check(project: Path, cache: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, "check", *words],
        cwd=project,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def document(project: Path, cache: Path) -> dict[str, dict[str, object]]:
    """What a check of everything says, by file."""
    ran = check(project, cache, ".", "--include", "*", "--format", "json")
    assert ran.returncode == 2, ran.stderr.decode()
    files = json.loads(ran.stdout)["files"]
    return {file["path"]: file for file in files}


def test_every_file_gets_its_answer_whatever_the_others_do(document: dict[str, dict[str, object]]) -> None:
    assert {path: file["status"] for path, file in document.items()} == {
        "clean.py": "clean",
        "crash.py": "crashed",
        DOUBLE: "findings",
        "empty.py": "no-target",
        "loop.py": "timeout",
        "raises.py": "failed",
        os.path.join("sub", "also_double.py"): "findings",
        "syntax.py": "failed",
    }


def test_every_target_says_how_much_of_it_was_checked(document: dict[str, dict[str, object]]) -> None:
    assert {
        path: [(target["checked"], target["why"]) for target in file["targets"]]  # type: ignore[attr-defined]
        for path, file in document.items()
        if file["targets"]
    } == {
        "clean.py": [("yes", "")],
        DOUBLE: [("yes", "")],
        "raises.py": [("partly", "it ends with the error in line 10")],
        os.path.join("sub", "also_double.py"): [("yes", "")],
    }


def test_a_class_that_cannot_be_given_inputs_is_named_and_fails_only_where_it_is_required(
    tmp_path: Path, cache: Path
) -> None:
    text = (
        "import torch\nclass Net(torch.nn.Module):\n    def __init__(self, path):\n        super().__init__()\n"
        "        self.words = open(path).read()\n    def forward(self, x):\n        return x + len(self.words)\n"
    )
    (tmp_path / "model.py").write_text(text)
    ran = check(tmp_path, cache, "model.py", "--color", "never")
    assert ran.returncode == 0, ran.stderr.decode()
    first, last = ran.stdout.decode().splitlines()
    assert first.startswith("nothing was checked in model.py, ")
    assert last.startswith("0 of 1 class checked; not checked: Net (")
    assert check(tmp_path, cache, "model.py", "--require-targets").returncode == 2


def test_a_finding_has_the_exact_expression_in_utf16(document: dict[str, dict[str, object]]) -> None:
    (finding,) = document[DOUBLE]["findings"]  # type: ignore[misc]
    line = FILES[DOUBLE].splitlines()[9]
    start = len(line[: line.index("self.")].encode("utf-16-le")) // 2
    end = len(line.encode("utf-16-le")) // 2
    assert finding["rule"] == "dtype"
    assert finding["op"] == "aten._to_copy.default"
    assert finding["range"]["end"] == {"line": 9, "character": end}
    if sys.version_info >= (3, 11):  # before, Python knows no columns
        assert finding["range"]["start"] == {"line": 9, "character": start}


def test_findings_fail_the_command_and_are_drawn_under_the_expression(project: Path, cache: Path) -> None:
    ran = check(project, cache, DOUBLE, "clean.py", "--color", "never")
    assert ran.returncode == 1, ran.stderr.decode()
    lines = ran.stdout.decode().splitlines()
    assert lines[0].startswith(f"{DOUBLE}:10:")
    assert lines[2].endswith("s = '🙂'; y = self.linear(x).double()")
    if sys.version_info >= (3, 11):
        # An emoji is one character and two columns.
        assert lines[3].index("^") == lines[2].index("self.") + 1
        assert lines[3].count("^") == len("self.linear(x).double()")
    assert lines[-2].startswith("1 finding (1 warning) in 1 of 2 files, ")
    assert lines[-1] == "2 classes checked"
    assert ran.stderr == b""


def test_a_clean_model_passes_for_one_stage_and_for_another_accelerator(project: Path, cache: Path) -> None:
    ran = check(project, cache, "clean.py", "--stages", "preview", "--accelerator", "spyre", "--format", "json")
    document = json.loads(ran.stdout)
    assert document["accelerator"] == "spyre"
    assert document["tool"]["torch"]
    assert [stage["stage"] for stage in document["files"][0]["targets"][0]["stages"]] == ["preview"]


def test_an_interpreter_without_torch_is_explained(project: Path, cache: Path, tmp_path: Path) -> None:
    ran = check(project, cache, "clean.py", "--python", str(tmp_path / "no-python"))
    assert ran.returncode == 2
    assert "no-python" in ran.stdout.decode()
    assert b"Traceback" not in ran.stderr


def test_a_report_has_guards_comparisons_and_kept_files_of_real_runs(tmp_path: Path) -> None:
    text = MODEL.format(call="").replace(
        "inputs=(torch.randn(8, 64),)", "inputs=[(torch.randn(8, 64),), (torch.randn(3, 64),)]"
    )
    (tmp_path / ".git").mkdir()
    (tmp_path / "model.py").write_text(text)
    words = ["report", "model.py", "--artifacts", "project", "--compare", "aot_eager", "-o", "report.html"]
    ran = subprocess.run([*COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stderr  # it is compiled again for another batch
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "KernelDiff: Model, aot_eager against eager: pass" in page
    assert "Error over the error to expect" in page
    assert "Guards: model.py::Model: 2 graphs" in page
    assert "has size 3 in dimension 0, not 8" in page
    kept = {path.name for path in (tmp_path / "debug_artifacts").rglob("*model-Model*")}
    assert kept
    assert all(name in page for name in kept)
