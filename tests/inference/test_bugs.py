"""A sample of what `inductor-debug bench bugs` measures whole: which single mistakes in real models are found."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import breadth
import pytest
from forked import in_child
from inductor_debug.repro.minimiser.attempts import attempt
from inductor_debug_benchmarks.bugs import figures, mutant_results, mutant_runs
from inductor_debug_benchmarks.corpus import folder_cases, written_cases
from inductor_debug_benchmarks.processes.other_inputs import BrokenMutant, sound_with
from inductor_debug_benchmarks.processes.true_runs import AuthorsCall

pytestmark = pytest.mark.torch

CLASSES = breadth.some_of(["CrossAttention", "VariationalAutoencoder", "LeNet", "SentimentGru"], every=2)
BY_EDIT, FRESH = figures.BY_EDIT, figures.FRESH
"""What the benchmark promises."""

MODEL = """import torch
from torch import nn


def get_inputs():
    return [torch.randn(3, 24)]


class Model(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.inner, self.outer = nn.Linear(width, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.outer(self.inner(x))
"""

ATTENTION = """import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_query, self.to_key = nn.Linear(24, 16), nn.Linear(24, 16)
        self.start = nn.Linear(24, 16)

    def forward(self, x, mask=None):
        '''x: (batch, seq, 24)'''
        scores = self.to_query(x) @ self.to_key(x).transpose(1, 2)
        if mask is not None:
            scores = scores + mask
        return scores.softmax(-1) @ self.start(x)
"""


def rows_of_children(module: str, name: str, items: list[Any], order: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """As `rows_by`, without processes that import torch first."""
    measured = importlib.import_module(module).measured
    for item in items:
        row, _ = in_child(functools.partial(measured, item, order["profile"]))
        yield row


@pytest.mark.broad
def test_a_sample_of_mistakes_is_found_and_sound_classes_are_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant_runs, "rows_by", rows_of_children)
    chosen = [case for case in written_cases(Path(__file__).parent) if case.name in CLASSES]
    found = mutant_runs.measure(chosen, sample=2 * len(CLASSES))
    assert [(item.problem, item.false) for item in found.classes] == [("", [])] * len(CLASSES)
    breaking = [item for item in found.mutants if item.truth == "breaks"]
    assert len(breaking) == 2 * len(CLASSES)
    said = "\n".join(figures.misses(breaking))
    assert sum(item.edit.where == mutant_results.FOUND for item in breaking) >= BY_EDIT * len(breaking), said
    assert sum(item.fresh.where == mutant_results.FOUND for item in breaking) >= FRESH * len(breaking), said


def test_a_folder_of_files_is_measured_without_its_inputs_being_seen(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (case,) = folder_cases(tmp_path)
    assert "get_inputs" not in case.text
    assert case.text.count("\n") == MODEL.count("\n")
    found = mutant_runs.measure([case], sample=1)
    assert [(item.name, item.problem, item.false) for item in found.classes] == [("model.Model", "", [])]
    assert [item.truth for item in found.mutants] == ["breaks"]


def test_what_was_measured_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.setattr(mutant_runs, "rows_by", rows_of_children)
    cases, file = folder_cases(tmp_path), tmp_path / "rows.jsonl"
    first = mutant_runs.measure(cases, sample=1, kept=mutant_results.KeptResults(file))
    asked: list[Any] = []

    def nobody(module: str, name: str, items: list[Any], order: dict[str, Any]) -> list[Any]:
        asked.extend(items)
        return []

    monkeypatch.setattr(mutant_runs, "rows_by", nobody)
    with file.open("a", encoding="utf-8") as stream:
        stream.write('{"key": "cut o')
    assert mutant_runs.measure(cases, sample=1, kept=mutant_results.KeptResults(file)) == first
    assert asked == []
    mutant_runs.measure(cases, sample=2, kept=mutant_results.KeptResults(file))
    assert len(asked) == 1


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"rows": 1}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="no row of `bench bugs`"):
        mutant_results.KeptResults(tmp_path / "rows.jsonl")


@pytest.mark.parametrize(
    ("text", "old", "new", "sound"),
    [
        pytest.param(MODEL, "nn.Linear(width,", "nn.Linear(width + 1,", "float32[3, 25]", id="another first layer"),
        pytest.param(MODEL, "nn.Linear(8, 2)", "nn.Linear(9, 2)", "", id="layers that contradict each other"),
        pytest.param(ATTENTION, ".transpose(1, 2)", "", "", id="one length only"),
        pytest.param(ATTENTION, "if mask is not None:", "if True:", "", id="a default that does not run"),
        pytest.param(ATTENTION, "nn.Linear(24, 16)", "nn.Linear(25, 16)", "", id="layers beside each other"),
        pytest.param(
            ATTENTION.replace("x: (batch, seq, 24)", ""), "24", "25", "float32[3, 7, 25]", id="all first layers"
        ),
        pytest.param(ATTENTION, "Linear(24", "Linear(25", "", id="what the text denies"),
    ],
)
def test_a_mutant_that_is_a_sound_model_of_other_inputs_is_told_apart(
    text: str, old: str, new: str, sound: str, tmp_path: Path
) -> None:
    name, tensors = ("Model", ["f32[3, 24]"]) if text is MODEL else ("Attention", ["f32[3, 7, 24]"])
    call = AuthorsCall(f"{name}()", "*t", tensors)
    count = -1 if old.endswith("24") else 1

    def work() -> dict[str, Any]:
        return {
            "found": sound_with(str(tmp_path / "model.py"), text, call, [BrokenMutant(text.replace(old, new, count))])
        }

    assert attempt(work, timeout=120).answer["found"] == [sound]
