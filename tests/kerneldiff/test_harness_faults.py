"""The tool against itself: every fault put into an accelerator's arithmetic is found, at the expression it was put."""

from __future__ import annotations

import inspect

import pytest
import torch
from inductor_debug import KernelDiffHarness
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, Verdict
from torch import nn

pytestmark = pytest.mark.torch


class Layers(nn.Module):
    """Every kind of operation that a fault can spoil, each in a line of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(96, 160)
        self.down = nn.Linear(160, 96)
        self.norm = nn.LayerNorm(96)

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = self.up(x)  # matmul
        hidden = nn.functional.gelu(hidden)  # pointwise
        y = self.down(hidden)
        y = self.norm(x + y)  # normalisation
        keys = ids * 5_000_000_000  # integers
        small = ids + 7
        return torch.softmax(y, -1), keys, small, y.mean(1)


LINES, FIRST = inspect.getsourcelines(Layers)


def line(comment: str) -> int:
    """The line with that comment, counted from one."""
    return FIRST + next(number for number, text in enumerate(LINES) if f"# {comment}" in text)


@pytest.fixture(scope="module")
def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(4, 8, 96, generator=generator), torch.arange(1, 9)


def compared(inputs: tuple[torch.Tensor, torch.Tensor], backend: str, *faults: str) -> DiffReport:
    torch.manual_seed(1)
    return KernelDiffHarness(Layers().eval(), inputs, test_backend=backend, inject=faults).compare()


@pytest.mark.parametrize(
    ("backend", "fault", "comment"),
    [
        ("eager", "drop-last-stick", "matmul"),
        ("eager", "drop-last-stick", "pointwise"),
        ("eager", "zero-output", "normalisation"),
        ("eager", "downcast-int64", "integers"),
        ("eager", "reduction-order", "matmul"),
        ("eager", "wrong-rounding", "pointwise"),
        ("spyre", "drop-last-stick", "matmul"),
        ("spyre", "drop-last-stick", "pointwise"),
        ("spyre", "zero-output", "pointwise"),
        ("spyre", "downcast-int64", "integers"),
        ("spyre", "reduction-order", "matmul"),
        ("spyre", "wrong-rounding", "normalisation"),
    ],
)
def test_a_fault_is_found_and_blamed_on_its_expression(
    inputs: tuple[torch.Tensor, torch.Tensor], backend: str, fault: str, comment: str
) -> None:
    inputs = (inputs[0], inputs[1] if fault == "downcast-int64" or backend == "eager" else torch.zeros_like(inputs[1]))
    report = compared(inputs, backend, f"{fault}@{line(comment)}")
    assert report.verdict in (Verdict.WRONG, Verdict.SUSPICIOUS), report.summary()
    assert report.blame, report.summary()
    blamed = {blame.place.range.start.line + 1 for blame in report.blame if blame.place is not None}
    assert blamed == {line(comment)}, report.summary()
    assert report.blame[0].place is not None
    assert report.blame[0].place.path == __file__
    document = report.to_dict()
    assert document["blame"][0]["range"]["start"]["line"] + 1 == line(comment)


@pytest.mark.parametrize("fault", ["drop-last-stick", "wrong-rounding"])
def test_a_fault_everywhere_is_blamed_on_several_operations(
    inputs: tuple[torch.Tensor, torch.Tensor], fault: str
) -> None:
    report = compared(inputs, "eager", fault)
    assert report.verdict in (Verdict.WRONG, Verdict.SUSPICIOUS)
    assert len({blame.place for blame in report.blame}) > 1
    assert report.first_divergent or fault == "wrong-rounding"  # whose errors grow slowly


def test_the_arithmetic_without_faults_passes_and_no_node_is_blamed(
    inputs: tuple[torch.Tensor, torch.Tensor],
) -> None:
    report = compared((inputs[0], torch.zeros_like(inputs[1])), "spyre")
    assert report.verdict is Verdict.PASS, report.summary()
    assert not report.blame
    assert report.nodes
    assert all(result.ratio is None or result.ratio < 2 for result in report.outputs)


def test_integers_that_the_accelerator_cuts_to_32_bits_are_wrong_without_any_fault(
    inputs: tuple[torch.Tensor, torch.Tensor],
) -> None:
    report = compared(inputs, "spyre")
    assert report.verdict is Verdict.WRONG
    assert [blame.op for blame in report.blame] == ["aten.mul.Tensor"]


def test_putting_the_operation_at_fault_right_takes_the_error_away(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    report = compared(inputs, "eager", f"zero-output@{line('pointwise')}")
    replaced = {node.op: node.replaced for node in report.nodes if node.replaced is not None}
    assert replaced["aten.gelu.default"] == pytest.approx(0.0, abs=1e-6)


def test_faults_go_into_arithmetic_that_can_be_had_only(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    report = compared(inputs, "inductor", "zero-output")
    assert report.verdict is Verdict.FAILED
    assert "into eager and into emulated accelerators only" in report.why
    unknown = compared(inputs, "spyre", "zero-outptu")
    assert unknown.verdict is Verdict.FAILED
    assert "did you mean 'zero-output'?" in unknown.why


def test_a_fault_that_meets_no_operation_is_said_to(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    report = compared(inputs, "eager", f"zero-output@{FIRST}", f"zero-output@{line('pointwise')}")
    assert report.notes == [
        f"zero-output@{FIRST} was put into no operation: none comes from there.",
        f"zero-output@{line('pointwise')} changes the results of 1 operation, and was found.",
    ]
    assert report.to_dict()["faults"] == [
        {"fault": f"zero-output@{FIRST}", "operations": 0, "changed": 0, "found": False},
        {"fault": f"zero-output@{line('pointwise')}", "operations": 1, "changed": 1, "found": True},
    ]


def test_a_fault_that_changes_no_value_is_no_fault_that_was_missed(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    fault = f"downcast-int64@{line('pointwise')}"
    report = compared(inputs, "eager", fault)
    assert report.verdict is Verdict.PASS
    assert f"note: {fault} was put into 1 operation and changes no value here: there is nothing" in report.summary()


def test_what_is_not_looked_for_among_operations_is_found_by_the_verdict(
    inputs: tuple[torch.Tensor, torch.Tensor],
) -> None:
    faults = [f"zero-output@{line('pointwise')}"]
    report = KernelDiffHarness(Layers().eval(), inputs, test_backend="eager", inject=faults, nodes=False).compare()
    assert [fault.found for fault in report.faults] == [True]


def test_cut_off_results_of_the_reference_s_own_kernels_are_seen_though_rounding_could_explain_them() -> None:
    class Product(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x @ y

    matrices = torch.randn(2, 4, 256, 256, generator=torch.Generator().manual_seed(1))
    report = KernelDiffHarness(Product(), tuple(matrices), test_backend="eager", inject=["wrong-rounding"]).compare()
    assert [blame.op for blame in report.blame] == ["aten.bmm.default"]
    assert "although the reference's own kernel computes it" in report.blame[0].why


def test_faults_in_backward_are_blamed_on_the_expression_they_belong_to(
    inputs: tuple[torch.Tensor, torch.Tensor],
) -> None:
    report = KernelDiffHarness(
        Layers().eval(), inputs, test_backend="eager", inject=[f"zero-output@{line('pointwise')}"], gradients=True
    ).compare()
    assert {blame.place.range.start.line + 1 for blame in report.blame if blame.place} == {line("pointwise")}
    assert any(node.graph.endswith("backward") for node in report.nodes)


def test_numbers_that_the_format_cannot_hold_are_wrong_where_the_reference_holds_them() -> None:
    class Overflows(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x) + (x * 1e6).square()

    values = torch.full((4, 64), 9.0, dtype=torch.bfloat16)
    report = KernelDiffHarness(Overflows(), (values,), test_backend="spyre").compare()
    assert report.verdict is Verdict.WRONG
    assert "infinity" in report.why
    assert report.blame[0].op == "aten.pow.Tensor_Scalar"
