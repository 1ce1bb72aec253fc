"""What must hold for tensors and models on a device other than the CPU: one body for every such device.

Run as a program of its own, `python cases.py RESULTS.json DEVICE…`, for a device is there for a whole process; the
program forks one for each. Devices are `simulated` (see `simulated_device.cpp`), `simulated-narrow` (the same without
float64) and `cuda`.
"""

from __future__ import annotations

import inspect
import json
import math
import multiprocessing
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from inductor_debug import KernelDiffHarness, compare_tensors
from inductor_debug.kerneldiff.execution.structure import cloned
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, Verdict
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig
from inductor_debug.kerneldiff.metrics.metrics import TensorComparison
from inductor_debug.kerneldiff.plots.error_maps import error_map
from inductor_debug.kerneldiff.plots.plots import heatmap
from inductor_debug.system.matplotlib_figures import MatplotlibUnavailableError
from torch import nn

DEVICE = ""
MEGABYTE = 1 << 20
_DTYPES = [
    *(torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64),
    *(torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool),
]


def near(left: float | None, right: float | None) -> bool:
    """Whether two metrics are the same but for the order in which they were added up."""
    if left is None or right is None:
        return left is right
    return left == right or math.isclose(left, right, rel_tol=1e-5, abs_tol=1e-12)


def same_metrics(left: TensorComparison, right: TensorComparison) -> None:
    """Raises if two comparisons say different things."""
    ours, theirs = left.metrics, right.metrics
    assert ours is not None
    assert theirs is not None
    for name in type(ours).__dataclass_fields__:
        assert near(getattr(ours, name), getattr(theirs, name)), (name, ours, theirs)
    assert left.worst == right.worst
    assert (left.passed, left.problem, left.shape, left.dtype) == (
        right.passed,
        right.problem,
        right.shape,
        right.dtype,
    )
    assert near(left.passes_with.atol, right.passes_with.atol)
    assert near(left.passes_with.rtol, right.passes_with.rtol)


def two(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors on the CPU that differ."""
    generator = torch.Generator().manual_seed(5)
    left = torch.randn(70, 90, generator=generator) * 10
    right = left + torch.randn(70, 90, generator=generator) * (0.001 if dtype.is_floating_point else 1)
    if dtype is torch.bool:
        return left > 0, right > 0
    return left.to(dtype), right.to(dtype)


def everywhere(left: torch.Tensor, right: torch.Tensor) -> None:
    """Both on the device, either, and none: the same is said."""
    expected = compare_tensors(left, right)
    same_metrics(compare_tensors(left.to(DEVICE), right.to(DEVICE)), expected)
    same_metrics(compare_tensors(left.to(DEVICE), right), expected)
    same_metrics(compare_tensors(left, right.to(DEVICE)), expected)


def case_tensors_there_cannot_be_read_as_memory_of_the_cpu() -> None:
    """Else this would test nothing."""
    there = torch.ones(2, device=DEVICE)
    for misuse in (lambda: there.numpy(), lambda: there + torch.ones(2)):
        try:
            misuse()
        except (TypeError, RuntimeError):
            continue
        raise AssertionError("it did not raise")


def case_every_dtype_is_measured_as_on_the_cpu() -> None:
    for dtype in _DTYPES:
        everywhere(*two(dtype))
    if DEVICE != "simulated" or torch.ops.simulated.has_float64():
        everywhere(*two(torch.float64))


def case_every_layout_is_measured_as_on_the_cpu() -> None:
    left, right = two(torch.float32)
    everywhere(left.t(), right.t())
    everywhere(left[::3, 1::2], right[::3, 1::2])
    everywhere(left, right.t().contiguous().t())
    everywhere(left[:1].expand(5, 90), right[:5])
    everywhere(left[0, 0], right[0, 0])
    everywhere(left[:0], right[:0])
    everywhere(left.view(5, 7, 2, 9, 10), right.view(5, 7, 2, 9, 10))
    complexes = two(torch.complex64)
    everywhere(complexes[0].conj(), complexes[1].conj())


def case_other_dtypes_and_numbers_that_are_none() -> None:
    left, right = two(torch.float32)
    everywhere(left, right.to(torch.float16))
    everywhere(left, right.to(torch.int32))
    left[3, 4], left[5, 6], right[7, 8], right[3, 4] = math.nan, math.inf, -math.inf, math.nan
    everywhere(left, right)
    everywhere(torch.full((9,), math.nan), torch.full((9,), math.nan))


def case_no_second_copy_of_a_tensor_is_ever_made() -> None:
    elements = 24 * MEGABYTE
    left = torch.ones(elements, device=DEVICE)
    right = left.clone()
    right[elements // 2 :] += 0.25
    others = [(left, right), (left.view(-1, 4096).t(), right.view(-1, 4096).t()), (left, right.cpu())]
    others += [(left.cpu(), right), (left[: elements // 4].to(torch.float16), right[: elements // 4])]
    for reference, actual in others:
        found, extra, moved = measured(lambda: compare_tensors(reference, actual))  # noqa: B023
        assert found.metrics is not None
        assert found.metrics.max_abs in (0.0, 0.25)
        assert extra <= 64 * MEGABYTE, extra
        assert moved <= 4 * MEGABYTE, moved


def case_of_a_few_rows_of_a_large_table_only_these_are_copied() -> None:
    table = torch.ones(4 * MEGABYTE, 4, device=DEVICE)
    rows, overlapping = table[1000:1010], table[1005:1012, 1:3]
    (copied, other), extra, _ = measured(lambda: cloned((rows, overlapping)))
    assert extra <= MEGABYTE, extra
    assert copied.stride() == rows.stride()
    assert torch.equal(copied, rows)
    assert other.stride() == overlapping.stride()
    copied[5:] = 7  # they share their memory, and nothing with the table
    assert other[0, 0] == 7
    assert float(table.max()) == 1


def measured(run: Callable[[], Any]) -> tuple[Any, int, int]:
    """A result, how many bytes of the device it took besides, and the largest copy (0 where nobody can tell)."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        return run(), torch.cuda.max_memory_allocated() - before, 0
    torch.ops.simulated.reset_counts()
    before = torch.ops.simulated.counts()[0]
    found = run()
    _, peak, _, largest = torch.ops.simulated.counts()
    return found, peak - before, largest


def case_another_device_is_a_problem_if_that_is_asked_for() -> None:
    left, right = two(torch.float32)
    there = right.to(DEVICE)
    assert "devices differ: cpu" in compare_tensors(left, there, ComparisonConfig(check_device=True)).problem
    assert compare_tensors(left, there, ComparisonConfig(check_device=False)).problem == ""
    assert compare_tensors(left, left.to(DEVICE)).passed


class Block(nn.Module):
    """Everything that has a state: weights, statistics, dropped elements."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(24, 40)
        self.norm = nn.BatchNorm1d(40)
        self.drop = nn.Dropout(0.4)
        self.down = nn.Linear(40, 24)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = self.norm(self.up(x))
        hidden = self.drop(torch.relu(hidden))
        return {"y": x + self.down(hidden), "sum": hidden.sum()}


def block() -> Block:
    torch.manual_seed(2)
    return Block().to(DEVICE)


def rows() -> torch.Tensor:
    return torch.randn(32, 24, generator=torch.Generator().manual_seed(4)).to(DEVICE)


def passes(report: DiffReport) -> None:
    """Raises unless everything was measured, from the exact result, and is right."""
    assert report.verdict is Verdict.PASS, report.summary()
    assert not [note for note in report.notes if "float64" in note or "could not" in note], report.notes
    assert report.deterministic


def case_a_model_in_training_drops_the_same_elements_on_all_sides() -> None:
    """An emulated accelerator's error is that of its format, measured from the exact result: no mask's."""
    report = KernelDiffHarness(block().train(), (rows(),), test_backend="spyre").compare()
    passes(report)
    assert len(report.gradients) == 7
    assert {result.name: result.ratio for result in report.outputs if result.ratio and result.ratio > 2} == {}
    drawn = [node for node in report.nodes if any(word in node.op for word in ("dropout", "bernoulli", "rand"))]
    assert drawn
    for node in drawn:
        assert node.isolated is not None
        assert node.isolated.relative < 0.01, (node.op, node.isolated)
    # The error of a mask would make any error look like the one to expect.
    assert all(result.comparison.metrics.max_rel < 0.1 for result in report.outputs if result.name == "output['sum']")


def case_the_model_and_its_random_numbers_are_as_before() -> None:
    model, x = block().train(), rows()
    model.up.weight.grad = torch.full_like(model.up.weight, 3.0)
    before = {name: value.detach().clone() for name, value in model.state_dict().items()}
    torch.manual_seed(77)
    expected = torch.rand(5, device=DEVICE)
    torch.manual_seed(77)
    passes(KernelDiffHarness(model, (x,), test_backend="aot_eager", runs=2).compare())
    assert torch.equal(torch.rand(5, device=DEVICE), expected)
    assert model.training
    assert torch.equal(model.up.weight.grad, torch.full_like(model.up.weight, 3.0))
    assert model.down.weight.grad is None
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert torch.equal(x, rows())


def elsewhere(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """A backend that leaves its results on the CPU."""
    return lambda *args: tuple(value.cpu() for value in graph_module.forward(*args))


def case_results_on_another_device_are_named_by_path() -> None:
    report = KernelDiffHarness(block().eval(), (rows(),), test_backend=elsewhere).compare()
    assert report.verdict is Verdict.WRONG
    assert [result.name for result in report.outputs] == ["output['y']", "output['sum']"]
    for result in report.outputs:
        assert result.why == f"devices differ: {rows().device} for the reference, cpu for the result", result.why
    config = ComparisonConfig(check_device=False)
    passes(KernelDiffHarness(block().eval(), (rows(),), test_backend=elsewhere, comparison_config=config).compare())


def wrong_relu(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """A backend with one operation that is wrong."""
    for node in graph_module.graph.nodes:
        if node.target is torch.relu:
            with graph_module.graph.inserting_after(node):
                scaled = graph_module.graph.call_function(torch.mul, (node, 1.01))
            node.replace_all_uses_with(scaled, delete_user_cb=lambda user: user is not scaled)  # noqa: B023
    graph_module.recompile()
    return graph_module.forward


def case_a_wrong_operation_of_an_opaque_backend_is_found() -> None:
    report = KernelDiffHarness(block().eval(), (rows(),), test_backend=wrong_relu).compare()
    assert report.verdict is Verdict.WRONG
    assert report.blame, report.summary()
    assert blamed_line(report) == line("torch.relu(hidden)"), report.summary()


def case_injected_faults_are_blamed_on_their_expression() -> None:
    where = line("torch.relu(hidden)")
    inject = [f"zero-output@{where + 1}"]
    report = KernelDiffHarness(block().train(), (rows(),), test_backend="eager", inject=inject).compare()
    assert report.verdict is Verdict.WRONG, report.summary()
    assert blamed_line(report) == where, report.summary()


def line(text: str) -> int:
    """The line of `Block` with that text, counted from zero."""
    lines, first = inspect.getsourcelines(Block)
    return first - 1 + next(number for number, found in enumerate(lines) if text in found)


def blamed_line(report: DiffReport) -> int | None:
    place = report.blame[0].place
    return None if place is None else place.range.start.line


class Mixed(nn.Module):
    """Results on both devices; integers; inputs that are written to and share memory; no tensor at all."""

    def forward(self, whole: torch.Tensor, half: torch.Tensor, ids: torch.Tensor, scale: float) -> list[Any]:
        half.mul_(scale)
        best = whole.argmax(-1)
        host = torch.arange(4.0) * 2
        return [whole.exp(), {"ids": ids + 1, "best": best}, host, None, "text", scale, ids[:2]]


def case_results_of_every_kind_and_aliased_inputs() -> None:
    memory = rows()
    inputs = (memory, memory[:16], torch.arange(6, device=DEVICE), 0.5)
    report = KernelDiffHarness(Mixed(), inputs, test_backend="aot_eager").compare()
    passes(report)
    names = [result.name for result in report.outputs]
    assert "output[1]['best']" in names
    assert "args[0] after the call" in names
    assert "args[1] after the call" in names
    assert torch.equal(memory, rows())


class Raising(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(24)  # on the CPU


def case_a_model_that_mixes_devices_failed_and_is_not_wrong() -> None:
    report = KernelDiffHarness(Raising(), (rows(),), test_backend="aot_eager").compare()
    assert report.verdict is Verdict.FAILED
    assert "device" in report.why, report.why
    assert not report.outputs


def case_pictures_and_maps_of_errors() -> None:
    left, right = two(torch.float32)
    for reference, actual in ((left, right), (left[0, 0], right[0, 0]), (left[:32, :60].view(2, 4, 4, 6, 10),) * 2):
        there, host = reference.to(DEVICE), actual.to(DEVICE)
        made, expected = error_map("x", there, host), error_map("x", reference, actual)
        assert torch.equal(made.cells, expected.cells)
        assert torch.equal(made.histogram.counts, expected.histogram.counts)
        assert heatmap(there, host, "x")[:4] == b"\x89PNG"


def case_a_script_for_this_device_is_compared_with_its_device() -> None:
    """Constructors that name the device get it where it is there."""
    made = torch.nn.functional.linear

    def model(x: torch.Tensor) -> torch.Tensor:
        weight = torch.ones(8, 24, device=DEVICE)
        return made(x, weight) + torch.zeros(8, device=x.device)

    passes(KernelDiffHarness(model, (rows(),), test_backend="aot_eager").compare())


def main(results: str, *devices: str) -> None:
    """Runs every case on each of the devices, in a forked process each; writes what was said by device and case."""
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        said = pool.map(run, devices, chunksize=1)
    Path(results).write_text(json.dumps(dict(zip(devices, said, strict=True))), "utf-8")


def run(device: str) -> dict[str, str]:
    """What each case says that fails, and nothing for one that holds."""
    global DEVICE
    DEVICE = device.removesuffix("-narrow")
    if DEVICE == "simulated":
        import simulated_device

        simulated_device.load(simulated_device.build(), float64=device == DEVICE)
    found = {}
    for name, case in list(globals().items()):
        if name.startswith("case_"):
            torch._dynamo.reset()
            try:
                case()
            except MatplotlibUnavailableError:
                found[name] = ""
            except Exception:
                found[name] = traceback.format_exc()
            else:
                found[name] = ""
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
