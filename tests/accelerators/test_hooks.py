"""Hooks of an adapter, each called where it belongs, and each left out and named where it raises."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import zygote

from tests.accelerators.packages import HEAD, install

MODEL = """
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(3, 64),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64)

    def forward(self, x):
        return nn.functional.gelu(self.fc(x)).double()
"""
CHIP = f"""{HEAD}
    from inductor_debug import AcceleratorConstraint, CompilerArtifact, OperatorLimit, ShapeConstraint

    class Slow(AcceleratorConstraint):
        id, summary, operators = "no-double", "Doubles are slow.", ("aten._to_copy",)
        def broken_by(self, operation):
            if operation.arguments.get("dtype") == "torch.float64" or operation.outputs[0].dtype == "float64":
                return "it makes a double"

    class Chip(AcceleratorAdapter):
        @property
        def capabilities(self):
            gelu = OperatorLimit(match=("aten.gelu",), reason="there is no kernel")
            return AcceleratorCapabilities("chip", dtypes=frozenset({{"float32", "float64"}}), operators=(gelu,))

        def constraints(self):
            even = ShapeConstraint("even-batch", lambda shape: shape[0] % 2 == 0, "Batches must be even.",
                                   operators=["aten.addmm"])
            return [even, Slow()]

        def compiler(self):
            def compile_graph(graph_module, example_inputs):
                def run(*args):
                    return tuple(result + 1 for result in graph_module.forward(*args))
                return run
            return compile_graph

        def artifacts(self, result):
            return [CompilerArtifact(f"kernel_{{result.graph}}.json", b'{{"operations": %d}}' % result.operations)]

    class Decomposing(Chip):
        def decompositions(self):
            import torch
            return {{torch.ops.aten.gelu.default: lambda x, approximate="none": x * torch.sigmoid(1.702 * x)}}

    def raising(self, *args):
        raise RuntimeError("out of order")

    class Raising(Chip):
        constraints = decompositions = artifacts = raising

    class Picky(Chip):
        def constraints(self):
            rule = Slow()
            rule.broken_by = raising
            return [rule]

    class Uncompiled(Chip):
        compiler = raising

    class Hosted(Chip):
        def cpu_fallbacks(self):
            return ["aten.neg"]

    class HostRaising(Chip):
        cpu_fallbacks = raising
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    classes = {
        "chip": "Chip",
        "decomposing": "Decomposing",
        "raising": "Raising",
        "picky": "Picky",
        "uncompiled": "Uncompiled",
        "hosted": "Hosted",
        "hostraising": "HostRaising",
    }
    adapters = {name: f"chips:{kind}" for name, kind in classes.items()}
    install(tmp_path / "site", monkeypatch, adapters, {"chips": CHIP})
    path = tmp_path / "project" / "model.py"
    path.parent.mkdir()
    path.write_text(dedent(MODEL).lstrip())
    return path


def run(model: Path, *words: str) -> dict[str, Any]:
    """The JSON document of a command."""
    command = [*zygote.COMMAND, *words, "--format", "json"]
    done = subprocess.run(command, cwd=model.parent, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def findings(model: Path, accelerator: str, *words: str) -> dict[str, str]:
    """The messages of a check by rule."""
    found = run(model, "check", "model.py", "--accelerator", accelerator, "--no-cache", *words)["files"][0]["findings"]
    return {finding["rule"]: finding["message"] for finding in found}


def test_constraints_are_rules_of_check_at_the_expression(model: Path) -> None:
    found = run(model, "check", "model.py", "--accelerator", "chip", "--no-cache")["files"][0]["findings"]
    (even,) = [finding for finding in found if finding["rule"] == "chip/even-batch"]
    line = model.read_text().splitlines()[even["range"]["start"]["line"]]
    shown = line[even["range"]["start"]["character"] : even["range"]["end"]["character"]]
    assert shown == "self.fc(x)"
    assert (
        "Batches must be even (accelerator 'chip'): aten.addmm: it takes a tensor of shape [3, 64]" in even["message"]
    )
    rules = {finding["rule"] for finding in found}
    assert {"chip/no-double", "unsupported-op"} <= rules


def test_constraints_are_silenced_and_made_errors_as_all_rules_are(model: Path) -> None:
    text = model.read_text().replace(
        "gelu(self.fc(x)).double()", "gelu(self.fc(x)).double()  # inductor-debug: ignore[chip/no-double]"
    )
    model.write_text(text)
    (model.parent / "pyproject.toml").write_text('[tool.inductor-debug]\nseverity = { "chip/even-batch" = "off" }\n')
    assert set(findings(model, "chip")) == {"unsupported-op"}
    assert set(findings(model, "none")) == set(), "an ignore of another accelerator's rule is not idle"


def test_what_its_compiler_takes_apart_is_judged_by_its_parts(model: Path) -> None:
    assert "unsupported-op" in findings(model, "chip")
    assert "unsupported-op" not in findings(model, "decomposing", "--stages", "preview,mock,aot")


@pytest.mark.parametrize(
    ("accelerator", "asked"), [("raising", ["constraints", "decompositions"]), ("picky", ["constraints: no-double"])]
)
def test_a_hook_that_raises_is_named_and_the_analysis_goes_on(model: Path, accelerator: str, asked: list[str]) -> None:
    found = run(model, "check", "model.py", "--accelerator", accelerator, "--no-cache")["files"][0]["findings"]
    told = [finding["message"] for finding in found if finding["rule"] == "accelerator-adapter"]
    for hook in asked:
        assert any(f"RuntimeError: out of order when it was asked for its {hook}." in message for message in told)
    assert "unsupported-op" in {finding["rule"] for finding in found}, "its capabilities hold all the same"


def test_what_runs_on_the_host_is_told_with_its_transfers_and_all_else_runs_on_the_device(model: Path) -> None:
    model.write_text(model.read_text().replace(".double()", ".neg()"))
    found = findings(model, "hosted")
    assert "aten.neg needs the CPU with accelerator 'hosted'" in found["cpu-fallback"]
    assert "unknown-operator" not in found, "what is not said to run on the host runs on the device"
    found = findings(model, "hostraising")
    assert "when it was asked for its cpu_fallbacks." in found["accelerator-adapter"]
    assert "cpu-fallback" not in found


def test_a_comparison_runs_its_compiler_and_keeps_what_that_left(model: Path) -> None:
    document = run(model, "diff", "model.py", "--backend", "chip", "--artifacts", "kept")
    assert (document["backend"], document["verdict"]) == ("chip", "wrong")
    (kernel,) = (model.parent / "kept").rglob("*kernel_0*.json")
    assert json.loads(kernel.read_text()) == {"operations": 3}


def test_a_compiler_that_cannot_be_had_is_no_comparison(model: Path) -> None:
    document = run(model, "diff", "model.py", "--backend", "uncompiled")
    assert document["verdict"] == "failed"
    assert "The adapter 'uncompiled' of chips 1.0 raised RuntimeError: out of order" in document["why"]
