"""The aot stage: forward and backward graphs of a target, what ties them together, and what it says where it cannot."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze, excerpt
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    Direction,
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    NodeRole,
    Severity,
    Stage,
    StageState,
)
from torch_release import QUANTISED_ON_FAKE

pytestmark = pytest.mark.torch

MODEL = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 32)
        self.norm = nn.LayerNorm(32)

    def forward(self, x):
        y = self.norm(self.fc(x))
        return torch.relu(y).sum()

def get_inputs():
    return [torch.randn(8, 64)]
"""


def run(folder: Path, text: str, *stages: Stage, accelerator: str = "mock") -> Job:
    return analyze(
        folder / "model.py", dedent(text), stages=stages or (Stage.AOT,), keep_graphs=True, accelerator=accelerator
    )


def document(job: Job) -> GraphDocument:
    made = [event for event in job.events if isinstance(event, ArtifactMade) and event.suffix == ".graph"]
    assert made[-1].kind is ArtifactKind.AOT_GRAPHS
    return decode(made[-1].content)


def kinds(made: GraphDocument) -> list[tuple[str, GraphKind]]:
    return [(graph.name, graph.kind) for graph in made.graphs]


def node(graph: Graph, op: str) -> GraphNode:
    return next(row for row in graph.nodes if row.op == op)


def notes(job: Job) -> str:
    return "\n".join(job.stages[-1].report.notes)


def test_training_gives_dynamos_joint_forward_and_backward_graph(tmp_path: Path) -> None:
    job = run(tmp_path, MODEL)
    made = document(job)
    assert kinds(made) == [
        ("0", GraphKind.FX),
        ("0.joint", GraphKind.JOINT),
        ("0.forward", GraphKind.FORWARD),
        ("0.backward", GraphKind.BACKWARD),
    ]
    assert [graph.made_from for graph in made.graphs] == ["", "0", "0", "0"]
    report = job.stages[-1].report
    forward, backward = made.graphs[2:]
    assert (report.state, report.graphs, report.notes) == (StageState.DONE, 1, [])
    assert report.ops == sum(row.op.startswith("aten.") for graph in (forward, backward) for row in graph.nodes)


def test_backward_nodes_name_their_forward_nodes_places_and_modules(tmp_path: Path) -> None:
    job = run(tmp_path, MODEL)
    fx, _, forward, backward = document(job).graphs
    norm = node(backward, "aten.native_layer_norm_backward.default")
    assert node(forward, "aten.native_layer_norm.default").name in norm.forward
    assert norm.seq_nr == node(forward, "aten.native_layer_norm.default").seq_nr
    assert norm.module == "norm"
    assert norm.place is not None
    assert excerpt(job.text, norm.place) == "self.norm(self.fc(x))"
    assert norm.origins == node(forward, "aten.native_layer_norm.default").origins
    assert norm.origins == [node(fx, "torch.nn.functional.layer_norm").name]
    names = {row.name for row in forward.nodes}
    assert all(names.issuperset(row.forward) for row in backward.nodes)
    assert all(row.place is not None for row in backward.nodes if row.role is NodeRole.OP)


def test_parameters_keep_their_names_in_every_graph(tmp_path: Path) -> None:
    _, joint, forward, backward = document(run(tmp_path, MODEL)).graphs
    wanted = {"fc.weight", "fc.bias", "norm.weight", "norm.bias"}
    for graph in (joint, forward):
        assert {row.detail for row in graph.nodes if row.role is NodeRole.PARAMETER} == wanted
    saved = [row for row in backward.nodes if row.op == "placeholder" and row.role is NodeRole.INPUT]
    assert {"norm.weight", "norm.bias"} <= {row.detail for row in backward.nodes if row.role is NodeRole.PARAMETER}
    assert saved
    assert all(row.shape is not None and row.bytes for row in saved)
    assert [row.detail for row in saved if row.detail] == ["x", "gradient of output 0"]


def test_a_backward_finding_says_so_and_does_not_repeat_the_forward(tmp_path: Path) -> None:
    job = run(tmp_path, MODEL, Stage.PREVIEW, Stage.MOCK, Stage.AOT, accelerator="spyre")
    found = [finding for finding in job.findings if finding.stage is Stage.AOT]
    backward = [finding for finding in found if finding.direction is Direction.BACKWARD]
    assert all(finding.message.startswith("In the backward pass: ") for finding in backward)
    assert {job.marked(finding) for finding in backward} == {"torch.relu(y)", "self.norm(self.fc(x))"}
    forward = {(finding.rule, finding.range) for finding in job.findings if finding not in backward}
    assert not [finding for finding in backward if (finding.rule, finding.range) in forward]


def test_a_gradient_that_inherits_its_values_dtype_is_counted_not_told_twice(tmp_path: Path) -> None:
    job = run(tmp_path, MODEL.replace("torch.relu(y)", "y.double().sin().float()"), Stage.MOCK, Stage.AOT)
    mock, aot = job.of("dtype")
    assert job.marked(mock) == job.marked(aot) == "y.double()"
    assert aot.count > mock.count
    assert mock.direction is aot.direction is Direction.FORWARD
    assert "In the backward pass" not in aot.message


EVAL = MODEL.replace("class Model", "# inductor-debug: inputs=(torch.randn(8, 64),), eval\nclass Model")
NO_GRAD = MODEL.replace("    def forward", "    @torch.no_grad()\n    def forward")
NO_PARAMETERS = """
import torch

# inductor-debug: inputs=(torch.randn(4),)
def step(x):
    return x * 2
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(EVAL, "in eval mode", id="eval"),
        pytest.param(NO_GRAD, "Nothing here needs a gradient", id="no_grad"),
        pytest.param(NO_PARAMETERS, "Nothing here needs a gradient", id="no parameters"),
    ],
)
def test_what_needs_no_gradient_has_a_forward_alone_and_says_so(tmp_path: Path, text: str, words: str) -> None:
    job = run(tmp_path, text)
    assert kinds(document(job)) == [("0", GraphKind.FX), ("0.forward", GraphKind.FORWARD)]
    assert words in notes(job)
    assert job.stages[-1].report.state is StageState.DONE


def test_sums_of_gradients_and_what_is_written_back_belong_to_an_expression(tmp_path: Path) -> None:
    text = MODEL.replace("nn.LayerNorm(32)", "nn.BatchNorm1d(32)").replace("torch.relu(y)", "(torch.relu(y) + y)")
    _, joint, forward, backward = document(run(tmp_path, text)).graphs
    assert [row.op for row in forward.nodes if row.op == "aten.copy_.default"]
    assert [row.op for row in backward.nodes if row.op == "aten.add.Tensor"]
    for graph in (joint, forward, backward):
        ops = [row for row in graph.nodes if row.role is NodeRole.OP]
        assert [row.name for row in ops if row.place is None or not row.origins] == []
    assert [row.name for row in backward.nodes if row.role is NodeRole.OP and not row.forward] == []


FUNCTION = """
import torch

class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return (gradient.double() * (x > 0)).float()

# inductor-debug: inputs=(torch.randn(4, requires_grad=True),)
def step(x):
    return Clamp.apply(x).sum()
"""


def test_the_backward_of_a_function_of_ones_own_is_the_backward_pass_in_every_stage(tmp_path: Path) -> None:
    job = run(tmp_path, FUNCTION, Stage.MOCK, Stage.AOT)
    assert [job.marked(finding) for finding in job.findings] == ["gradient.double()"] * 2
    assert all(finding.message.startswith("In the backward pass: ") for finding in job.findings)


CUSTOM = """
import torch

@torch.library.custom_op("mine::{name}", mutates_args=())
def operation(x: torch.Tensor) -> torch.Tensor:
    return x.sin()

@operation.register_fake
def _(x):
    return torch.empty_like(x)

# inductor-debug: inputs=(torch.randn(4, requires_grad=True),)
def step(x):
    return (operation(x) * x).double()
"""


def test_a_backward_that_cannot_be_captured_costs_only_the_backward(tmp_path: Path) -> None:
    job = run(tmp_path, CUSTOM.replace("{name}", "no_backward"))
    assert kinds(document(job)) == [("0", GraphKind.FX), ("0.forward", GraphKind.FORWARD)]
    assert "model.py:14: the backward cannot be captured, so only the forward was lowered" in notes(job)
    assert "no_backward" in notes(job)
    refused, judged = job.findings
    assert (refused.rule, refused.severity) == ("capture-error", Severity.WARNING)
    assert refused.message.startswith(
        "In the backward pass: torch.compile cannot capture this: RuntimeError: Trying to"
    )
    assert job.marked(refused) == "operation(x)"
    assert (judged.rule, job.marked(judged)) == ("dtype", "(operation(x) * x).double()")


def test_a_graph_that_cannot_be_lowered_at_all_is_judged_as_dynamo_captured_it(tmp_path: Path) -> None:
    text = f"""
import torch._functorch.aot_autograd as aot

def refuse(*args, **kwargs):
    raise NotImplementedError("not today")

aot.aot_module_simplified = refuse
{MODEL.replace("torch.relu(y)", "y.double()")}
"""
    job = run(tmp_path, text)
    assert kinds(document(job)) == [("0", GraphKind.FX)]
    assert "AOTAutograd cannot lower this" in notes(job)
    assert "not today" in notes(job)
    refused, judged = job.findings
    assert (refused.rule, refused.severity) == ("capture-error", Severity.WARNING)
    assert "AOTAutograd cannot lower it" in refused.message
    assert (judged.rule, job.marked(judged)) == ("dtype", "y.double()")


def test_an_operator_without_a_fake_kernel_ends_the_stage_without_a_crash(tmp_path: Path) -> None:
    job = run(tmp_path, CUSTOM.replace("{name}", "no_fake").replace("@operation.register_fake", ""))
    assert job.stages[-1].report.state in (StageState.DONE, StageState.FAILED)
    assert notes(job) or job.findings


UNUSUAL = {
    "tied": """
        fc = torch.nn.Linear(8, 8)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
                self.second.weight = self.first.weight

            def forward(self, x):
                return self.second(self.first(x))
        """,
    "mutated": """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = torch.nn.BatchNorm1d(8)

            def forward(self, x):
                x.mul_(2)
                return self.norm(x)
        """,
    "higher order": """
        from torch.utils.checkpoint import checkpoint

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(8, 8)

            def forward(self, x):
                y = checkpoint(lambda value: self.fc(value).sin(), x, use_reentrant=False)
                return torch.cond(y.sum() > 0, torch.sin, torch.cos, (y,))
        """,
    "complex": """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.randn(8, dtype=torch.complex64))

            def forward(self, x):
                return torch.view_as_real(torch.fft.fft(x) * self.weight)
        """,
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in UNUSUAL.items()])
def test_unusual_graphs_are_lowered_both_ways(tmp_path: Path, text: str) -> None:
    source = f"import torch\n{dedent(text)}\ndef get_inputs():\n    return [torch.randn(4, 8)]\n"
    job = run(tmp_path, source)
    assert [kind for _, kind in kinds(document(job))][-1] is GraphKind.BACKWARD
    assert notes(job) == ""


@pytest.mark.skipif(not QUANTISED_ON_FAKE, reason="fake tensors of torch 2.11 know no quantised ones")
def test_quantised_tensors_are_lowered_for_inference(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        """
        import torch

        # inductor-debug: inputs=(torch.randn(4, 8),)
        def step(x):
            return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize() * 2
        """,
    )
    assert kinds(document(job))[-1] == ("0.forward", GraphKind.FORWARD)


def test_symbolic_sizes_stay_symbolic_forwards_and_backwards(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        """
        import torch

        # inductor-debug: inputs=(torch.randn(7, 4, requires_grad=True),), dynamic=True
        def step(x):
            return x.sin() * x.shape[0]
        """,
    )
    forward, backward = document(job).graphs[2:]
    for row in (node(forward, "aten.sin.default"), node(backward, "aten.cos.default")):
        assert row.shape is not None
        assert isinstance(row.shape[0], str)


def test_every_graph_between_breaks_is_lowered(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        MODEL.replace(
            "        return torch.relu(y)", "        torch._dynamo.graph_break()\n        return torch.relu(y)"
        ),
    )
    names = [graph.name for graph in document(job).graphs]
    assert names == ["0", "0.joint", "0.forward", "0.backward", "1", "1.joint", "1.forward", "1.backward"]
    assert job.stages[-1].report.graph_breaks == 1


def test_code_that_needs_values_is_lowered_on_real_tensors(tmp_path: Path) -> None:
    job = run(
        tmp_path,
        MODEL.replace("        return torch.relu(y)", "        y = y * int(y.argmax())\n        return torch.relu(y)"),
    )
    assert job.stages[-1].report.state is StageState.DONE
    assert any(kind is GraphKind.BACKWARD for _, kind in kinds(document(job)))


def test_the_model_is_left_as_it_was(tmp_path: Path) -> None:
    text = MODEL.replace("self.norm = nn.LayerNorm(32)", "self.norm = nn.BatchNorm1d(32)")
    job = run(tmp_path, text, Stage.AOT, Stage.MOCK, Stage.AOT)
    first, _, again = job.stages
    assert first.report.ops == again.report.ops
