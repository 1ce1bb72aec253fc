"""The structured trace of a compilation is complete, whatever was compiled before it."""

from __future__ import annotations

import json
import logging
import re

import pytest
import torch
from inductor_debug.capture.runtime.trace_log import LOGGER, structured_trace

pytestmark = pytest.mark.torch

PREFIX = re.compile(r"^V\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+\] (\{.*\})$")


def records(text: str) -> list[dict[str, object]]:
    return [json.loads(found.group(1)) for line in text.splitlines() if (found := PREFIX.match(line))]


def test_a_training_step_is_traced_down_to_its_backward_graph() -> None:
    torch.compile(lambda x: x.cos(), backend="eager")(torch.randn(3))
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    before = len(logging.getLogger(LOGGER).handlers)
    with structured_trace() as log:
        torch.compile(model, backend="aot_eager")(torch.randn(2, 4)).sum().backward()
    found = records(log.text)
    kinds = {kind for record in found for kind in record}
    assert {"dynamo_output_graph", "aot_forward_graph", "aot_backward_graph", "compilation_metrics"} <= kinds
    # Every file that a stack refers to by number is named: readers know nothing of earlier compilations.
    named = {record["str"][1] for record in found if "str" in record}  # type: ignore[index]
    used = set(map(int, re.findall(r'"filename": (\d+)', log.text)))
    assert used <= named
    assert not log.problem
    assert len(logging.getLogger(LOGGER).handlers) == before


def test_what_is_compiled_outside_is_not_in_it() -> None:
    with structured_trace() as log:
        pass
    torch.compile(lambda x: x.sin(), backend="eager")(torch.randn(3))
    assert log.text == ""
