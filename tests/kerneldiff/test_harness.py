"""`KernelDiffHarness`: what it says of backends that are right, wrong or broken, whatever a model takes and returns."""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import needed
import pytest
import torch
from inductor_debug import DiffReport, KernelDiffHarness
from inductor_debug.kerneldiff.execution.settled import settled
from inductor_debug.kerneldiff.execution.structure import pairs
from inductor_debug.kerneldiff.judging.diff_report import Verdict
from inductor_debug.kerneldiff.judging.output_judging import Anchors, judge_pairs
from inductor_debug.kerneldiff.judging.verdict import overall
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig
from torch import nn

pytestmark = pytest.mark.torch


def spoil(name: str, replacement: Callable[..., Any]) -> Callable[..., Any]:
    """A backend that computes one function or method wrongly."""

    def backend(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and getattr(node.target, "__name__", "") == name:
                node.target = replacement
            elif node.op == "call_method" and node.target == name:
                node.op, node.target = "call_function", replacement
        graph_module.recompile()
        return graph_module.forward

    return backend


def honest(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    return graph_module.forward


def compared(model: Any, inputs: Any, backend: Any = honest, **settings: Any) -> DiffReport:
    return KernelDiffHarness(model, inputs, test_backend=backend, **settings).compare()


@dataclass
class Answer:
    logits: torch.Tensor
    parts: list[torch.Tensor]


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


class Slots:
    __slots__ = ("value",)

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, batch: dict[str, Any], *, scale: float = 2.0) -> Any:
        hidden = self.linear(batch["x"]) * scale
        return {"answer": [hidden, (hidden.cos(), batch["many"][0] + 1)], "size": hidden.shape[0], "name": "nested"}


def test_every_leaf_of_a_nested_structure_is_compared_under_its_own_name() -> None:
    batch = {"x": torch.randn(4, 8), "many": (torch.arange(3),)}
    report = compared(Nested(), {"batch": batch, "scale": 3.0})
    names = [result.name for result in report.outputs]
    assert names == [
        "output['answer'][0]",
        "output['answer'][1][0]",
        "output['answer'][1][1]",
        "output['size']",
        "output['name']",
    ]
    assert report.verdict is Verdict.PASS, report.why


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda x: Answer(x.cos(), [x.sin()]), ["output.logits", "output.parts[0]"]),
        (lambda x: Pair(x.cos(), x.sin()), ["output.left", "output.right"]),
        (lambda x: x.sum(), ["output"]),
        (lambda x: x[:, :0], ["output"]),
        (lambda x: x / 0 - x / 0, ["output"]),
        (lambda x: torch.complex(x, x) * 2, ["output"]),
        (lambda x: (x > 0, x.argmax(-1), x.to(torch.int32)), ["output[0]", "output[1]", "output[2]"]),
        (lambda x: x.to(torch.bfloat16) * 2, ["output"]),
        (lambda x: (x, x, x.t()), ["output[0]", "output[1]", "output[2]"]),
        (lambda x: (None, x.cos().sum().item(), "words"), ["output[0]", "output[1]", "output[2]"]),
        (lambda x: (x * number for number in range(2)), ["output[0]", "output[1]"]),
        (lambda x: zip([x.cos()], [x.sin()], strict=True), ["output[0][0]", "output[0][1]"]),
        (lambda x: {"a": x.cos()}.values(), ["output[0]"]),
        (lambda x: deque([x.cos(), x.sin()]), ["output[0]", "output[1]"]),
        (lambda x: Slots(x.cos()), ["output.value"]),
        (lambda x: x.relu().to_sparse(), ["output"]),
        (lambda x: torch.nested.nested_tensor([x[:2], x]), ["output[0]", "output[1]"]),
        (lambda x: torch.nested.nested_tensor([x[:2], x], layout=torch.jagged), ["output[0]", "output[1]"]),
    ],
    ids=[
        "dataclass",
        "named-tuple",
        "scalar",
        "empty",
        "nan",
        "complex",
        "exact-dtypes",
        "half",
        "aliases",
        "no-tensors",
        "generator",
        "zip",
        "values-of-a-dictionary",
        "deque",
        "slots",
        "sparse",
        "nested",
        "jagged",
    ],
)
def test_what_models_return(make: Callable[[torch.Tensor], Any], names: list[str]) -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return make(x + 1)

    report = compared(Model().eval(), (torch.randn(4, 4),))
    assert [result.name for result in report.outputs] == names
    assert report.verdict is Verdict.PASS, report.summary()
    assert report.deterministic


@pytest.mark.parametrize(
    ("wrap", "verdict", "words"),
    [
        (lambda value: deque([value]), Verdict.WRONG, "output[0]: "),
        (lambda value: iter([value]), Verdict.WRONG, "output[0]: "),
        (lambda value: Slots(value), Verdict.WRONG, "output.value: "),
        (lambda value: torch.nested.nested_tensor([value]), Verdict.WRONG, "output[0]: "),
        (lambda value: value.to_sparse(), Verdict.WRONG, "output: "),
        (lambda value: {value}, Verdict.SUSPICIOUS, "the tensors of a set have no order"),
        (lambda value: lambda: value, Verdict.PASS, "output: only its type was compared."),
    ],
    ids=["deque", "iterator", "slots", "nested", "sparse", "set", "function"],
)
def test_what_is_in_there_is_compared_or_it_is_said_that_it_was_not(
    wrap: Callable[[torch.Tensor], Any], verdict: Verdict, words: str
) -> None:
    reference, actual = (settled(wrap(torch.full((9,), value))) for value in (1.0, 1.5))
    results = judge_pairs(pairs(reference, actual, "output"), Anchors(), ComparisonConfig())
    found, why = overall(results, "eager", True)
    assert found is verdict, why
    assert words in why


def test_an_iterator_cannot_be_the_input_of_several_runs() -> None:
    report = compared(lambda x, others: x + next(others), (torch.ones(2), iter([torch.ones(2)])))
    assert report.verdict is Verdict.FAILED
    assert "args[1] is an iterator" in report.why


def test_outputs_of_transformers_are_looked_into() -> None:
    outputs = needed.library("transformers.modeling_outputs")

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return outputs.BaseModelOutput(last_hidden_state=x.cos(), hidden_states=(x, x.sin()))

    report = compared(Model(), torch.randn(3, 3))
    assert next(result.name for result in report.outputs) == "output.last_hidden_state"
    assert len(report.outputs) == 3


@pytest.mark.parametrize(
    ("replacement", "problem"),
    [
        (lambda x: torch.cos(x) * 1.001, "times the error to expect"),
        (lambda x: torch.cos(x)[:, :2], "shape"),
        (lambda x: torch.cos(x).double(), "float64"),
        (lambda x: torch.cos(x) * float("nan"), "NaN"),
        (lambda x: torch.zeros_like(x), "times the error to expect"),
    ],
    ids=["value", "shape", "dtype", "nan", "zeros"],
)
def test_a_wrong_result_is_wrong_and_says_how(replacement: Callable[..., Any], problem: str) -> None:
    report = compared(Cosine(), (torch.randn(4, 8),), spoil("cos", replacement))
    assert report.verdict is Verdict.WRONG
    assert report.why.startswith("output")
    assert problem in report.why
    assert report.to_dict()["outputs"][0]["verdict"] == "wrong"


class Cosine(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.linear(x))
        return torch.cos(hidden)


def test_a_structure_that_differs_is_told_by_its_path() -> None:
    def backend(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        return lambda *args: tuple(value.unsqueeze(0) for value in graph_module.forward(*args))

    report = compared(Cosine(), (torch.randn(4, 8),), backend)
    assert report.verdict is Verdict.WRONG
    assert "[1, 4, 8]" in report.why


class InPlace(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        cache.mul_(2)
        return self.drop(self.norm(x)) + cache + self.calls


def test_inputs_weights_buffers_modes_gradients_and_random_numbers_are_as_before() -> None:
    model = InPlace().train()
    model.norm.eval()
    parameter = model.norm.weight
    parameter.grad = torch.full_like(parameter, 7.0)
    x, cache = torch.randn(4, 8), torch.randn(4, 8)
    before = [tensor.clone() for tensor in (x, cache, *model.state_dict().values())]
    torch.manual_seed(5)
    random.seed(5)
    wanted = torch.rand(1), random.random()
    torch.manual_seed(5)
    random.seed(5)
    report = compared(model, (x, cache), gradients=True)
    assert report.verdict is Verdict.PASS, report.summary()
    assert (torch.rand(1), random.random()) == wanted
    after = [x, cache, *model.state_dict().values()]
    assert all(torch.equal(left, right) for left, right in zip(before, after, strict=True))
    assert parameter.grad is not None
    assert bool((parameter.grad == 7).all())
    assert model.training
    assert not model.norm.training
    assert "args[1] after the call" in [result.name for result in report.outputs]


def test_an_update_in_place_that_the_backend_forgets_is_wrong() -> None:
    def forgets(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        return lambda *args: graph_module.forward(*(arg.clone() for arg in args))

    report = compared(lambda x: x.add_(1).cos(), (torch.randn(4),), forgets)
    named = {result.name: result.verdict for result in report.outputs}
    assert named == {"output": Verdict.PASS, "args[0] after the call": Verdict.WRONG}


def test_dropout_drops_the_same_elements_on_both_sides_and_in_float64() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.dropout(x, 0.5) + torch.rand_like(x) + torch.randn(8)

    report = compared(Model(), (torch.randn(16, 8),), "aot_eager", runs=2)
    assert report.verdict is Verdict.PASS, report.summary()
    assert len(report.outputs[0].spread) == 2
    assert report.to_dict()["outputs"][0]["runs"]["variance"] is not None


def test_a_model_that_is_not_deterministic_is_said_so_and_no_backend_is_blamed() -> None:
    numbers = random.SystemRandom()

    class Model(nn.Module):
        @torch._dynamo.disable  # type: ignore[untyped-decorator]
        def noise(self) -> float:
            return numbers.random()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.cos() * (1 + self.noise())

    report = compared(Model(), (torch.randn(64),))
    assert report.deterministic is False
    assert report.verdict in (Verdict.PASS, Verdict.SUSPICIOUS)
    assert any("each time" in note for note in report.notes)


def test_gradients_of_inputs_and_parameters_are_compared_and_blamed() -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
            context.save_for_backward(x)
            return torch.cos(x)

        @staticmethod
        def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            return -torch.sin(context.saved_tensors[0]) * gradient * 1.01

    report = compared(Cosine(), (torch.randn(4, 8),), spoil("cos", lambda x: Doubled.apply(x)), gradients=True)
    assert [result.verdict for result in report.outputs] == [Verdict.PASS]
    assert {result.name for result in report.gradients} == {
        "grad of args[0]",
        "grad of linear.weight",
        "grad of linear.bias",
    }
    assert report.verdict is Verdict.WRONG
    assert [blame.node for blame in report.blame][:1] == ["cos"]


def test_a_gradient_that_only_one_side_has_is_wrong() -> None:
    report = compared(Cosine(), (torch.randn(4, 8),), spoil("relu", lambda x: torch.relu(x.detach())), gradients=True)
    assert report.verdict is Verdict.WRONG
    missing = [result for result in report.gradients if "only the reference has a gradient" in result.why]
    assert {result.name for result in missing} == {
        "grad of args[0]",
        "grad of linear.weight",
        "grad of linear.bias",
    }


def raises(*args: Any) -> Any:
    raise RuntimeError("no such kernel")


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        (spoil("cos", raises), "no such kernel"),
        (raises, "no such kernel"),
        ("spyr", "did you mean 'spyre'"),
        ("eager", "could not fail"),
        ("mock", "arithmetic"),
        ("missing.toml", "missing.toml"),
        (Path("missing.toml"), "missing.toml"),
        (None, "a backend is a name, a TOML file or a callable, not None"),
    ],
    ids=["runs", "compiles", "unknown", "eager", "no-arithmetic", "no-file", "no-path", "nothing"],
)
def test_a_backend_that_fails_is_a_failed_comparison_and_never_a_difference(backend: Any, words: str) -> None:
    report = compared(Cosine(), (torch.randn(4, 8),), backend)
    assert report.verdict is Verdict.FAILED
    assert words in report.why
    assert not report.outputs
    assert not report.blame


def test_a_backend_that_was_given_no_graph_has_not_passed() -> None:
    class Model(nn.Module):
        @torch._dynamo.disable  # type: ignore[untyped-decorator]
        def hidden(self, x: torch.Tensor) -> torch.Tensor:
            return x.cos()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.hidden(x)

    report = compared(Model(), (torch.randn(4, 8),))
    assert report.verdict is Verdict.FAILED
    assert "no graph" in report.why


def test_a_model_that_raises_fails_on_its_own_account() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ torch.ones(3, 3)

    report = compared(Model(), (torch.randn(4, 8),))
    assert report.verdict is Verdict.FAILED
    assert report.why.startswith("Both sides raised")


def test_results_that_came_before_a_failure_are_kept() -> None:
    class Refuses(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
            return torch.cos(x)

        @staticmethod
        def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            raise RuntimeError("no backward")

    report = compared(Cosine(), (torch.randn(4, 8),), spoil("cos", lambda x: Refuses.apply(x)), gradients=True)
    assert report.verdict is Verdict.FAILED
    assert "raised in the backward" in report.why
    assert [result.verdict for result in report.outputs] == [Verdict.PASS]


def test_what_was_compiled_is_kept_for_the_next_comparison() -> None:
    compilations = []

    def backend(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        compilations.append(1)
        return graph_module.forward

    harness = KernelDiffHarness(Cosine(), (torch.randn(4, 8),), test_backend=backend, runs=3)
    assert harness.compare().verdict is Verdict.PASS
    assert harness.compare().verdict is Verdict.PASS
    assert len(compilations) == 1


def test_near_ties_of_an_argmax_are_no_fault_and_other_differences_are() -> None:
    scores = torch.randn(32, 16)
    scores[:, 3] = scores[:, 5] = 9.0

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * 1.1).argmax(-1)

    moved = spoil("argmax", lambda x, dim: (x + torch.eye(16)[5] * 1e-6).argmax(dim))
    assert compared(Model(), (scores,), moved).verdict is Verdict.PASS
    wrong = spoil("argmax", lambda x, dim: x.argmin(dim))
    report = compared(Model(), (scores,), wrong)
    assert report.verdict is Verdict.WRONG
    assert "where rounding does not decide" in report.why


def test_what_float64_cannot_do_is_measured_from_the_reference_and_said() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.dtype is not torch.float32:
                raise TypeError("float32 only")
            return x.cos()

    report = compared(Model(), (torch.randn(8),))
    assert report.verdict is Verdict.PASS
    assert any("float64" in note for note in report.notes)
    assert compared(Model(), (torch.randn(8),), spoil("cos", torch.sin)).verdict is Verdict.WRONG


def test_pictures_are_drawn_on_request(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    needed.library("matplotlib")
    monkeypatch.chdir(tmp_path)
    report = KernelDiffHarness(
        lambda x: (x.sum(), x[None, None, None].cos()), (torch.randn(3, 3),), test_backend=honest, model_name="shapes"
    ).compare(generate_visualizations=True)
    assert len(report.pictures) >= 3
    for path in report.pictures:
        with open(path, "rb") as stream:
            assert stream.read(4) == b"\x89PNG"


def test_sides_run_alone_give_what_is_compared_and_leave_the_model_as_it_was() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    harness = KernelDiffHarness(model, (torch.randn(8, 4),), test_backend=spoil("batch_norm", lambda x, *_, **__: x))
    right, wrong = harness.run_reference(), harness.run_test()
    assert right.error is wrong.error is None
    assert right.output.shape == wrong.output.shape == (8, 4)
    assert torch.equal(right.output, harness.run_reference().output)
    assert set(right.gradients) == set(wrong.gradients) != set()
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert harness.compare().verdict is Verdict.WRONG


def test_a_side_that_raises_tells_what() -> None:
    def refuse(graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        raise NotImplementedError("no such kernel")

    ran = KernelDiffHarness(nn.Linear(2, 2), (torch.ones(1, 2),), test_backend=refuse).run_test()
    assert ran.output is None
    assert "no such kernel" in str(ran.error)


def test_a_report_is_written_as_the_document_that_it_is(tmp_path: Path) -> None:
    report = compared(nn.Linear(2, 2), (torch.ones(1, 2),))
    report.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == report.to_dict()
    assert json.loads(report.to_json()) == report.to_dict()
