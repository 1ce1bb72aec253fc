"""`inductor-debug survey` with real workers: what a row says of a model, and what is measured beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 17),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(17, 64)

    def forward(self, x):
        y = self.fc(x)
        print(y.sum())
        return y.double()
"""


def rows(project: Path, name: str) -> list[dict[str, Any]]:
    lines = (project / "survey" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[1:]]


def test_a_row_has_what_the_model_costs_and_what_each_accelerator_makes_of_it(
    project: Path, write: Callable[[str, str], Path]
) -> None:
    write("model.py", MODEL)
    assert main(["survey", "model.py", "--accelerators", "none,spyre,h100", "-q", "--no-page"]) == 1
    (row,) = rows(project, "model")
    assert (row["target"], row["checked"], row["graphs"], row["breaks"]) == ("Net", "yes", 2, 1)
    assert (row["parameters"], row["parameter_bytes"]) == (17 * 64 + 64, 4 * (17 * 64 + 64))
    none, spyre, h100 = row["columns"]
    assert none["flops"] == 2 * 4 * 17 * 64
    assert none["rules"] == {"graph-break": 1}
    assert spyre["rules"]["dtype"] >= 1
    assert spyre["padding_bytes"] > 0
    assert none["padding_bytes"] is None
    assert h100["seconds_at_least"] > 0
    found = next(finding for finding in row["findings"] if finding["rule"] == "graph-break")
    assert found["cause"] == "print"
    assert found["accelerators"] == ["none", "spyre", "h100"]
    assert found["excerpt"] == ["        print(y.sum())"]


def test_what_compiles_again_for_other_inputs_is_in_the_row_with_its_cause(
    project: Path, write: Callable[[str, str], Path]
) -> None:
    sets = "inputs=[(torch.randn(4, 17),), (torch.randn(5, 17),)]"
    write("model.py", MODEL.replace("inputs=(torch.randn(4, 17),)", sets).replace("print(y.sum())", "y = y + 1"))
    assert main(["survey", "model.py", "--accelerators", "none,spyre", "-q", "--no-page"]) == 1
    (row,) = rows(project, "model")
    assert row["recompiles"] == 1
    assert "has size 5 in dimension 0, not 4" in row["recompile_cause"]
    assert [column["rules"]["recompile"] for column in row["columns"]] == [1, 1]


def test_backends_are_measured_beside_eager_and_compared_where_that_is_asked_for(
    project: Path, write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("model.py", MODEL)
    words = ["--measure", "--diff", "--train", "--backends", "aot_eager,spyre", "--repeats", "5"]
    assert main(["survey", "model.py", "-q", "--no-page", *words]) == 1
    (row,) = rows(project, "model")
    assert row["stage"] == "aot"
    compiled, emulated = row["measured"]
    assert compiled["problem"] == ""
    assert compiled["training"] is True
    assert len(compiled["seconds"]) == len(compiled["eager_seconds"]) >= 5
    (cold,), (warm,) = compiled["cold"], compiled["warm"]
    assert {"Dynamo", "AOTAutograd"} <= cold["phases"].keys()
    assert sum(cold["phases"].values()) == pytest.approx(cold["seconds"], rel=0.01)
    assert warm["seconds"] > 0
    assert "emulated here" in emulated["problem"]
    assert [(one["compared_backend"], one["verdict"] in ("pass", "suspicious")) for one in row["compared"]] == [
        ("aot_eager", True),
        ("spyre", True),
    ]
    assert "aot_eager: cold" in capsys.readouterr().out


def test_architectures_of_a_library_are_built_from_their_configurations(
    project: Path, write: Callable[[str, str], Path]
) -> None:
    pytest.importorskip("transformers")
    write(
        "mine.toml",
        'schema = 1\n[[models]]\ntransformers = "GPT2(Model|LMHeadModel)|BertModel"\nlayers = 1\n'
        '[[models]]\nname = "tiny"\ntransformers = "GPT2LMHeadModel"\nconfig = "n_embd=48, n_layer=2, n_head=4"\n'
        'directive = "inputs=(torch.zeros((1, 8), dtype=torch.int64),), eval"\n',
    )
    assert main(["survey", "--suite", "mine.toml", "-q", "--no-page", "--stages", "preview"]) in (0, 1)
    found = {row["model"]: row for row in rows(project, "mine")}
    assert set(found) == {"BertModel", "GPT2Model", "tiny"}
    assert all(row["checked"] != "no" for row in found.values()), [row["why"] for row in found.values()]
    assert found["BertModel"]["signature"]
    assert found["tiny"]["signature"] == ""
    text = (project / "survey" / "models" / "mine" / "bertmodel.py").read_text(encoding="utf-8")
    assert "BertConfig(num_hidden_layers=1)" in text
