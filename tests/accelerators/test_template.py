"""The template of an adapter, installed by pip into an environment of its own and driven through every command.

The tool runs in another environment than the adapter, as an editor's daemon does.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zygote
from inductor_debug.accelerators.profile import built_in_names

from tests.accelerators.packages import ROOT, TEMPLATE, environment_with

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    interpreter = environment_with(TEMPLATE, tmp_path_factory.mktemp("tinychip"))
    with zygote.running_for(interpreter):
        yield interpreter


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(TEMPLATE / "model.py", tmp_path)
    return tmp_path


def run(interpreter: str, project: Path, *words: str, code: int = 0) -> str:
    """What a command prints."""
    command = [*zygote.COMMAND, *words, "--python", interpreter]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def answered(interpreter: str, project: Path, *words: str, code: int = 0) -> Any:
    """The JSON document of a command."""
    return json.loads(run(interpreter, project, *words, "--format", "json", code=code))


def expression(place: dict[str, Any]) -> str:
    lines = (TEMPLATE / "model.py").read_text().splitlines()
    start, end = place["start"], place["end"]
    return lines[start["line"]][start["character"] : end["character"]]


def test_it_is_listed(interpreter: str, project: Path) -> None:
    found = {entry["name"]: entry for entry in answered(interpreter, project, "accelerators")["accelerators"]}
    entry = found["tinychip"]
    assert (entry["kind"], entry["distribution"], entry["version"]) == ("installed", "tinychip", "0.3")
    assert entry["problem"] == ""
    assert {"layout", "compiler", "decompositions", "constraints", "artifacts", "versions", "logs"} <= {*entry["hooks"]}
    assert [*entry["rules"]] == ["tinychip/even-rows", "tinychip/short-rows"]


def test_check_judges_by_its_capabilities_and_constraints(interpreter: str, project: Path) -> None:
    words = ("check", "model.py", "--accelerator", "tinychip", "--no-cache")
    (file,) = answered(interpreter, project, *words, code=1)["files"]
    told = [(finding["rule"], expression(finding["range"])) for finding in file["findings"]]
    assert told == [
        ("tinychip/even-rows", "self.wide(x)"),
        ("dtype", "self.narrow(hidden).double()"),
        ("tinychip/even-rows", "self.narrow(hidden)"),
    ]


def test_a_comparison_for_several_accelerators_says_what_a_check_for_each_says(interpreter: str, project: Path) -> None:
    words = ("compare-accelerators", "model.py", "--accelerators", "none,tinychip")
    none, tinychip = answered(interpreter, project, *words)["columns"]
    assert none["counts"] == []
    assert {count["rule"]: count["findings"] for count in tinychip["counts"]} == {"dtype": 1, "tinychip/even-rows": 2}


def test_diff_blames_what_its_compiler_gets_wrong_and_keeps_what_it_left(interpreter: str, project: Path) -> None:
    document = answered(
        interpreter, project, "diff", "model.py", "--backend", "tinychip", "--artifacts", "kept", code=1
    )
    assert (document["backend"], document["verdict"]) == ("tinychip", "wrong")
    assert expression(document["blame"][0]["range"]) == "nn.functional.gelu(self.wide(x))"
    (listing,) = (project / "kept").rglob("*listing_0*.txt")
    assert "gelu" in listing.read_text()


def test_an_accelerator_without_a_compiler_is_compared_in_its_own_arithmetic(interpreter: str, project: Path) -> None:
    document = answered(interpreter, project, "diff", "model.py", "--backend", "tinychip2", code=1)
    assert (document["backend"], document["verdict"]) == ("tinychip2", "wrong")
    assert [expression(blamed["range"]) for blamed in document["blame"]] == ["nn.functional.gelu(self.wide(x))"]


def test_bisect_climbs_it_last_and_blames_the_back_end(interpreter: str, project: Path) -> None:
    words = ("bisect", "model.py", "--backends", "dynamo,tinychip", "--accelerator", "tinychip")
    document = answered(interpreter, project, *words, code=1)
    assert [(rung["backend"], rung["state"]) for rung in document["ladder"]] == [
        ("eager", "ok"),
        ("dynamo", "ok"),
        ("tinychip", "wrong"),
    ]
    assert (document["verdict"], document["guilty"]["op"]) == ("back-end", "gelu")


def test_repro_cuts_the_failure_out_and_proves_it_with_the_adapters_compiler(interpreter: str, project: Path) -> None:
    document = answered(interpreter, project, "repro", "model.py", "--backend", "tinychip", "-o", "script.py")
    assert document["verified"] is True
    script = (project / "script.py").read_text()
    assert "from tinychip.adapter import TinyChip" in script
    assert "backend tinychip comes with the library tinychip, which has to be installed" in script


def test_its_own_rules_have_no_script_and_say_why(interpreter: str, project: Path) -> None:
    named = ("--accelerator", "tinychip", "--rule", "tinychip/even-rows")
    document = answered(interpreter, project, "repro", "model.py", *named, code=1)
    assert "decided by code of the accelerator's adapter" in document["why"]


def test_transfers_lay_tensors_out_as_it_says(interpreter: str, project: Path) -> None:
    document = answered(interpreter, project, "transfers", "model.py", "--accelerator", "tinychip")
    rows = {row["name"]: row["layout"] for row in document["transfers"]}
    assert document["accelerator"] == "tinychip"
    assert rows["wide.bias"] is None, "vectors lie as on the host"
    assert rows["x"]["size"][-1] == 16, "a burst of 64 bytes"


def test_the_tensors_at_a_line_lie_as_it_says(interpreter: str, project: Path) -> None:
    line = next(
        number for number, text in enumerate((project / "model.py").read_text().split("\n"), 1) if "gelu(" in text
    )
    document = answered(interpreter, project, "tensors", f"model.py:{line}", "--accelerator", "tinychip")
    rows = {row["label"]: row["layout"] for row in document["rows"]}
    assert rows["wide.bias"] is None, "vectors lie as on the host"
    assert (rows["hidden"]["size"][-1], rows["wide.weight"]["size"][-1]) == (16, 16), "a burst of 64 bytes"
    assert document["memory"]["device_bytes"] > 0


def test_a_bug_report_has_its_versions_and_logs(interpreter: str, project: Path) -> None:
    words = ("bug-report", "model.py", "--accelerator", "tinychip", "--no-bisect", "--yes", "-o", "report.zip")
    run(interpreter, project, *words)
    with zipfile.ZipFile(project / "report.zip") as report:
        environment, log = report.read("environment.txt").decode(), report.read("logs/tinychip.log").decode()
        issue = report.read("ISSUE.md").decode()
    for said in (environment, issue):
        assert "tinychip firmware" in said
        assert "2026.11" in said
    assert log == "core 0 ready\ncore 1 ready\n"


def test_the_tutorial_shows_the_template_as_it_is() -> None:
    tutorial = (ROOT / "docs" / "adapters.md").read_text()
    blocks = re.findall(r"^```(?:python|toml)\n(.*?)^```$", tutorial, re.DOTALL | re.MULTILINE)
    sources = [path.read_text() for path in (TEMPLATE / "tinychip" / "adapter.py", TEMPLATE / "pyproject.toml")]
    known = "".join("".join(sources).split())
    assert len(blocks) >= 9
    for block in blocks:
        for piece in block.strip("\n").split("\n\n"):
            if not piece.startswith(("[project]", "[build-system]")):
                assert "".join(piece.split()) in known, "the tutorial shows something else than the template has"


def test_the_tutorial_shows_what_commands_print(interpreter: str, project: Path) -> None:
    tutorial = (ROOT / "docs" / "adapters.md").read_text()
    told = run(interpreter, project, "check", "model.py", "--accelerator", "tinychip", "--no-cache", code=1)
    assert told.split("\n3 findings")[0].strip() in tutorial
    listed = run(interpreter, project, "accelerators")
    own = [line for line in listed.splitlines() if line.split()[0] not in built_in_names() and "found in" not in line]
    assert [line for line in own if line.strip() not in tutorial] == []
