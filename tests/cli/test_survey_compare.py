"""`inductor-debug survey compare`: finds what was planted, and nothing between two equal runs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Command

WIDE = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    x = torch.ones(2).double()\n"


@pytest.fixture
def results(command: Command, write: Callable[[str, str], Path], project: Path) -> Path:
    for name in "abcd":
        write(f"models/{name}.py", WIDE)
    command("survey", "models", "-q", "--no-page")
    path = project / "survey" / "models.jsonl"
    return changed(path, "old", lambda row: row.update(measured=[measured(row["model"], 1.0)]))


def measured(name: str, factor: float, seed: int = 0) -> dict[str, Any]:
    chance = random.Random(f"{name}{seed}")
    machine = chance.uniform(0.7, 1.5)  # a slower machine slows both
    one = {
        "schema": 1,
        "target": "Net",
        "measured_backend": "inductor",
        "training": False,
        "device": "cpu",
        "threads": 2,
    }
    times = [[machine * part * chance.uniform(0.9, 1.1) for _ in range(20)] for part in (0.01 * factor, 0.02)]
    cold = [{"seconds": 10.0 * chance.uniform(0.9, 1.1), "phases": {}}]
    sides = {"seconds": times[0], "eager_seconds": times[1], "cold": cold, "warm": [], "problem": ""}
    return {**one, **sides, "peak_bytes": None, "eager_peak_bytes": None}


def changed(path: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        change(row)
    made = path.with_name(f"{name}.jsonl")
    made.write_text("\n".join([header, *map(json.dumps, rows)]) + "\n", encoding="utf-8")
    return made


def test_two_equal_runs_differ_in_nothing(command: Command, results: Path) -> None:
    again = changed(results, "new", lambda row: row.update(measured=[measured(row["model"], 1.0, seed=1)]))
    ran = command("survey", "compare", str(results), str(again), "--fail-on-regressions")
    assert ran.code == 0
    assert "4 rows compared: 0 worse, 0 otherwise" in ran.out


def test_results_of_another_version_are_read_as_far_as_this_one_knows_them(command: Command, results: Path) -> None:
    def later(row: dict[str, Any]) -> None:
        row.update(stage="holographic", aura={"colour": "blue"})

    new = changed(results, "new", later)
    ours = command("survey", "compare", str(results), str(new))
    assert ours.code == 2
    assert "damaged, or not ours" in ours.err
    header, *rows = new.read_text(encoding="utf-8").splitlines()
    new.write_text("\n".join([json.dumps({**json.loads(header), "version": "99.0", "mood": 1}), *rows]) + "\n", "utf-8")
    theirs = command("survey", "compare", str(results), str(new))
    assert theirs.code == 0
    assert "4 rows compared" in theirs.out


def test_what_was_planted_is_found_and_nothing_else(command: Command, results: Path) -> None:
    def plant(row: dict[str, Any]) -> None:
        slower = 1.4 if row["model"] == "models/b.py" else 1.0
        row["measured"] = [measured(row["model"], slower, seed=1)]
        if row["model"] == "models/c.py":
            row["breaks"] = 2
        if row["model"] == "models/d.py":
            row["findings"] = []

    new = changed(results, "new", plant)
    ran = command("survey", "compare", str(results), str(new), "--fail-on-regressions")
    assert ran.code == 1
    assert [line.partition(" (")[0] for line in ran.out.splitlines()[:3]][1:] == [
        "worse: models/c.py: graph breaks: 2, before 0",
        "otherwise: models/d.py: warning dtype: 0, before 1",
    ]
    assert ran.out.startswith("worse: models/b.py: inductor, speed-up against eager: -")
    assert "4 rows compared: 2 worse, 1 otherwise" in ran.out
    assert command("survey", "compare", str(results), str(new)).code == 0
    page = command("survey", "compare", str(results), str(new), "--format", "html").out
    assert "4 rows compared: 2 worse, 1 otherwise" in page
    assert len(json.loads(command("survey-compare", str(results), str(new), "--format", "json").out)["changes"]) == 3


def test_one_operation_more_among_thousands_is_found(command: Command, results: Path) -> None:
    def with_ops(count: int, seconds: float) -> Callable[[dict[str, Any]], None]:
        return lambda row: row["columns"][0].update(ops=count, seconds_at_least=seconds)

    old = changed(results, "few", with_ops(4000, 0.3))
    new = changed(results, "more", with_ops(4001, 0.1 + 0.2))
    told = command("survey", "compare", str(old), str(new)).out
    assert told.startswith("worse: models/a.py: ops: 4,001, before 4,000\n")
    assert "4 rows compared: 4 worse, 0 otherwise" in told


def test_rows_of_one_survey_alone_are_named(command: Command, results: Path) -> None:
    lines = results.read_text(encoding="utf-8").splitlines()
    less = results.with_name("less.jsonl")
    less.write_text("\n".join(lines[:4]) + "\n", encoding="utf-8")
    assert "only before: models/d.py" in command("survey", "compare", str(results), str(less)).out
