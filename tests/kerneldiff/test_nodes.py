"""Node by node: whose fault (isolated), how errors grow (accumulated), and that walking changes nothing."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.targets.script_target import target_of
from inductor_debug.kerneldiff.blame.node_comparison import Modes, NodeWalk
from inductor_debug.kerneldiff.execution.node_graphs import NodePlaces, compiling, plainly, with_aten_graphs
from inductor_debug.kerneldiff.execution.operation_arithmetic import Eager
from torch import nn
from torch.fx import Node

pytestmark = pytest.mark.torch


class Chain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.sin(self.first(x))
        y = nn.functional.dropout(y, 0.25)
        y = torch.exp(y)
        return self.norm(y).cos()


class Off:
    """Eager, but for one operation; `seen` are the inputs of every operation."""

    name, unit = "off", torch.finfo(torch.float32).eps

    def __init__(self, name: str) -> None:
        self._wrong = name
        self.count = 0

    def compute(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.count += 1
        value = plainly(node, args, kwargs)
        return value * 1.01 if self._wrong in str(node.target) else value

    def ideal(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return plainly(node, args, kwargs)


def walked(model: nn.Module, arithmetic: Any, x: torch.Tensor, modes: Modes | None = None) -> tuple[NodeWalk, Any]:
    target = target_of(model, (x,), name="Chain")
    places = NodePlaces(target, SourceMap(".", {__file__: open(__file__, encoding="utf-8").read()}))  # noqa: SIM115
    walk = NodeWalk(arithmetic, places, modes)
    with compiling():
        torch.manual_seed(0)
        return walk, with_aten_graphs(model, walk)(x)


def test_one_wrong_operation_is_wrong_alone_and_spoils_what_follows() -> None:
    model = Chain().train()
    walk, _ = walked(model, Off("aten.exp"), torch.randn(16, 8))
    isolated = {node.op: node.isolated for node in walk.results if node.isolated and node.isolated.relative > 0}
    assert list(isolated) == ["aten.exp.default"]
    ratio = isolated["aten.exp.default"].ratio
    assert ratio is not None
    assert ratio > 1000
    after = [node.op for node in walk.results if node.accumulated and node.accumulated.relative > 0]
    assert after[0] == "aten.exp.default"
    assert "aten.cos.default" in after
    first = next(node for node in walk.results if node.op == "aten.exp.default")
    assert first.growth is not None
    assert first.growth > 100
    assert first.place is not None
    assert first.place.path == __file__


def test_a_walk_returns_what_eager_does_and_random_numbers_go_on_alike() -> None:
    model, x = Chain().train(), torch.randn(16, 8)
    twin = copy.deepcopy(model)
    _, result = walked(model, Off("aten.exp"), x)
    following = torch.rand(1)
    torch.manual_seed(0)
    expected = twin(x)
    assert torch.equal(torch.rand(1), following)
    assert torch.allclose(result, expected)
    assert torch.allclose(model.norm.running_mean, twin.norm.running_mean)


def test_backward_is_walked_as_well_and_tied_to_the_forward_expression() -> None:
    x = torch.randn(16, 8, requires_grad=True)
    walk, result = walked(Chain().eval(), Eager(torch.finfo(torch.float32).eps), x)
    result.sum().backward()
    backward = [node for node in walk.results if node.graph.endswith("backward")]
    assert backward
    assert all(node.accumulated is not None and node.accumulated.relative == 0 for node in walk.results)
    placed = [node for node in backward if node.place is not None]
    assert len(placed) > len(backward) / 2


def test_only_the_modes_that_are_wanted_are_computed() -> None:
    arithmetic = Off("nothing")
    walk, _ = walked(Chain().eval(), arithmetic, torch.randn(4, 8), Modes(isolated=True, accumulated=False))
    assert arithmetic.count <= len(walk.results)
    assert all(node.accumulated is None for node in walk.results)


def test_memory_that_nobody_has_written_to_says_nothing_of_anybody() -> None:
    class Fills(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.empty_like(x).fill_(2) + torch.sin(x)

    class Poisons(Off):
        def compute(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            value = super().compute(node, args, kwargs)
            return torch.full_like(value, torch.nan) if "empty" in str(node.target) else value

    walk, _ = walked(Fills(), Poisons("nothing"), torch.randn(4, 8))
    (empty,) = (node for node in walk.results if "empty" in node.op)
    for error in (empty.isolated, empty.accumulated):
        assert error is not None
        assert (error.relative, error.ratio, error.invalid) == (0.0, None, False)
