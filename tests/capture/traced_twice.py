"""Traces a model twice, with calls of modules copied and without, and compares all that is left of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from capture_targets import build
from inductor_debug.capture.dynamo.repeats.repeated_calls import RepeatedCalls
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.stages import dynamo_run
from inductor_debug.capture.stages.dynamo_run import DynamoRun
from inductor_debug.capture.stages.eager_functions import WatchedRunner
from inductor_debug_benchmarks.processes.analysis_parts import parts_of_run
from inductor_debug_schema import Stage


class Never(RepeatedCalls):
    """Has everything traced."""

    def _may_repeat(self, tracker: Any, translator: Any) -> bool:
        return False


def copies_of_equal_traces(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> int:
    """How many calls were copied where they could be; fails where that leaves anything else than a full trace does."""
    made = watched(monkeypatch)
    copied = trace(folder, source)
    monkeypatch.setattr(dynamo_run, "RepeatedCalls", Never)
    assert copied == trace(folder, source)
    return sum(each.copies for each in made)


def watched(monkeypatch: pytest.MonkeyPatch) -> list[RepeatedCalls]:
    """Those that traces are watched with from now on."""
    made: list[RepeatedCalls] = []

    def make(model: torch.nn.Module) -> RepeatedCalls:
        made.append(RepeatedCalls(model))
        return made[-1]

    monkeypatch.setattr(dynamo_run, "RepeatedCalls", make)
    return made


def trace(folder: Path, source: str) -> Any:
    """All that is left of a trace, without what no two traces share."""
    target, sources = build(folder, source, training=True)
    run, snapshot = DynamoRun(target, sources, Stage.MOCK), Snapshot(target)
    with torch.enable_grad():
        error = run.execute(WatchedRunner(run))
    snapshot.restore()
    told = [(found.rule, found.message, found.range) for found in run.explain(error).findings]
    return list(parts_of_run(run)), told, str(error)
