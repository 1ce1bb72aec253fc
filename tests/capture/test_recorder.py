"""What a recording says of each op: its tensors as they were, its arguments, where it belongs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from capture_targets import build, places
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.capture.tensors.metadata import TensorTable, size
from inductor_debug.rules.recording.ops import Op, Recording, SymbolicSize, TensorArgument
from torch_release import QUANTISED_ON_FAKE

pytestmark = pytest.mark.torch


def record(folder: Path, body: str, *, real: bool = False, inputs: str = "(torch.randn(4, 8),)") -> Recording:
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    target, sources = build(folder, f"def model(x):\n{lines}\ninputs = {inputs}\n", real=real)
    outcome = run_preview(target, sources)
    assert outcome.findings == []
    assert outcome.report.notes == []
    return outcome.recording


def overloads(recording: Recording) -> list[str]:
    return [op.overload for op in recording.ops]


def test_each_op_carries_its_own_expression_and_metadata(tmp_path: Path) -> None:
    recording = record(tmp_path, "return x.double().float()")

    assert overloads(recording) == ["aten._to_copy.default"] * 2
    assert places(recording.ops, "aten._to_copy.default") == ["x.double()", "x.double().float()"]
    first, second = recording.ops
    assert (first.inputs[0].dtype, first.outputs[0].dtype, second.outputs[0].dtype) == ("float32", "float64", "float32")
    assert first.outputs[0].value == second.inputs[0].value
    assert first.outputs[0].storage_bytes == 4 * 8 * 8


def test_arguments_have_the_schemas_names_and_defaults(tmp_path: Path) -> None:
    op = record(tmp_path, "return torch.add(x, x, alpha=2)").ops[0]

    assert op.arguments == {"self": TensorArgument(0), "other": TensorArgument(1), "alpha": 2}
    assert op.packet == "aten.add"
    concatenated = record(tmp_path, "return torch.cat([x, x, x], 1)").ops[0]
    assert concatenated.arguments == {"tensors": [TensorArgument(0), TensorArgument(1), TensorArgument(2)], "dim": 1}
    assert record(tmp_path, "return x.to(torch.bfloat16)").ops[0].arguments["dtype"] == "bfloat16"


def test_views_share_storage_and_say_that_they_are_views(tmp_path: Path) -> None:
    transposed, summed = record(tmp_path, "return x.transpose(0, 1).sum()").ops

    assert transposed.is_view
    assert not summed.is_view
    assert transposed.outputs[0].storage == transposed.inputs[0].storage
    assert transposed.outputs[0].value != transposed.inputs[0].value
    assert transposed.outputs[0].stride == (1, 8)
    assert not transposed.outputs[0].dense


def test_an_in_place_op_makes_a_new_version_of_everything_in_its_memory(tmp_path: Path) -> None:
    recording = record(tmp_path, "y = x + 1\nv = y[0]\nv.mul_(2)\nreturn y + v")
    made, viewed, written, read = recording.ops

    assert written.mutates == (viewed.outputs[0].value,)
    assert (made.outputs[0].version, written.inputs[0].version, written.outputs[0].version) == (0, 0, 1)
    assert [meta.version for meta in read.inputs] == [1, 1]


def test_metadata_is_read_when_the_op_runs(tmp_path: Path) -> None:
    recording = record(tmp_path, "y = x + 1\ny.transpose_(0, 1)\nreturn y * 2")

    assert recording.ops[0].outputs[0].shape == (4, 8)
    assert recording.ops[-1].inputs[0].shape == (8, 4)


@pytest.mark.parametrize(
    ("expression", "dense"),
    [
        ("x.to(memory_format=torch.channels_last)", True),
        ("x.transpose(1, 2)", False),
        ("x.transpose(1, 2).contiguous()", True),
        ("x[:, :, ::2]", False),
    ],
)
def test_dense_means_contiguous_in_any_memory_format(tmp_path: Path, expression: str, dense: bool) -> None:
    recording = record(tmp_path, f"return {expression}", inputs="(torch.randn(2, 3, 4, 4),)")

    assert recording.ops[-1].outputs[0].dense is dense


@pytest.mark.parametrize(
    ("body", "real"),
    [
        ("return x.to_sparse().to_dense() + 1", True),
        ("return x.to_sparse_csr().to_dense() + 1", True),
        ("return torch.nested.nested_tensor([x, x], layout=torch.jagged) * 2", True),
        ("return torch.complex(x, x).abs()", False),
        ("return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize()", not QUANTISED_ON_FAKE),
        ("with torch.inference_mode():\n    return torch.nn.functional.linear(x, x)", False),
        ("return torch.vmap(lambda row: row.sum() * 2)(x)", False),
        ("return torch.func.grad(lambda v: v.sum() ** 2)(x)", False),
        ("return torch.zeros(0), x[:0].sum(), torch.tensor(3.0)", False),
        ("torch.set_grad_enabled(True)\nreturn torch.rand_like(x) + x.new_zeros(4, 8)", False),
    ],
)
def test_exotic_tensors_and_modes_are_recorded_like_others(tmp_path: Path, body: str, real: bool) -> None:
    recording = record(tmp_path, body, real=real)

    assert recording.ops
    assert [op.index for op in recording.ops] == list(range(len(recording.ops)))


def test_composite_ops_are_taken_apart_in_inference_mode_as_elsewhere(tmp_path: Path) -> None:
    recording = record(tmp_path, "with torch.inference_mode():\n    return torch.nn.functional.linear(x, x)")

    assert overloads(recording) == ["aten.t.default", "aten.mm.default"]


def test_outside_values_are_named(tmp_path: Path) -> None:
    target, sources = build(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 4)
                self.register_buffer("scale", torch.ones(4))
                self.offset = torch.ones(4)
            def forward(self, x, *, batch):
                return self.fc(x) * self.scale + self.offset + batch["y"] + torch.ones(4)
        model = Model()
        inputs = (torch.randn(2, 8),)
        keywords = {"batch": {"y": torch.ones(4)}}
        """,
    )
    recording = run_preview(target, sources).recording

    names = {(origin.kind, origin.name) for origin in recording.origins.values()}
    assert names == {
        ("parameter", "fc.weight"),
        ("parameter", "fc.bias"),
        ("buffer", "scale"),
        ("constant", "offset"),
        ("input", "x"),
        ("input", "batch['y']"),
    }
    assert {op.module for op in recording.ops} == {"", "fc"}
    given = next(origin for origin in recording.origins.values() if origin.name == "x")
    assert given.frames == target.input_frames
    assert given.meta.shape == (2, 8)


def test_ops_of_autograd_carry_the_number_of_their_backward_node(tmp_path: Path) -> None:
    recording = record(tmp_path, "return (x * 2).sum()", inputs="(torch.randn(4, 8, requires_grad=True),)")
    plain = record(tmp_path, "return (x * 2).sum()")

    numbers = [op.seq_nr for op in recording.ops]
    assert numbers == [numbers[0], (numbers[0] or 0) + 1]
    assert [op.seq_nr for op in plain.ops] == [None, None]


def test_a_dead_tensors_address_is_not_mistaken_for_its_successor() -> None:
    table = TensorTable()
    numbers = {(table.meta(torch.ones(2)).value, table.meta(torch.ones(3)).storage) for _ in range(50)}

    assert len(numbers) == 50


def test_a_symbolic_size_knows_what_divides_and_bounds_it(tmp_path: Path) -> None:
    target, sources = build(
        tmp_path,
        """
        def model(x):
            return torch.cat([x, x], 0).view(-1, 4)
        inputs = (torch.randn(6, 8),)
        torch._dynamo.mark_dynamic(inputs[0], 0)
        """,
    )
    ops: list[Op] = run_preview(target, sources).recording.ops

    given, doubled = ops[0].inputs[0].shape[0], ops[0].outputs[0].shape[0]
    assert isinstance(given, SymbolicSize)
    assert isinstance(doubled, SymbolicSize)
    assert (given.divisor, given.minimum, given.maximum) == (1, 2, None)
    assert (doubled.divisor, doubled.minimum) == (2, 4)
    flat = ops[-1].outputs[0].shape
    assert isinstance(flat[0], SymbolicSize)
    assert flat[0].divisor == 4
    assert flat[1] == 4
    assert size(7) == 7
