"""What torch logs, by request, is told with the stage of the target that it was logged in."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from forked import analyze
from inductor_debug.capture.runtime.torch_logs import LARGEST, kept_log
from inductor_debug_schema import Stage

pytestmark = pytest.mark.torch

BREAKING = """\
import torch


# inductor-debug: inputs=(torch.randn(4),)
def printing(x):
    print(x)
    return x.sin()


# inductor-debug: inputs=(torch.randn(4),)
def doubled(x):
    return x * 2
"""


def test_what_torch_logs_is_kept_by_target_and_stage(tmp_path: Path) -> None:
    job = analyze(
        tmp_path / "model.py", BREAKING, stages=(Stage.PREVIEW, Stage.MOCK), torch_logs="graph_breaks,graph_code,dynamo"
    )
    logs = {(stage.target, stage.report.stage): stage.report.log for stage in job.stages}
    of_printing, of_doubled = (logs[name, Stage.MOCK] for name in ("printing", "doubled"))
    assert "[__graph_breaks] Graph break in user code" in of_printing
    assert "Failed to trace builtin operator" in of_printing
    assert "graph_breaks" not in of_doubled
    assert "TRACED GRAPH" in of_doubled
    assert "torchdynamo start tracing doubled" in of_doubled, "loggers that are silenced else are asked for here"
    assert "inductor_debug_stack" not in of_printing + of_doubled, "our notes on nodes are no news from torch"
    assert {logs[name, Stage.PREVIEW] for name in ("printing", "doubled")} == {""}
    assert "Graph break in user code" not in job.output, "it is told once"


def test_without_a_request_nothing_is_kept(tmp_path: Path) -> None:
    job = analyze(tmp_path / "model.py", BREAKING, stages=(Stage.PREVIEW, Stage.MOCK))
    assert {stage.report.log for stage in job.stages} == {""}


def test_a_log_that_is_too_long_ends_with_a_remark() -> None:
    logger = logging.getLogger("torch._dynamo")
    with kept_log("dynamo") as log:
        for _ in range(3):
            logger.error("x" * (LARGEST // 2))
    assert LARGEST // 2 < len(log.text) < LARGEST
    assert log.text.endswith("… and more, which was not kept\n")
    assert log.text.count("not kept") == 1
