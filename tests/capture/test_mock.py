"""A real `torch.compile`: what it captures is recorded as in the preview, what it cannot capture is said."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import needed
import pytest
import torch
from capture_targets import build, excerpt, places
from inductor_debug.capture.dynamo import dynamo_positions
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.stages.mock import run_mock
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.rules.recording.ops import Op, SymbolicSize
from inductor_debug_schema import Finding, Location, Stage, StageState
from torch_release import RELEASE

pytestmark = pytest.mark.torch

NET = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
    def forward(self, x):
        y = self.fc(x); y += 1
        return y.double().float() + y.double().float()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.register_buffer("scale", torch.ones(8))
    def forward(self, x, *, mask=None):
        for block in self.blocks:
            x = block(x)
        return {"out": torch.stack([r * self.scale for r in x.chunk(2)])}
model = Net()
inputs = (torch.randn(4, 8),)
"""


def mock(folder: Path, source: str, **options: Any) -> StageOutcome:
    return run_mock(*build(folder, source, **options))


def place_of(finding: Finding) -> str:
    return excerpt(Location(finding.path, finding.range))


def row(op: Op) -> tuple[Any, ...]:
    frames = [(excerpt(frame.location), frame.function) for frame in op.frames]
    shapes = [(meta.shape, meta.stride, meta.dtype, meta.version) for meta in (*op.inputs, *op.outputs)]
    return op.overload, op.module, op.is_view, frames, shapes


@pytest.mark.parametrize("training", [False, True])
def test_mock_and_preview_see_the_same_ops_at_the_same_places(tmp_path: Path, training: bool) -> None:
    target, sources = build(tmp_path, NET, training=training)
    first = run_preview(target, sources)
    second = run_mock(target, sources)

    assert second.report.state is StageState.DONE
    assert (second.report.stage, second.report.graphs, second.report.graph_breaks) == (Stage.MOCK, 1, 0)
    assert second.findings == []
    assert [row(op) for op in second.recording.ops] == [row(op) for op in first.recording.ops]
    assert sorted(origin.name for origin in second.recording.origins.values()) == sorted(
        origin.name for origin in first.recording.origins.values()
    )


def test_two_equal_calls_on_a_line_are_told_apart(tmp_path: Path) -> None:
    target, sources = build(tmp_path, NET)
    ops = [op for op in run_mock(target, sources).recording.ops if op.overload == "aten._to_copy.default"]

    columns = [op.frames[0].location.range.start.character for op in ops[:4]]
    assert places(ops[:4], "aten._to_copy.default") == ["y.double()", "y.double().float()"] * 2
    assert columns == [15, 15, 36, 36]


def test_values_keep_their_numbers_across_a_graph_break(tmp_path: Path) -> None:
    outcome = mock(
        tmp_path,
        """
        def model(x):
            y = x.double()
            torch._dynamo.graph_break()
            return y * 2
        inputs = (torch.randn(4),)
        """,
    )
    copied, multiplied = outcome.recording.ops

    assert outcome.report.graphs == 2
    assert copied.outputs[0].value == multiplied.inputs[0].value
    assert len(outcome.recording.origins) == 1


def test_code_between_graphs_is_recorded_where_it_stands(tmp_path: Path) -> None:
    outcome = mock(
        tmp_path,
        """
        @torch.compiler.disable
        def hidden(x):
            return x.double()
        def model(x):
            return hidden(x + 1).float()
        inputs = (torch.randn(4),)
        """,
    )

    assert [op.overload for op in outcome.recording.ops] == ["aten.add.Tensor", *["aten._to_copy.default"] * 2]
    assert places(outcome.recording.ops, "aten._to_copy.default") == ["x.double()", "hidden(x + 1).float()"]
    assert [excerpt(frame.location) for frame in outcome.recording.ops[1].frames] == ["x.double()", "hidden(x + 1)"]


def test_a_helper_compiled_on_its_own_keeps_its_callers(tmp_path: Path) -> None:
    outcome = mock(
        tmp_path,
        """
        def helper(y):
            print("hello")
            return y.double()
        def model(x):
            return helper(x + 1)
        inputs = (torch.randn(4),)
        """,
    )
    last = outcome.recording.ops[-1]

    assert [excerpt(frame.location) for frame in last.frames] == ["y.double()", "helper(x + 1)"]


@pytest.mark.parametrize(
    ("source", "region", "expression"),
    [
        (
            """
            def body(x):
                return x.double().float()
            def model(x):
                return torch.utils.checkpoint.checkpoint(body, x, use_reentrant=False)
            import torch.utils.checkpoint
            inputs = (torch.randn(4, requires_grad=True),)
            """,
            "checkpoint",
            "x.double()",
        ),
        (
            """
            def yes(x): return x.double().float()
            def no(x): return x * 2
            def model(x):
                return torch.cond(x.sum() > 0, yes, no, (x,))
            inputs = (torch.randn(4),)
            """,
            "cond",
            "x.double()",
        ),
        (
            """
            class Square(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x.double().float() * 2
                @staticmethod
                def backward(ctx, g):
                    return g * 2
            def model(x):
                return Square.apply(x)
            inputs = (torch.randn(4, requires_grad=True),)
            """,
            "autograd_function_apply",
            "x.double()",
        ),
    ],
)
def test_bodies_of_higher_order_ops_are_recorded_like_other_code(
    tmp_path: Path, source: str, region: str, expression: str
) -> None:
    outcome = mock(tmp_path, source)

    assert outcome.findings == []
    inside = [op for op in outcome.recording.ops if op.region == (region,)]
    assert places(inside, "aten._to_copy.default")[0] == expression


@pytest.mark.parametrize(("dynamic", "prepare"), [(True, "pass"), (None, "torch._dynamo.mark_dynamic(inputs[0], 0)")])
def test_dynamic_sizes_stay_symbolic(tmp_path: Path, dynamic: bool | None, prepare: str) -> None:
    target, sources = build(
        tmp_path,
        f"""
        module = nn.Linear(8, 4)
        def model(x):
            return module(torch.cat([x, x], 0)).double()
        inputs = (torch.randn(6, 8),)
        {prepare}
        """,
        dynamic=dynamic,
    )
    previewed = run_preview(target, sources)
    outcome = run_mock(target, sources)
    assert [op.overload for op in previewed.recording.ops] == [op.overload for op in outcome.recording.ops]

    assert outcome.report.state is StageState.DONE
    last = outcome.recording.ops[-1]
    length = last.outputs[0].shape[0]
    assert isinstance(length, SymbolicSize)
    assert (length.divisor, length.minimum) == (2, 4)
    assert last.outputs[0].shape[1] == 4
    assert {origin.name for origin in outcome.recording.origins.values()} == {"x", "weight", "bias"}


@pytest.mark.parametrize(
    "body",
    [
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n        y = x @ x\n    return y",
        "return nn.functional.scaled_dot_product_attention(x[None], x[None], x[None])",
        "x.mul_(2)\n    return x + 1",
        "x.unsqueeze_(0)\n    return x + 1",
        "return torch.vmap(lambda row: row.sum() * 2)(x)",
        "with torch.no_grad():\n        return x * 2",
        "return [item * 2 for item in x.chunk(2)]",
        "return torch.func.grad(lambda v: (v * v).sum())(x)",
    ],
)
def test_ordinary_torch_code_runs_as_in_the_preview(tmp_path: Path, body: str) -> None:
    target, sources = build(tmp_path, f"def model(x):\n    {body}\ninputs = (torch.randn(8, 8),)\n")
    outcome = run_mock(target, sources)

    assert outcome.report.state is StageState.DONE
    assert outcome.recording.ops
    assert [op.overload for op in outcome.recording.ops] == [
        op.overload for op in run_preview(target, sources).recording.ops
    ]
    assert target.args[0].shape == (8, 8)


def test_a_dataclass_of_tensors_and_a_model_output_pass(tmp_path: Path) -> None:
    needed.library("transformers")
    outcome = mock(
        tmp_path,
        """
        from dataclasses import dataclass
        from transformers.modeling_outputs import BaseModelOutput
        @dataclass
        class Batch:
            ids: torch.Tensor
            mask: torch.Tensor
        def model(batch):
            return BaseModelOutput(last_hidden_state=(batch.ids * batch.mask).double())
        inputs = (Batch(torch.randn(4), torch.ones(4)),)
        """,
    )

    assert outcome.findings == []
    assert {origin.name for origin in outcome.recording.origins.values()} == {"batch.ids", "batch.mask"}


def test_what_looks_at_values_asks_for_real_tensors_and_then_gets_through(tmp_path: Path) -> None:
    source = """
        def model(x):
            if x.sum() > 0:
                return x.double()
            return x.double()
        inputs = (torch.ones(4),)
        """
    fake, real = mock(tmp_path, source), mock(tmp_path, source, real=True)

    assert fake.retry_real
    assert [finding.rule for finding in fake.findings] == ["graph-break"]
    assert not real.retry_real
    assert real.report.state is StageState.DONE
    assert places(real.recording.ops, "aten._to_copy.default") == ["x.double()"]


def test_a_model_that_raises_says_so_once(tmp_path: Path) -> None:
    outcome = mock(tmp_path, "def model(x):\n    raise ValueError('no')\ninputs = (torch.ones(1),)\n")

    [finding] = outcome.findings
    assert (finding.rule, finding.message) == ("capture-error", "ValueError: no")
    assert place_of(finding) == "raise ValueError('no')"


def test_what_dynamo_cannot_capture_is_said_at_the_expression(tmp_path: Path) -> None:
    outcome = mock(
        tmp_path,
        "def helper(x):\n    return x + 1, x @ x\ndef model(x):\n    return helper(x)\ninputs = (torch.ones(2, 3),)\n",
    )

    [finding] = outcome.findings
    assert finding.rule == "capture-error"
    assert finding.message.startswith("torch.compile cannot capture this: RuntimeError:")
    assert place_of(finding) == "x @ x"
    assert outcome.report.state is StageState.FAILED


def test_an_rnn_is_said_to_run_eagerly_and_still_recorded(tmp_path: Path) -> None:
    outcome = mock(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.LSTM(8, 8)
            def forward(self, x):
                return self.rnn(x)[0]
        model = Model()
        inputs = (torch.randn(2, 3, 8),)
        """,
    )

    [finding] = outcome.findings
    assert finding.rule == "graph-break"
    assert "LSTM" in finding.message
    # Until torch 2.15 the whole frame was given up, since then the layer alone is left out.
    effect = "the graph is split here" if RELEASE >= (2, 15) else "`Model.forward` is not compiled and runs eagerly"
    assert finding.message.endswith(f"so {effect}.")
    assert outcome.recording.ops


def test_a_target_that_compiles_to_nothing_is_said(tmp_path: Path) -> None:
    with torch._dynamo.config.patch(disable=True):
        outcome = mock(tmp_path, "def model(x):\n    return x + 1\ninputs = (torch.ones(1),)\n")

    [finding] = outcome.findings
    assert finding.message == (
        "torch.compile captured no graph: all of `model` runs eagerly, because `torch._dynamo.config.disable` is on."
    )
    assert outcome.report.graphs == 0


def test_what_the_user_compiles_with_another_backend_is_recorded_and_never_built(tmp_path: Path) -> None:
    outcome = mock(
        tmp_path,
        """
        @torch.compile
        def inner(x):
            torch._dynamo.graph_break()
            return x.double().sin()
        def model(x):
            print("hello")
            return inner(x) + 1
        inputs = (torch.randn(3),)
        """,
    )

    assert places(outcome.recording.ops, "aten._to_copy.default") == ["x.double()"]
    assert {finding.rule for finding in outcome.findings} == {"graph-break"}


def test_the_target_and_torch_stay_as_they_were(tmp_path: Path) -> None:
    from torch._dynamo import exc, output_graph, symbolic_convert

    names = [
        (output_graph.SubgraphTracer, "create_proxy"),
        (symbolic_convert.InstructionTranslatorBase, "log_graph_break"),
        (exc.Unsupported, "__init__"),
    ]
    before = [getattr(owner, name) for owner, name in names]
    target, sources = build(
        tmp_path,
        """
        class Model(nn.Module):
            def forward(self, x):
                self.cache = x
                return x + 1
        model = Model()
        inputs = (torch.ones(1),)
        """,
    )
    run_mock(target, sources)

    assert [getattr(owner, name) for owner, name in names] == before
    assert not hasattr(target.module, "cache")
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


def test_without_the_hook_lines_are_still_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever imported `mock_backend` in this process keeps the hook installed.
    users = dynamo_positions._HOOK.users
    for _ in range(users):
        dynamo_positions.uninstall()
    with monkeypatch.context() as patched:
        patched.setattr(dynamo_positions, "_tracer_class", lambda: None)
        outcome = mock(tmp_path, "def model(x):\n    y = x + 1\n    return y.double()\ninputs = (torch.ones(1),)\n")
    for _ in range(users):
        dynamo_positions.install()

    assert places(outcome.recording.ops, "aten._to_copy.default") == ["return y.double()"]


def test_positions_are_plain_data_and_can_be_taken_out_again() -> None:
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph_module: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph_module)
        return graph_module.forward

    with dynamo_positions.hooked_positions():
        torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))
    node = next(node for node in graphs[0].graph.nodes if node.op == "call_function")
    stack = dynamo_positions.stack_of_node(node)

    assert pickle.loads(pickle.dumps(node.meta["custom"])) == node.meta["custom"]
    assert stack[0].positions.col_offset is not None
    dynamo_positions.strip(graphs[0])
    assert "custom" not in node.meta


EAGER = {
    "inlined, and broken in a loop": (
        """
def helper(x):
    for i in range(2):
        x = x * 2
        torch._dynamo.graph_break()
    return x.exp()

def f(x):
    return helper(x.sin()).cos()
        """,
        [],
    ),
    "excluded": (
        """
@torch.compiler.disable
def mix(x):
    return x.sin() + x.cos()

def f(x):
    return mix(x * 2)
        """,
        [],
    ),
    "told by its graph break": (
        """
def f(x):
    for i in range(2):
        x = x.sin()
        torch._dynamo.graph_break()
    return x.cos()
        """,
        [],
    ),
    "resumed after its graph break": (
        """
def f(x):
    y = x.sin()
    print(y.shape)
    return y.cos() * y.sum().item()
        """,
        [],
    ),
    "whole": ("def f(x):\n    return x.sin().cos()\n", []),
    "given an array of NumPy": (
        "import numpy\nOFFSETS = numpy.arange(4)\n\ndef f(x):\n    return x + x.new_tensor(OFFSETS)\n",
        [],
    ),
}


@pytest.mark.parametrize(("text", "expected"), EAGER.values(), ids=EAGER.keys())
def test_a_function_outside_of_every_graph_is_told_once(
    tmp_path: Path, text: str, expected: list[tuple[str, int]]
) -> None:
    outcome = mock(tmp_path, f"{text}\nmodel = f\ninputs = (torch.randn(4, 4),)\n")
    told = [found for found in outcome.findings if found.rule == "eager-fallback"]
    assert [(place_of(found), found.count) for found in told] == expected


def test_what_a_graph_break_leaves_running_eagerly_is_told_with_it(tmp_path: Path) -> None:
    text, _ = EAGER["inlined, and broken in a loop"]
    outcome = mock(tmp_path, f"{text}\nmodel = f\ninputs = (torch.randn(4, 4),)\n")
    (told,) = (found for found in outcome.findings if found.rule == "graph-break")
    assert "for the same reason `helper` runs eagerly" in [related.message for related in told.related]


PUT_BACK = """
class State:
    busy, kept = False, None
STATE = State()
STATE.busy, STATE.kept = False, None
class Net(nn.Module):
    def forward(self, x):
        STATE.busy, STATE.kept = True, {}
        y = x.relu()
        STATE.busy, STATE.kept = False, None
        return y
model = Net()
inputs = (torch.randn(2, 4),)
"""


@pytest.mark.parametrize(
    ("left", "leaves"), [("False, None", False), ("False, {}", True), ("0, None", True), ("True, None", True)]
)
def test_what_a_call_changes_and_puts_back_is_left_as_it_was(tmp_path: Path, left: str, leaves: bool) -> None:
    source = PUT_BACK.replace("kept = False, None\n        return", f"kept = {left}\n        return")
    assert mock(tmp_path, source).leaves_changes is leaves
