"""Sizes that are symbols come out as torch itself works them out, with the same guards, though it is asked less."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from inductor_debug.capture.weightless.remembered_sizes import remembering_sizes
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

pytestmark = pytest.mark.torch

_STEPS: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "add": lambda one, other: one + other,
    "product": lambda one, other: one @ other.transpose(-1, -2) @ other,
    "flatten": lambda one, other: one.reshape(-1)[: other.shape[0]],
    "transpose": lambda one, other: one.transpose(0, 1).contiguous().transpose(0, 1),
    "slice": lambda one, other: one[1:],
    "half": lambda one, other: one[: one.shape[0] // 2],
    "expand": lambda one, other: one[:1].expand(other.shape[0], -1),
    "join": lambda one, other: torch.cat([one, other]),
    "split": lambda one, other: one.chunk(2)[0],
    "make": lambda one, other: torch.zeros(one.shape[0] * 2 + 1, other.shape[1]),
    "decide": lambda one, other: one * 2 if one.shape[0] > other.shape[0] else one - other[:1],
    "larger": lambda one, other: torch.ones(max(one.shape[0], 3), torch.sym_max(one.shape[1], other.shape[1])),
    "fix": lambda one, other: one.view(int(one.shape[0]), -1),
    "normalise": lambda one, other: torch.nn.functional.layer_norm(one, one.shape[-1:]),
}


def told(steps: list[str], around: Callable[[], Any]) -> list[str]:
    """What becomes of two tensors with symbols for sizes, step by step, and the guards that this takes."""
    environment = ShapeEnv()
    mode = FakeTensorMode(shape_env=environment)
    one, other = (mode.from_tensor(torch.ones(size)) for size in ((6, 8), (5, 8)))
    lines: list[str] = []
    with mode, around():
        for step in steps:
            try:
                made = _STEPS[step](one, other)
            except (RuntimeError, ValueError, IndexError) as error:
                lines.append(f"{step}: {type(error).__name__}: {error}")
                continue
            whole = made.is_contiguous(), made.untyped_storage().nbytes(), made.numel()
            lines.append(f"{step}: {list(made.shape)} {made.stride()} {whole}")
            one, other = made if made.dim() == 2 else one, one
    return lines + [str(guard.expr) for guard in environment.guards]


@given(st.lists(st.sampled_from(sorted(_STEPS)), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_tensors_and_guards_are_those_of_torch(steps: list[str]) -> None:
    torch._dynamo.reset()
    assert told(steps, remembering_sizes) == told(steps, contextlib.nullcontext)


def test_torch_is_asked_less(monkeypatch: pytest.MonkeyPatch) -> None:
    if not torch.__version__.startswith("2.13."):
        pytest.skip("nothing is remembered with a torch that was not read")
    asked: list[str] = []
    multiply = SymNode._mul  # type: ignore[attr-defined]

    def counted(one: Any, other: Any) -> Any:
        asked.append(f"{one.expr} * {other.expr}")
        return multiply(one, other)

    monkeypatch.setattr(SymNode, "_mul", counted)
    told(["product"] * 9, contextlib.nullcontext)
    plain = len(asked)
    asked.clear()
    told(["product"] * 9, remembering_sizes)
    assert 0 < len(asked) < plain / 5


def test_nothing_is_remembered_after_a_run_that_fails() -> None:
    before = SymNode._add, SymNode.wrap_int  # type: ignore[attr-defined]
    with pytest.raises(ZeroDivisionError), remembering_sizes():
        raise ZeroDivisionError
    assert (SymNode._add, SymNode.wrap_int) == before  # type: ignore[attr-defined]


def test_a_graph_that_is_written_meanwhile_has_every_sum() -> None:
    def sizes(x: torch.Tensor) -> torch.Tensor:
        return torch.ones(x.shape[0] + 1) + torch.ones(x.shape[0] + 1)

    plain = make_fx(sizes, tracing_mode="symbolic")(torch.ones(6))
    with remembering_sizes():
        told(["join", "make"], contextlib.nullcontext)
        watched = make_fx(sizes, tracing_mode="symbolic")(torch.ones(6))
    assert watched.code == plain.code


def test_who_logs_the_arithmetic_reads_all_of_it(caplog: pytest.LogCaptureFixture) -> None:
    def lines(around: Callable[[], Any]) -> list[str]:
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "torch.fx.experimental.sym_node"):
            told(["product", "product"], around)
        return [record.getMessage() for record in caplog.records]

    assert lines(remembering_sizes) == lines(contextlib.nullcontext) != []
