"""Two backends of one accelerator that share their back end, as `spyre` and `sendnn` do: which of the parts goes wrong.

Both are packages that offer torch a backend, as the real ones do; nothing of the tool knows them but the profile.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from inductor_debug.engine.bug_report.issue_text import Facts, issue_text
from inductor_debug_schema import BisectDocument, from_wire

from tests.accelerators.packages import on_the_path, write_package
from tests.accelerators.test_hooks import run

pytestmark = pytest.mark.torch

MODELS = """
import torch


# inductor-debug: inputs=(torch.randn(4, 16),)
class CapturedWrong(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x + 1)


# inductor-debug: inputs=(torch.randn(4, 16),)
class GeneratedWrong(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x + 1)
"""
DEEPTOOLS = """
    import torch

    def generated(graph_module):
        return replaced(graph_module, torch.tanh, torch.sigmoid)

    def replaced(graph_module, wrong, instead):
        for node in graph_module.graph.nodes:
            node.target = instead if node.target is wrong else node.target
        graph_module.recompile()
        return graph_module.forward
"""
SPYRE = """
    import torch
    from deeptools import generated, replaced

    def spyre(graph_module, example_inputs):
        replaced(graph_module, torch.relu, torch.abs)
        return generated(graph_module)
"""
SENDNN = """
    from deeptools import generated

    def sendnn(graph_module, example_inputs):
        return generated(graph_module)
"""


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "site"
    offered = "torch_dynamo_backends"
    write_package(site, "torch_spyre", "0.3", {offered: {"spyre": "torch_spyre:spyre"}}, {"torch_spyre": SPYRE})
    write_package(site, "torch_sendnn", "1.1", {offered: {"sendnn": "torch_sendnn:sendnn"}}, {"torch_sendnn": SENDNN})
    write_package(site, "deeptools", "2.0", {}, {"deeptools": DEEPTOOLS})
    on_the_path(site, monkeypatch)
    path = tmp_path / "project" / "models.py"
    path.parent.mkdir()
    path.write_text(dedent(MODELS).lstrip())
    return path


@pytest.mark.parametrize(
    "words", [("--backends", "dynamo,spyre,sendnn"), ("--reference", "sendnn", "--backends", "dynamo,spyre")]
)
def test_the_part_that_goes_wrong_is_told_by_what_both_share(models: Path, words: tuple[str, ...]) -> None:
    found: Any = run(models, "bisect", models.name, "--no-passes", *words)
    documents = {said["target"]: from_wire(BisectDocument, said) for said in found}
    blamed = {
        name: (document.verdict.value, document.guilty and document.guilty.part, document.guilty and document.guilty.op)
        for name, document in documents.items()
    }
    assert blamed == {
        "CapturedWrong": ("front-end", "torch_spyre", "torch.relu"),
        "GeneratedWrong": ("back-end", "deeptools", "torch.tanh"),
    }
    versions = {rung.backend: dict(rung.versions) for rung in documents["CapturedWrong"].ladder}
    torch = {"torch": versions["eager"]["torch"]}
    assert versions["spyre"] == {**torch, "torch_spyre": "0.3", "deeptools": "2.0"}
    assert versions["sendnn"] == {**torch, "torch_sendnn": "1.1", "deeptools": "2.0"}
    issue = issue_text(Facts(tool="0", accelerator="spyre", bisections=[documents["CapturedWrong"]]))
    assert f"- [x] `spyre` (torch {torch['torch']}, torch_spyre 0.3, deeptools 2.0): wrong; output: " in issue
