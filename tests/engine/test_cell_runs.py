"""What counts of the runs of a notebook's cells."""

from __future__ import annotations

import pytest
from inductor_debug.engine.notebooks.cell_runs import CellRun, with_run

TEXTS = {
    "imports": "import torch",
    "model": "class Net(torch.nn.Module):\n    size = globals().get('size', size)",
    "use": "net = Net()",
    "more": "%matplotlib inline\nx = 1",
    "size": "size = Net.size if 'Net' in globals() else 1\nother = torch.ones(size)",
    "broken": "def f(:",
}


def counted(*cells: str, orders: tuple[int, ...] = ()) -> list[str]:
    """The cells whose runs count after these were run, one after the other."""
    runs: tuple[CellRun, ...] = ()
    for order, cell in zip(orders or range(1, len(cells) + 1), cells, strict=True):
        runs = with_run(runs, CellRun(cell, order, TEXTS[cell]))
    return [run.cell for run in runs]


@pytest.mark.parametrize(
    ("ran", "counts"),
    [
        ("model imports", "model imports"),  # in the order in which they ran, not in which they stand
        ("imports model model", "imports model"),
        ("imports model use model use", "imports model use"),
        ("imports model imports", "imports model"),  # the model would be made with the new imports
        ("imports model use model", "imports model use"),
        ("imports model use model use model", "imports model use"),
        ("imports size model size", "imports size model size"),  # which it takes of the model
        ("imports more imports", "more imports"),
        ("imports broken model", "imports model"),
    ],
)
def test_a_run_counts_until_it_is_repeated_and_nothing_in_between_needed_it(ran: str, counts: str) -> None:
    assert counted(*ran.split()) == counts.split()


def test_a_kernel_that_counts_anew_knows_nothing_of_what_ran_before() -> None:
    assert counted("imports", "model", "more", orders=(4, 5, 1)) == ["more"]
