"""What people get in a notebook, in a real IPython kernel: findings, graphs and comparisons under their cells."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import needed
import pytest

pytestmark = pytest.mark.torch

FIRST = """import torch
from torch import nn

class Block(nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""
SECOND = """%%compile_check --graph
# inductor-debug: inputs=(torch.randn(4, 8),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.block = nn.Linear(8, 4), Block()

    def forward(self, x):
        x = self.block(self.layer(x))
        print("<here>")
        return x

seen = "the cell ran"
"""
FAULTY = """
def faulty(graph, inputs):
    for node in graph.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.abs
    graph.recompile()
    return graph.forward
from inductor_debug import KernelDiffHarness
KernelDiffHarness(Net().eval(), (torch.randn(4, 8),), test_backend=faulty).compare()
"""
CELLS = {
    "load": "%load_ext inductor_debug",
    "first": FIRST,
    "broken": "raise RuntimeError('on purpose')",
    "checked": SECOND,
    "ran": "seen",
    "nothing": "%%compile_check\ny = 3",
    "entry": '%%compile_check --accelerator mock --entry "(Block(), (torch.randn(3).double(),))"\nz = y',
    "unknown": "%%compile_check --stages deep --no-run\nundefined_name",
    "diff": FAULTY,
    "api": "from inductor_debug import check\ncheck(nn.Linear(4, 4), torch.randn(2, 5))",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each cell shows."""
    nbclient, nbformat = needed.library("nbclient"), needed.library("nbformat")
    folder: Path = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": str(folder)}}
    )
    assert "ipykernel" in sys.modules or needed.library("ipykernel")
    asyncio.run(client.async_execute())
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def html_of(shown: list[Any]) -> str:
    return "".join(output.data.get("text/html", "") for output in shown if "data" in output)


def words_of(shown: list[Any]) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html_of(shown)))


def test_a_cell_has_its_findings_under_it_at_its_own_lines(outputs: dict[str, list[Any]]) -> None:
    assert outputs["load"] == []
    words = words_of(outputs["checked"])
    assert "warning[graph-break]" in words
    assert "session: cell 4, line 10" in words
    assert "1 class checked" in words
    assert "&lt;here&gt;" in html_of(outputs["checked"])
    assert "<svg" in html_of(outputs["checked"])


def test_a_checked_cell_runs_as_well_and_earlier_failures_do_not_matter(outputs: dict[str, list[Any]]) -> None:
    assert outputs["broken"][0].output_type == "error"
    assert outputs["ran"][0].data["text/plain"] == "'the cell ran'"


def test_a_cell_without_a_model_is_told_to_be_one(outputs: dict[str, list[Any]]) -> None:
    assert "nothing was checked" in words_of(outputs["nothing"])


def test_an_entry_is_checked_for_an_accelerator(outputs: dict[str, list[Any]]) -> None:
    assert "warning[dtype]" in words_of(outputs["entry"])
    assert "graph-break" not in words_of(outputs["entry"])


def test_what_cannot_be_asked_is_said_and_the_cell_is_left_alone(outputs: dict[str, list[Any]]) -> None:
    [said] = outputs["unknown"]
    assert "'deep' is not a valid Stage" in said.text


def test_a_comparison_made_in_the_kernel_is_a_table_with_the_blame(outputs: dict[str, list[Any]]) -> None:
    words = words_of(outputs["diff"])
    assert "against eager: wrong" in words
    assert "times expected" in words
    assert "torch.relu" in words


def test_a_report_that_a_cell_ends_with_is_shown(outputs: dict[str, list[Any]]) -> None:
    assert "error[capture-error]" in words_of(outputs["api"])
