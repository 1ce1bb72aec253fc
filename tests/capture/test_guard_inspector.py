"""`GuardInspector` in a script: graphs, breaks, guards and recompilations of a model that is really called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from forked import in_child
from inductor_debug import GuardInspector
from inductor_debug_schema import Location
from torch import nn

pytestmark = pytest.mark.torch

ROOT = str(Path(__file__).parent)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, step: int = 1) -> torch.Tensor:
        y = self.fc(x)
        torch._dynamo.graph_break()
        return y * step


class Broken(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no such luck")


def line_of(place: Location | None) -> str:
    assert place is not None
    return Path(place.path).read_text(encoding="utf-8").split("\n")[place.range.start.line].strip()


def test_graphs_breaks_guards_and_recompilations() -> None:
    def work() -> None:
        report = GuardInspector(Model(), project_root=ROOT).inspect((torch.randn(4, 8),), (torch.randn(4, 8), 2))
        assert (report.target, report.sets, len(report.graphs)) == ("Model", 2, 3)
        assert [line_of(found.place) for found in report.breaks] == ["torch._dynamo.graph_break()"]
        [again] = report.recompiles
        assert again.inputs == 2
        assert [(item.text, line_of(item.place)) for item in again.broken] == [
            ("`step` is 2, not 1", "return y * step")
        ]
        guards = [guard for guard in report.graphs[0].guards if not guard.bookkeeping]
        assert [(guard.source, line_of(guard.place)) for guard in guards] == [("x", "y = self.fc(x)")]

    in_child(work)


def test_a_model_whose_forward_is_torchs_own_keeps_its_name() -> None:
    def work() -> None:
        report = GuardInspector(nn.Sequential(nn.Linear(4, 4))).inspect(torch.ones(3, 4), torch.ones(5, 4))
        assert {graph.function for graph in report.graphs} == {"Sequential"}
        assert [again.function for again in report.recompiles] == ["Sequential"]

    in_child(work)


def test_summary_and_document_say_the_same() -> None:
    def work() -> None:
        report = GuardInspector(Model(), project_root=ROOT).inspect((torch.randn(4, 8),), (torch.randn(4, 8), 2))
        document = json.loads(json.dumps(report.to_dict()))
        assert document["schema"] == 1
        assert document["recompiles"][0]["broken"][0]["path"] == __file__
        text = report.summary()
        assert text.startswith("Model: 3 graphs, 3 operations captured, 1 break, 1 recompilation over 2 calls\n")
        assert "`step` is 2, not 1 (graph 1/0) at" in text
        hidden = report.graphs[0].guards
        assert len(report.to_dict(bookkeeping=True)["graphs"][0]["guards"]) == len(hidden)
        assert len(document["graphs"][0]["guards"]) < len(hidden)

    in_child(work)


def test_a_single_set_is_used_three_times_and_the_model_stays_as_it_was() -> None:
    def work() -> None:
        model = nn.BatchNorm1d(8)
        before = {name: value.clone() for name, value in model.state_dict().items()}
        report = GuardInspector(model, project_root=ROOT).inspect(torch.randn(4, 8))
        assert (report.sets, report.recompiles) == (3, [])
        for name, value in model.state_dict().items():
            assert torch.equal(value, before[name]), name

    in_child(work)


def test_functions_and_keyword_arguments() -> None:
    def scaled(x: torch.Tensor, *, factor: float) -> torch.Tensor:
        return x * factor

    def work() -> None:
        report = GuardInspector(scaled, project_root=ROOT).inspect({"x": torch.randn(4), "factor": 2.0})
        assert len(report.graphs) == 1
        assert {guard.source for guard in report.graphs[0].guards if not guard.bookkeeping} == {"x", "factor"}

    in_child(work)


def test_a_model_that_raises_is_a_note() -> None:
    def work() -> None:
        report = GuardInspector(Broken(), project_root=ROOT).inspect(torch.randn(4))
        assert ["no such luck" in note for note in report.notes] == [True]

    in_child(work)


def test_inputs_are_needed() -> None:
    with pytest.raises(TypeError, match="at least one set of inputs"):
        GuardInspector(Model()).inspect()
