"""What crosses between host and accelerator is converted, laid out and read back for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from inductor_debug.accelerators.device_memory import allocated_layout
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.capture.script_backends.round_trips import to_device, to_host
from inductor_debug.capture.script_backends.transfer_log import TransferLog
from inductor_debug.capture.script_backends.transfers import (
    Border,
    RoundTrip,
    Transfer,
    digest_of,
    transfer_of,
)
from inductor_debug_schema import TransferExample
from torch._subclasses.fake_tensor import FakeTensorMode

pytestmark = pytest.mark.torch

SPYRE = read_profile(load_document("spyre"))
MOCK = read_profile(load_document("mock"))


def sent(tensor: torch.Tensor) -> Transfer:
    return transfer_of(tensor, SPYRE, graph="0", to_device=True, border=Border("input", "x"))


def test_half_precision_lies_in_sticks_and_comes_back() -> None:
    transfer = sent(torch.ones(512, 256, dtype=torch.float16))
    assert transfer.layout is not None
    assert transfer.layout.size == [4, 512, 64]
    assert (transfer.came_back.outcome, transfer.came_back.changed) == (RoundTrip.SAME, 0)
    assert transfer.host_bytes == transfer.device_bytes == 512 * 256 * 2


def test_padding_is_counted() -> None:
    transfer = sent(torch.randn(3, 10, dtype=torch.float16))
    assert transfer.device_bytes == 3 * 128
    assert transfer.layout is not None
    assert transfer.on_wire().layout.waste == pytest.approx(1 - 30 / 192, abs=1e-4)
    assert "84% padding" in transfer.line()


def test_integers_beyond_int32_do_not_come_back() -> None:
    transfer = sent(torch.tensor([1, 2**40 + 5, -3]))
    assert transfer.device_dtype == "int32"
    assert (transfer.came_back.outcome, transfer.came_back.changed) == (RoundTrip.CHANGED, 1)
    assert transfer.came_back.example == TransferExample([1], str(2**40 + 5), "5")
    assert "cut off" in transfer.note


def test_half_precision_is_rounded_to_the_numbers_of_the_device() -> None:
    fine = 1 + 2**-10
    transfer = sent(torch.tensor([[1.0, fine], [fine, 0.0]], dtype=torch.float16))
    back = transfer.came_back
    assert transfer.device_dtype == "sen169_fp16"
    assert (back.outcome, back.rounded, back.changed) == (RoundTrip.ROUNDED, 2, 0)
    assert back.example == TransferExample([0, 1], "1.001", "1.002"), "half way is rounded away from zero"
    assert "2 rounded, first at [0, 1]: 1.001 -> 1.002" in transfer.line()


def test_a_number_that_the_device_cannot_hold_is_no_rounding() -> None:
    back = sent(torch.tensor([1.0, 2.0**70, 1e-20], dtype=torch.bfloat16)).came_back
    assert (back.outcome, back.changed, back.rounded) == (RoundTrip.CHANGED, 1, 1)
    assert back.example == TransferExample([1], "1.181e+21", "inf")


def test_single_precision_stays_as_it_is() -> None:
    transfer = sent(torch.tensor([1 + 2**-20]))
    assert (transfer.device_dtype, transfer.came_back.outcome) == ("float32", RoundTrip.SAME)


def test_values_are_the_first_the_last_and_those_that_differ() -> None:
    values = torch.arange(20, dtype=torch.int64).reshape(2, 10)
    values[1, 0] = 2**33
    told = transfer_of(values.t(), SPYRE, graph="0", to_device=True, border=Border("input", "x"), values=2).came_back
    assert [(one.index, one.before, one.after) for one in told.values] == [
        ([0, 0], "0", "0"),
        ([0, 1], str(2**33), "0"),
        ([9, 0], "9", "9"),
        ([9, 1], "19", "19"),
    ]
    assert sent(values).came_back.values == [], "unless they are asked for"


@pytest.mark.parametrize("values", [torch.tensor(3), torch.zeros(0, 4), torch.ones(1).expand(3, 3), torch.ones(2) * 1j])
def test_odd_tensors_have_values_too(values: torch.Tensor) -> None:
    border = Border("input", "x")
    back = transfer_of(values, SPYRE, graph="0", to_device=True, border=border, values=100).came_back
    assert (back.outcome, len(back.values)) == (RoundTrip.SAME, values.numel())


def test_not_a_number_comes_back_as_itself() -> None:
    assert sent(torch.tensor([float("nan"), 1.0], dtype=torch.float16)).came_back.outcome is RoundTrip.SAME


def test_a_dtype_that_the_device_has_not_is_said() -> None:
    assert sent(torch.zeros(2, dtype=torch.complex64)).note == "spyre has no complex64"


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3)], ids=str)
def test_scalars_and_empty_tensors(shape: tuple[int, ...]) -> None:
    assert sent(torch.zeros(shape, dtype=torch.float16)).came_back.outcome is RoundTrip.SAME


def test_a_tensor_without_values_is_described_all_the_same() -> None:
    with FakeTensorMode():
        transfer = sent(torch.empty(4, 64, dtype=torch.float16))
    assert (transfer.came_back.outcome, transfer.digest) == (RoundTrip.NOT_RUN, "")
    assert transfer.layout is not None


def test_digests_are_of_values_not_of_strides() -> None:
    tensor = torch.randn(5, 7)
    assert digest_of(tensor) == digest_of(tensor.t().contiguous().t())
    assert digest_of(tensor) != digest_of(tensor + 1)
    assert digest_of(torch.zeros(0)) == digest_of(torch.ones(0))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_every_layout_can_be_undone(sizes: list[int], random: object) -> None:
    order = list(range(len(sizes)))
    random.shuffle(order)  # type: ignore[attr-defined]
    tensor = torch.arange(torch.Size(sizes).numel(), dtype=torch.float16).reshape(sizes).permute(*order)
    layout = allocated_layout(SPYRE, tensor.shape, tensor.stride(), "float16", 2)
    assert layout is not None
    device = to_device(tensor, torch.float16, layout)
    assert list(device.shape) == layout.size
    assert torch.equal(to_host(device, tensor, layout), tensor)


class Scale(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


def test_parameters_inputs_and_outputs_are_told_and_passed_on() -> None:
    told: list[Transfer] = []
    log = TransferLog(MOCK, told.append)
    model = torch.compile(Scale(), backend=lambda graph_module, inputs: log.wrap(graph_module))
    assert torch.equal(model(torch.full((2,), 3.0)), torch.full((2,), 3.0))
    borders = [(one.to_device, one.role, one.name) for one in told]
    assert sorted(borders) == [(False, "output", "output 0"), (True, "input", "x"), (True, "parameter", "factor")]


def run_with_mock_backend(monkeypatch: pytest.MonkeyPatch, declared: str) -> None:
    monkeypatch.setenv("INDUCTOR_DEBUG_TRANSFERS", declared)
    torch._dynamo.reset()
    torch.compile(lambda x: x + 1, backend="inductor_debug_mock")(torch.ones(2))


def test_nothing_is_logged_unasked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run_with_mock_backend(monkeypatch, "0")
    assert "host -> device" not in capsys.readouterr().err


def test_a_script_s_log_goes_to_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run_with_mock_backend(monkeypatch, "1")
    assert "host -> device input x float32 [2]" in capsys.readouterr().err


def test_a_script_s_log_goes_to_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "transfers.jsonl"
    run_with_mock_backend(monkeypatch, str(path))
    assert [json.loads(line)["direction"] for line in path.read_text().splitlines()] == ["to-device", "to-host"]


def test_a_file_that_cannot_be_written_is_said_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_with_mock_backend(monkeypatch, str(tmp_path / "none" / "log"))
    assert capsys.readouterr().err.count("cannot be written") == 1
