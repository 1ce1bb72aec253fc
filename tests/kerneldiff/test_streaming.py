"""Comparisons are told as they go on: batches of rows, no more often than they may be, complete in the end."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.targets.script_target import target_of
from inductor_debug.engine.orders.partial_comparisons import PartialComparisons
from inductor_debug.kerneldiff.comparison import Comparison
from inductor_debug.kerneldiff.emulation.backends import resolve
from inductor_debug.kerneldiff.judging.comparison_settings import ComparisonSettings
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, NodeResult, TensorResult, Verdict
from inductor_debug.kerneldiff.judging.streaming import Stream
from inductor_debug_schema import Answered, DiffPiece, PartlyAnswered, to_wire
from torch import nn

pytestmark = pytest.mark.torch


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(96, 64)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        y = torch.relu(self.linear(x))
        return {"a": torch.tanh(y), "b": y.sum(-1)}


def wrong_tanh(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Any:
    for node in graph_module.graph.nodes:
        if node.target is torch.tanh:
            node.target = torch.sin
    graph_module.recompile()
    return graph_module.forward


def told(backend: Any, interval: float = 0.0, **settings: Any) -> tuple[list[DiffPiece], DiffReport]:
    pieces: list[DiffPiece] = []
    target = target_of(Model().eval(), (torch.randn(4, 96),))
    stream = Stream(pieces.append, interval=interval)
    report = Comparison(
        target, resolve("eager"), resolve(backend), ComparisonSettings(stream=stream, **settings), SourceMap(".")
    ).run()
    stream.flush()
    return pieces, report


def said_in(piece: DiffPiece) -> list[str]:
    """What a piece says anything of."""
    return [name for name, value in to_wire(piece).items() if value not in (None, [])]


@pytest.mark.parametrize(
    ("backend", "table"),
    [("spyre", "nodes"), (wrong_tanh, "segments")],
    ids=["one operation at a time", "opaque"],
)
def test_all_rows_are_told_in_the_order_in_which_they_are_compared(backend: Any, table: str) -> None:
    pieces, report = told(backend, gradients=True)
    keys = [name for piece in pieces for name in said_in(piece)]
    order = [name for name in dict.fromkeys(keys) if name in ("begun", "outputs", "gradients", "verdict", table)]
    assert order == ["begun", "outputs", "gradients", "verdict", table]
    tables = [getattr(piece, name) for piece in pieces for name in ("outputs", "gradients", "nodes", "segments")]
    assert max(map(len, tables)) == 1
    partial = PartialComparisons()
    for piece in pieces:
        partial.hear(PartlyAnswered("Model", piece))
    (kept,) = partial.documents("it was cancelled")
    document, whole = to_wire(kept), report.to_dict()
    assert document["partial"] is True
    assert whole["partial"] is False
    assert [*document] == [*whole]
    for name in ("target", "backend", "verdict", "why", "outputs", "gradients", "segments", "deterministic"):
        assert document[name] == whole[name], name
    assert [row["node"] for row in document["nodes"]] == [row["node"] for row in whole["nodes"]]
    assert whole[table]
    partial.hear(Answered("Model", report.document()))
    assert partial.documents("it was cancelled") == []


def test_rows_wait_for_their_time_and_come_together() -> None:
    pieces, report = told("spyre", interval=1000.0)
    said = [said_in(piece) for piece in pieces]
    assert said[:2] + said[3:] == [["begun"], ["outputs"], ["nodes"]]
    assert said[2][:2] == ["verdict", "why"]
    assert len(pieces[-1].nodes) == len(report.nodes)


def test_of_several_runs_only_what_is_worse_is_told_again() -> None:
    pieces: list[DiffPiece] = []
    stream = Stream(pieces.append, interval=0.0)
    for ratio in (1.0, 0.5, 2.0):
        stream.result("outputs", TensorResult("output", Verdict.PASS, ratio=ratio))
    ratios = [row.metrics.anchored_ratio for piece in pieces for row in piece.outputs]
    assert ratios == [1.0, 2.0]


def test_nobody_who_listens_costs_nothing() -> None:
    stream, node = Stream(), NodeResult("0", "mm", "aten.mm.default")
    holders = sys.getrefcount(node)
    stream.node(node)
    assert sys.getrefcount(node) == holders, "no row is kept"
    stream.flush()
