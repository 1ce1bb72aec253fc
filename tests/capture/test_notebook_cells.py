"""A notebook's cells run as people run them: one that fails does not keep the others from running."""

from __future__ import annotations

from pathlib import Path

import pytest
from forked import analyze
from inductor_debug_schema import Severity, Stage

pytestmark = pytest.mark.torch

CELLS = """\
import torch
from torch import nn
rows = open("data.csv").read()
count = len(rows)

# inductor-debug: inputs=(torch.randn(2, 4),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(5, 2)

    def forward(self, x):
        return self.last(x)
"""


def test_what_a_failing_cell_keeps_from_nobody_is_checked(tmp_path: Path) -> None:
    found = [(item.severity, item.range.start.line) for item in analyze(tmp_path / "net.ipynb", CELLS).findings]
    assert (Severity.WARNING, 2) in found, "the first that failed is told"
    assert (Severity.ERROR, 12) in found, "and the model is checked"
    assert len(found) == 2, "what came of the first is not"


def test_a_file_is_run_as_python_runs_it(tmp_path: Path) -> None:
    found = analyze(tmp_path / "net.py", CELLS).findings
    assert [(item.severity, item.range.start.line) for item in found] == [(Severity.ERROR, 2)]


def test_cells_may_await(tmp_path: Path) -> None:
    """In one event loop, as in a kernel: what was begun in a cell goes on while another one awaits."""
    cells = """\
import asyncio
import torch
from torch import nn

async def fetch():
    await asyncio.sleep(0)
    return 5

async with asyncio.Lock():
    begun = asyncio.create_task(fetch())
sizes = [size for size in (await begun, await fetch())]

# inductor-debug: inputs=(torch.randn(2, 4),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(sizes[0], 2)

    def forward(self, x):
        return self.last(x)
"""
    [found] = analyze(tmp_path / "net.ipynb", cells).findings
    assert (found.severity, found.range.start.line) == (Severity.ERROR, 19)


def test_what_waits_for_ever_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inductor_debug.capture.runtime.running_cells.MOST_SECONDS", 0.1)
    cells = CELLS.replace('rows = open("data.csv").read()', "import asyncio").replace(
        "count = len(rows)", "await asyncio.Event().wait()"
    )
    model, waited = analyze(tmp_path / "net.ipynb", cells).findings
    assert (model.severity, model.range.start.line) == (Severity.ERROR, 12)
    assert (waited.severity, waited.range.start.line) == (Severity.WARNING, 3)
    assert waited.message.startswith("TimeoutError: what is awaited here waited for more than 0.1 s")


def test_a_statement_that_cannot_stand_in_a_cell_keeps_no_other_from_running(tmp_path: Path) -> None:
    cells = CELLS.replace('rows = open("data.csv").read()', "return 1").replace("len(rows)", "1")
    found = analyze(tmp_path / "net.ipynb", cells).findings
    assert {(item.rule, item.severity, item.range.start.line) for item in found} == {
        ("syntax-error", Severity.WARNING, 2),
        ("capture-error", Severity.ERROR, 12),
    }


def test_a_cell_may_look_at_values(tmp_path: Path) -> None:
    cells = CELLS.replace('rows = open("data.csv").read()', "rows = torch.ones(5).sum().item()").replace(
        "len(rows)", "int(rows)"
    )
    found = analyze(tmp_path / "net.ipynb", cells.replace("Linear(5", "Linear(count")).findings
    assert [(item.rule, item.range.start.line) for item in found] == [("capture-error", 12)]


def test_a_break_is_told_where_a_loop_of_a_cell_calls_the_model(tmp_path: Path) -> None:
    """And not once more as an exception of the cell, nor what is missing since."""
    cells = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        y = self.last(x)
        if y.sum() > 0:
            y = y * 2
        return y

net = torch.compile(Net())
other = torch.compile(Net())
for _ in range(3):
    out = net(torch.randn(2, 4))
last = other(torch.randn(2, 4))
print(out.shape)
"""
    found = analyze(tmp_path / "net.ipynb", cells, stages=(Stage.PREVIEW, Stage.MOCK)).findings
    assert {(item.rule, item.range.start.line) for item in found} == {("graph-break", 10)}
