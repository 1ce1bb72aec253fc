"""Fake tensors that are answered from what they were answered before are those that torch itself would have made."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.tensors.recorder import Recorder, StackAttribution
from inductor_debug.capture.weightless import remembered_answers
from inductor_debug.capture.weightless.mode import WeightlessMode
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

pytestmark = pytest.mark.torch

_PLAIN = "none"
Tensors = Sequence[torch.Tensor]
_STEPS: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "add": lambda one, other: one + other,
    "scale": lambda one, other: one * 2,
    "scale by a fraction": lambda one, other: one * 2.0,
    "divide": lambda one, other: one / 3,
    "compare": lambda one, other: one > other,
    "product": lambda one, other: one.float() @ other.float().transpose(-1, -2),
    "layer": lambda one, other: torch.nn.functional.linear(one.float(), other.float()),
    "view": lambda one, other: one.view(-1),
    "reshape": lambda one, other: one.transpose(0, 1).reshape(-1).view(one.shape),
    "transpose": lambda one, other: one.transpose(0, 1),
    "slice": lambda one, other: one[1:],
    "head": lambda one, other: one[:-1],
    "expand": lambda one, other: one[:1].expand(one.shape),
    "split": lambda one, other: one.chunk(2),
    "join": lambda one, other: torch.cat([one, other]),
    "largest": lambda one, other: one.float().max(dim=0),
    "normalise": lambda one, other: torch.nn.functional.layer_norm(one.float(), one.shape[-1:]),
    "attend": lambda one, other: torch.nn.functional.scaled_dot_product_attention(
        one.float()[None, None], other.float()[None, None], other.float()[None, None]
    ),
    "half": lambda one, other: one.half(),
    "complex": lambda one, other: torch.complex(one.float(), other.float()),
    "conjugate": lambda one, other: one.conj(),
    "contiguous": lambda one, other: one.contiguous(),
    "detach": lambda one, other: one.detach(),
    "write": lambda one, other: one.detach().clone().add_(1),
    "write through a view": lambda one, other: one.clone()[0].mul_(2),
    "turn in place": lambda one, other: one.clone().transpose_(0, 1),
    "learn": lambda one, other: one.detach().float().requires_grad_(),
    "make": lambda one, other: torch.zeros(one.shape),
    "make like": lambda one, other: torch.empty_like(one),
    "draw": lambda one, other: torch.nn.functional.dropout(one.float(), 0.5),
    "number": lambda one, other: torch.full((4, 4), 7),
    "look": lambda one, other: one.sum().item(),
    "which": lambda one, other: one.nonzero(),
}
_SETTINGS: dict[str, Callable[[], Any]] = {
    _PLAIN: contextlib.nullcontext,
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
    "bfloat16": lambda: _default_dtype(torch.bfloat16),
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
}
_PROGRAMS = st.lists(
    st.tuples(
        st.sampled_from(sorted(_STEPS)), st.sampled_from(sorted(_SETTINGS)), st.integers(0, 9), st.integers(0, 9)
    ),
    min_size=1,
    max_size=12,
)
_OFFSETS = [("slice", _PLAIN, 0, 0), ("head", _PLAIN, 0, 0), *(("transpose", _PLAIN, at, 0) for at in (3, 4))]
_STRIDES = [("scale", _PLAIN, 0, 0), ("transpose", _PLAIN, 0, 0), ("scale", _PLAIN, 4, 0)]
_CONJUGATES = [("complex", _PLAIN, 0, 0), ("conjugate", _PLAIN, 3, 0), *(("transpose", _PLAIN, at, 0) for at in (3, 4))]
_DTYPES = [("divide", _PLAIN, 1, 1), ("divide", "bfloat16", 1, 1)]


@contextlib.contextmanager
def _default_dtype(dtype: torch.dtype) -> Any:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The operations that torch's own mode is asked for from now on."""
    functions: list[Any] = []
    original = FakeTensorMode.__torch_dispatch__

    def dispatch(mode: Any, func: Any, *more: Any) -> Any:
        if func.namespace == "aten":
            functions.append(func)
        return original(mode, func, *more)

    monkeypatch.setattr(FakeTensorMode, "__torch_dispatch__", dispatch)
    return functions


def _run(mode: FakeTensorMode, program: Sequence[tuple[str, str, int, int]], under: Any = None) -> list[Any]:
    """All that is known of what a program makes, step by step."""
    with mode, under or contextlib.nullcontext():
        pool = [torch.randn(4, 4), torch.arange(16).view(4, 4), torch.randn(4, 4, requires_grad=True)]
        told: list[Any] = []
        for step, setting, one, other in program:
            with _SETTINGS[setting]():
                try:
                    made = _STEPS[step](pool[one % len(pool)], pool[other % len(pool)])
                except Exception as error:
                    told.append((type(error).__name__, str(error)))
                    continue
            pool += [each for each in (made if isinstance(made, tuple) else (made,)) if isinstance(each, torch.Tensor)]
            told.append([_look(each, pool) for each in pool])
        return told


def _recorded(mode: FakeTensorMode, program: Sequence[tuple[str, str, int, int]]) -> list[Any]:
    """The same, and every operation of it, with a recorder that is asked before the mode."""
    recorder = Recorder(StackAttribution(lambda _: (), lambda: ""), OriginTable())
    made = _run(mode, program, recorder)
    return [made, [replace(op, seq_nr=None) for op in recorder.recording.ops]]


def _look(tensor: Any, pool: Tensors) -> Any:
    memory = tensor.untyped_storage()._cdata
    state = {name: value for name, value in vars(tensor).items() if not name.endswith("fake_mode")}
    return (
        *(type(tensor), tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.device),
        *(tensor.requires_grad, tensor.is_leaf, tensor.grad_fn and tensor.grad_fn.name(), tensor._is_view()),
        *(tensor.is_conj(), tensor.is_inference(), tensor.untyped_storage().nbytes()),
        *(torch._C._dispatch_keys(tensor).raw_repr(), repr(sorted(state.items(), key=str))),
        [other for other, each in enumerate(pool) if each.untyped_storage()._cdata == memory],
    )


def _any_program(test: Any) -> Any:
    """A test of whatever program can be made, and of those that have shown something."""
    for program in (_DTYPES, _CONJUGATES, _STRIDES, _OFFSETS):
        test = example(program=program)(test)
    return given(program=_PROGRAMS)(test)


@settings(max_examples=150, deadline=None)
@_any_program
def test_a_program_run_again_makes_the_tensors_that_torch_makes(program: list[tuple[str, str, int, int]]) -> None:
    mode = WeightlessMode()
    expected = _run(FakeTensorMode(allow_non_fake_inputs=True), program)
    assert [_run(mode, program) for _ in range(3)] == [expected] * 3


@settings(max_examples=100, deadline=None)
@_any_program
def test_what_is_recorded_is_what_torch_makes(program: list[tuple[str, str, int, int]]) -> None:
    mode = WeightlessMode()
    expected = _recorded(FakeTensorMode(allow_non_fake_inputs=True), program)
    assert [_recorded(mode, program) for _ in range(3)] == [expected] * 3


def test_every_step_is_one_that_a_program_can_make() -> None:
    for step in _STEPS.keys() - {"look", "which"}:
        assert not isinstance(_run(WeightlessMode(), [(step, _PLAIN, 0, 0)])[0], tuple), step


def test_layers_that_are_alike_ask_torch_once(asked: list[Any]) -> None:
    with WeightlessMode():
        layers = [torch.nn.Linear(8, 8) for _ in range(10)]
        x = torch.randn(2, 8)
        asked.clear()
        x = layers[1](layers[0](x))
        needed = len(asked)
        for layer in layers[2:]:
            x = layer(x)
    assert len(asked) == needed > 0


def test_a_torch_that_was_not_read_is_asked_each_time(asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered_answers, "_KNOWN", ())
    with WeightlessMode():
        x = torch.randn(4)
        asked.clear()
        for _ in range(3):
            x = x.exp()
    assert len(asked) == 3


def test_values_that_are_known_are_computed_with_and_not_remembered() -> None:
    mode = WeightlessMode()
    with mode:
        for number in range(3):
            assert (torch.tensor(number) + 1).item() == number + 1
        with pytest.raises(DataDependentOutputException):
            _ = torch.zeros(1).item()
        with mode.keeping_constants(8):
            kept = torch.zeros(1)
        assert (kept + 1).item() == 1


def test_a_tensor_that_changes_its_looks_is_looked_at_anew() -> None:
    with WeightlessMode():
        x = torch.randn(2, 3)
        assert [x.exp().shape for _ in range(2)] == [torch.Size([2, 3])] * 2
        x.t_()
        assert [x.exp().shape for _ in range(2)] == [torch.Size([3, 2])] * 2
        x.data = torch.randn(5, dtype=torch.float64)
        assert [(y.shape, y.dtype) for y in (x.exp(), x.exp())] == [(torch.Size([5]), torch.float64)] * 2
        x.requires_grad_()
        assert all((x.exp()).requires_grad for _ in range(2))


def test_what_is_refused_is_refused_again() -> None:
    with WeightlessMode():
        x, y = torch.randn(2, 3), torch.randn(4, 5)
        for _ in range(3):
            with pytest.raises(RuntimeError, match=r"must have same reduction dim|shapes cannot be multiplied"):
                x @ y


def test_one_mode_knows_nothing_of_the_tensors_of_another() -> None:
    first, second = WeightlessMode(), WeightlessMode()
    with first:
        x = torch.randn(2)
        assert [(x + 1).fake_mode for _ in range(3)] == [first] * 3
    with second:
        y = torch.randn(2)
        assert [(y + 1).fake_mode for _ in range(3)] == [second] * 3
