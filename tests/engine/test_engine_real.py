"""The engine with real workers: edits of a real model end in the findings that a fresh check of the text gives."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug_schema import FileReport

pytestmark = pytest.mark.torch

MODEL = """import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(8, 64),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 64)

    def forward(self, x):
        return self.linear(x)
"""

EDITS = [
    ("self.linear(x).double()", "done"),
    ("self.linear(x).double(", "stale"),
    ("self.linear(x).double().relu()", "done"),
    ("self.linear(x) + 1", "done"),
    ("self.linear(x).doubel()", "done"),
    ("__import__('os').abort()", "failed"),
    ("self.linear(x)", "done"),
]


def timeless(report: FileReport) -> FileReport:
    """The report without what differs from run to run, and without free sizes, which editors alone are told."""
    targets = [
        dataclasses.replace(
            target, stages=[dataclasses.replace(stage, seconds=0.0) for stage in target.stages], sizes=[]
        )
        for target in report.targets
    ]
    findings = [dataclasses.replace(finding, related=[]) for finding in report.findings]
    return dataclasses.replace(report, targets=targets, findings=findings)


async def test_edits_of_a_real_model_end_in_what_a_fresh_check_says(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    updates: list[AnalysisUpdate] = []
    settings = SettingsResolver(environ={}, command_line={"accelerator": "mock"})
    engine = Engine(settings_for=settings, listener=updates.append, cache_folder=tmp_path / "cache", jobs=1)
    uri = path.as_uri()
    engine.open(uri, str(path), 1, MODEL)
    first = await engine.settled(uri)
    assert first is not None
    assert (first.state, first.report.findings) == (AnalysisState.DONE, [])
    for number, (expression, state) in enumerate(EDITS):
        text = MODEL.replace("self.linear(x)", expression)
        engine.change(uri, number + 2, text)
        last = await engine.settled(uri)
        assert last is not None
        assert last.state.value == state
        if state == "stale":
            continue
        path.write_text(text)
        engine._runner.forget()
        assert timeless(await engine.check(str(path))) == timeless(last.report)
        path.write_text(MODEL)
    rules = {update.generation: [finding.rule for finding in update.report.findings] for update in updates}
    assert rules[2] == ["dtype"]
    assert rules[3] == ["dtype"]  # and where it does not parse is told when the typing pauses
    assert rules[5] == []
    assert "capture-error" in rules[6]
    assert rules[7] == ["crash"]
    assert rules[8] == []
    await engine.shutdown()


async def test_a_misspelt_attribute_is_told_though_nothing_reads_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "model.py"
    path.write_text(MODEL.replace("return self.linear(x)", "y = self.linear(x).shpae\n        return x"))
    settings = SettingsResolver(environ={}, command_line={"accelerator": "mock"})
    engine = Engine(settings_for=settings, listener=lambda update: None, cache_folder=tmp_path / "cache", jobs=1)
    report = await engine.check(str(path))
    assert [finding.headline for finding in report.findings] == ["`Tensor` has no `shpae`; did you mean `shape`?"]
    await engine.shutdown()
