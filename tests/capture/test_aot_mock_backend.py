"""`aot_mock_backend` in scripts of one's own: judges forward and backward, then really compiles and trains."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import torch
from inductor_debug import aot_mock_backend
from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.dynamo.dynamo_positions import KEY, NODE_KEY
from inductor_debug.capture.script_backends import graph_recording
from inductor_debug.capture.script_backends.aot_mock_backend import MockBackendError, inductor_debug_aot
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.registry import UnknownRuleError
from own_scripts import load, told

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("fresh_script")]

SOURCE = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64)
    def forward(self, x):
        return torch.relu(self.fc(x)).double().sum()
model = Model()
"""


@pytest.fixture
def eagerly(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Stands in for Inductor where a test is not about it; collects the graphs that it was given."""
    given: list[Any] = []

    def compiled(graph_module: Any, example_inputs: Any) -> Any:
        given.append(graph_module)
        return graph_module.forward

    monkeypatch.setattr("inductor_debug.capture.script_backends.aot_mock_backend._compiled", compiled)
    return given


def compiled(folder: Path, **arguments: Any) -> Callable[[], Any]:
    model = torch.compile(load(folder, SOURCE), backend=aot_mock_backend(**arguments))
    return lambda: model(torch.randn(8, 64))


def test_a_model_trains_through_inductor_and_its_loss_falls(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = load(tmp_path, SOURCE.replace(".double().sum()", ".mean(dim=1)"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    step = torch.compile(model, backend=aot_mock_backend())
    x = torch.randn(32, 64)
    target = x.sum(dim=1).abs()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = ((step(x) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]
    assert all(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
    fused = torch._inductor.metrics.generated_kernel_count
    assert fused > 0


def test_forward_and_backward_are_told_at_the_users_expressions(tmp_path: Path, eagerly: list[Any]) -> None:
    messages = told(compiled(tmp_path, accelerator="spyre"))
    path = tmp_path / "script.py"
    assert [message for message in messages if message.startswith(f"{path}:6:16: [dtype] float64 is not supported")]
    (backward,) = [message for message in messages if "In the backward pass: aten.threshold_backward" in message]
    assert backward.startswith(f"{path}:6:16: [unsupported-op]")


BRANCHES = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64)
    def forward(self, x):
        def wide(y):
            return self.fc(y).double().float()
        return torch.cond(x.sum() > 0, wide, torch.sin, (x,)).sum()
model = Model()
"""


def test_the_backward_of_a_branch_is_told_at_the_whole_expression(tmp_path: Path, eagerly: list[Any]) -> None:
    model = torch.compile(load(tmp_path, BRANCHES), backend=aot_mock_backend(constraints=["dtype"]))
    forward, backward = told(lambda: model(torch.randn(8, 64)))
    path = tmp_path / "script.py"
    assert forward.startswith(f"{path}:7:20: [dtype] float64 is not supported")
    assert backward.startswith(f"{path}:8:16: [dtype] In the backward pass: float64 is not supported")


def test_strict_raises_once_for_everything(tmp_path: Path, eagerly: list[Any]) -> None:
    with pytest.raises(Exception, match="on accelerator 'spyre'") as raised:
        compiled(tmp_path, strict=True, accelerator="spyre")()
    error = raised.value.__cause__ or getattr(raised.value, "inner_exception", raised.value)
    assert isinstance(error, MockBackendError)
    assert {finding.rule for finding in error.findings} == {"dtype", "unsupported-op"}
    assert not eagerly


@pytest.mark.parametrize(("constraints", "rules"), [(["dtype"], {"dtype"}), (["memory"], set()), ([], set())])
def test_constraints_are_the_only_rules_asked(
    tmp_path: Path, eagerly: list[Any], constraints: list[str], rules: set[str]
) -> None:
    messages = told(compiled(tmp_path, constraints=constraints, accelerator="spyre"))
    assert {message.partition("[")[2].partition("]")[0] for message in messages} == rules


class NoRelu(Constraint):
    id = "no-relu"
    summary = what = why = example = fix = ""

    def applies(self, profile: Profile) -> bool:
        return True

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        for op in run.recording.ops:
            if op.packet == "aten.relu":
                roots.of_op(op, "relu").cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        return "no relu here"


def test_a_rule_of_ones_own_may_judge(tmp_path: Path, eagerly: list[Any]) -> None:
    (message,) = told(compiled(tmp_path, constraints=[NoRelu()]))
    assert message.startswith(f"{tmp_path / 'script.py'}:6:16: [no-relu] no relu here")


def test_a_constraint_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="unknown rule 'dtyp'; did you mean 'dtype'") as raised:
        compiled(tmp_path, constraints=["dtyp"])()
    error = raised.value.__cause__ or getattr(raised.value, "inner_exception", raised.value)
    assert isinstance(error, UnknownRuleError)


def test_options_of_torch_compile_mean_the_same(tmp_path: Path, eagerly: list[Any]) -> None:
    options = {"constraints": ["unsupported-op"], "accelerator": "spyre"}
    model = torch.compile(load(tmp_path, SOURCE), backend=inductor_debug_aot, options=options)
    messages = told(lambda: model(torch.randn(8, 64)))
    assert {message.partition("[")[2].partition("]")[0] for message in messages} == {"unsupported-op"}


def test_the_graph_goes_on_without_our_marks(tmp_path: Path, eagerly: list[Any]) -> None:
    told(compiled(tmp_path))
    (graph_module,) = eagerly
    assert not [node for node in graph_module.graph.nodes if {KEY, NODE_KEY} & set(node.meta.get("custom", {}))]


def test_a_failure_of_ours_never_stops_the_compilation(
    tmp_path: Path, eagerly: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("ours")

    monkeypatch.setattr(graph_recording.LoweringRunner, "whole", broken)
    (message,) = told(compiled(tmp_path, strict=True))
    assert "could not judge this graph" in message
    assert len(eagerly) == 1


def test_without_a_compiler_the_model_still_trains_and_the_user_is_told(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        dedent("""
        import torch
        model = torch.nn.Linear(4, 1)
        step = torch.compile(model, backend="inductor")
        from inductor_debug import aot_mock_backend
        step = torch.compile(model, backend=aot_mock_backend)
        step(torch.randn(2, 4)).sin().sum().backward()
        print("trained", model.weight.grad is not None)
        """)
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CXX": str(tmp_path / "no-such-compiler"), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"},
    )
    assert "trained True" in done.stdout, done.stderr
    assert "TorchInductor found no working C++ compiler" in done.stderr


def test_torch_finds_the_backend_by_its_entry_point() -> None:
    from importlib.metadata import entry_points

    (entry,) = entry_points(group="torch_dynamo_backends", name="inductor_debug_aot")
    assert entry.load() is inductor_debug_aot
