"""Inputs that share memory go on sharing it in a reproducer, where the failure needs that, and there alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from inductor_debug.repro.minimiser.shrinking import shrinkings
from inductor_debug.repro.program.program import Input, Program, ProgramValues
from inductor_debug.repro.program.program_execution import spec_of, tensors_of
from inductor_debug.repro.program.sharing import copies_of, linked, text_of, unlinked
from repro_jobs import reproduce

pytestmark = pytest.mark.torch


def _linked(**tensors: torch.Tensor) -> tuple[Program, dict[str, torch.Tensor]]:
    """A program without steps that has these inputs, and its recorded values."""
    inputs = tuple(Input(name, spec_of(value), source=name) for name, value in tensors.items())
    program, memories = linked(Program(inputs, (), ()), tensors)
    values = {**tensors, **memories}
    recorded = tuple(Input(**{**_fields(item), "values": ProgramValues.RECORDED}) for item in program.inputs)
    return Program(recorded, (), ()), {name: value.detach() for name, value in values.items()}


def _fields(item: Input) -> dict[str, object]:
    return {name: getattr(item, name) for name in Input.__slots__}


def _text(program: Program, name: str) -> str:
    known = {item.name: item for item in program.inputs}
    return text_of(known[known[name].base], known[name])


MEMORY = torch.arange(48.0).reshape(6, 8)
VIEWS = {
    "a row": (MEMORY[2], "x[2]"),
    "a column": (MEMORY[:, 3], "x[:, 3]"),
    "rows": (MEMORY[1:4], "x[1:4]"),
    "every second column": (MEMORY[:, ::2], "x[:, :7:2]"),
    "transposed": (MEMORY.t(), "x.transpose(0, 1)"),
    "another shape": (MEMORY.view(3, 16), "x.view(3, 16)"),
    "the same": (MEMORY.detach(), "x.detach()"),
    "its bits": (MEMORY.view(torch.int32), "x.view(torch.int32)"),
    "bits of some": (MEMORY.view(torch.int32)[1:4], "x.view(torch.int32)[1:4]"),
    "a diagonal": (MEMORY.diagonal(), "x.as_strided((6,), (9,), 0)"),
}


@pytest.mark.parametrize(("view", "text"), VIEWS.values(), ids=VIEWS.keys())
def test_a_view_is_written_as_a_person_would(view: torch.Tensor, text: str) -> None:
    program, values = _linked(x=MEMORY, y=view)
    assert _text(program, "y") == text
    assert torch.equal(eval(text, {"torch": torch, "x": MEMORY}), view)
    made = tensors_of(program, values)
    assert torch.equal(made["y"], view)
    assert made["x"].untyped_storage().data_ptr() == made["y"].untyped_storage().data_ptr()


def test_views_that_overlap_lie_in_memory_that_is_no_argument() -> None:
    program, values = _linked(x=MEMORY[:4], y=MEMORY[2:])
    assert [item.name for item in program.arguments] == ["x", "y"]
    assert [item.name for item in program.inputs] == ["memory_of_x", "x", "y"]
    made = tensors_of(program, values)
    made["x"][3].zero_()
    assert not made["y"][1].any()
    assert made["y"][2].any()


def test_a_parameter_and_its_view_do_not_share_gradients() -> None:
    weight = torch.nn.Parameter(torch.randn(4, 4))
    program, values = _linked(weight=weight, diagonal=weight.detach().diagonal())
    made = tensors_of(program, values)
    assert made["weight"].requires_grad
    assert made["weight"].is_leaf
    assert not made["diagonal"].requires_grad
    assert _text(program, "diagonal") == "weight.detach().as_strided((4,), (5,), 0)"


def test_sizes_shrink_and_views_stay_inside() -> None:
    program, values = _linked(x=torch.zeros(6, 8), y=torch.zeros(3))
    program, values = _linked(x=(memory := torch.randn(16, 8)), y=memory[2])
    smaller = [change.program for change in shrinkings(program)]
    assert any(item.spec and item.spec.shape == (4,) for found in smaller for item in found.inputs)
    for found in smaller:
        tensors_of(found, values)


def test_apart_again_each_input_has_its_own_memory() -> None:
    program, values = _linked(x=MEMORY[:4], y=MEMORY[2:])
    made = tensors_of(unlinked(program), values)
    made["x"].zero_()
    assert made["y"].all()


def test_copies_keep_strides_and_sharing() -> None:
    memory = torch.randn(8, 8)
    given = [memory[:, ::2], memory, 3, torch.randn(2, 4).t(), torch.randn(1, 4).expand(3, 4)]
    copies = copies_of(given)
    for one, other in zip(given, copies, strict=True):
        if isinstance(one, torch.Tensor):
            assert (one.stride(), one.tolist()) == (other.stride(), other.tolist())
            assert one.data_ptr() != other.data_ptr()
    copies[1].zero_()
    assert not copies[0].any()
    assert memory.any()


BITS = """
class Model(nn.Module):
    def forward(self, x, bits):
        y = torch.relu(x * 2)
        x.add_(1)
        return y + bits.float().tanh()


def get_inputs():
    x = torch.randn(16, 8)
    return [x, x.view(torch.int32)]
"""


def test_a_failure_that_needs_shared_memory_keeps_it(tmp_path: Path) -> None:
    found = reproduce(tmp_path, BITS, backend="aot_eager")
    assert "bits = x.view(torch.int32)" in found.script
    assert found.lines[0] == "x.add_(1)"
    assert len(found.lines) == 2
    assert found.status() == 0
    apart = found.script.replace("bits = x.view(torch.int32)", "bits = x.clone().view(torch.int32)")
    assert found.status(apart) == 1


def test_a_failure_that_does_not_need_it_has_it_not(tmp_path: Path) -> None:
    found = reproduce(tmp_path, BITS.replace("x.add_(1)", "pass"), backend="relu_compile_error_TESTING_ONLY")
    assert found.lines == ["relu = torch.relu(x)"]
    assert "view" not in found.script


WRITTEN = """
from torch._dynamo import register_backend


class Model(nn.Module):
    def forward(self, cache, row):
        h = torch.tanh(cache).sum()
        row.mul_(2)
        return cache.cos() + h


def get_inputs():
    cache = torch.randn(6, 8)
    return [cache, cache[2]]


@register_backend
def late(graph, inputs):
    # Writes reach the other input only after everything was computed.
    def run(*args):
        apart = [arg.clone() for arg in args]
        found = graph.forward(*apart)
        for arg, copy in zip(args, apart):
            if not torch.equal(arg, copy) and arg.dim() == 1:
                arg.copy_(copy)
        return found
    return run
"""


def test_what_is_computed_from_memory_that_another_input_writes_is_compared(tmp_path: Path) -> None:
    found = reproduce(tmp_path, WRITTEN, backend="late")
    assert "row = cache[2]" in found.script
    assert "row.mul_(2)" in found.lines
    assert found.status() == 0
