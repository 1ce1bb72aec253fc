"""A sample of what `inductor-debug bench bugs` measures whole: which single mistakes in real models are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from inductor_debug.cli.bench import bugs
from inductor_debug.cli.bench.corpus import folder_cases, written_cases

pytestmark = pytest.mark.torch

CLASSES = ("MultiHeadAttention", "VariationalAutoencoder", "LeNet", "SentimentGru")
BY_EDIT, FRESH = bugs.BY_EDIT, 0.6
"""By an edit what the benchmark promises; fresh less, for today (six of eight) it misses its goal."""

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


def test_a_sample_of_mistakes_is_found_and_sound_classes_are_not_blamed() -> None:
    chosen = [case for case in written_cases(Path(__file__).parent) if case.name in CLASSES]
    found = bugs.measure(chosen, sample=2 * len(CLASSES))
    assert [(item.problem, item.false) for item in found.classes] == [("", [])] * len(CLASSES)
    breaking = [item for item in found.mutants if item.truth == "breaks"]
    assert len(breaking) == 2 * len(CLASSES)
    said = "\n".join(bugs.misses(breaking))
    assert sum(item.edit.where == bugs.FOUND for item in breaking) >= BY_EDIT * len(breaking), said
    assert sum(item.fresh.where == bugs.FOUND for item in breaking) >= FRESH * len(breaking), said


def test_a_folder_of_files_is_measured_without_its_inputs_being_seen(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (case,) = folder_cases(tmp_path)
    assert "get_inputs" not in case.text
    assert case.text.count("\n") == MODEL.count("\n")
    found = bugs.measure([case], sample=1)
    assert [(item.name, item.problem, item.false) for item in found.classes] == [("model.Model", "", [])]
    assert [item.truth for item in found.mutants] == ["breaks"]
