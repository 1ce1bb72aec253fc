"""What `bench latency` promises of an analysis holds on a machine that others use, too."""

from __future__ import annotations

from dataclasses import replace

import pytest
from inductor_debug_benchmarks.latency import LatencyResult, LatencyRow, promises

MLP = LatencyRow("mlp", first=0.1, done=0.2, bare=0.1, again=0.01, cold=4.0, peak=1, work=0.1, bare_work=0.1)
LLAMA = replace(MLP, model="llama70b", cold=None, work=4.0, bare_work=10.0)
RESULT = LatencyResult(initialize=0.7, initialize_work=0.5, server=[60_000_000, 100_000_000], rows=[MLP, LLAMA])


def broken(result: LatencyResult) -> list[str]:
    """The promises that a run did not keep."""
    return [text for kept, text in promises(result) if not kept]


def test_a_run_that_waited_for_others_keeps_its_promises() -> None:
    waited = [replace(row, done=row.done * 5) for row in RESULT.rows]
    assert broken(replace(RESULT, initialize=3.0, rows=waited)) == []


@pytest.mark.parametrize(
    ("row", "work", "told"),
    [
        (0, 0.15, "mlp: 1.50 x the processor time of bare Dynamo (at most 1.4 x)"),
        (1, 5.1, "llama70b: 0.51 x the processor time of bare Dynamo (at most 0.5 x)"),
    ],
)
def test_an_analysis_that_does_more_breaks_one(row: int, work: float, told: str) -> None:
    rows = list(RESULT.rows)
    rows[row] = replace(rows[row], work=work)
    assert broken(replace(RESULT, rows=rows)) == [told]


def test_what_the_server_keeps_is_looked_at_after_small_and_after_large_models() -> None:
    assert broken(replace(RESULT, server=[80_000_000, 130_000_000])) == [
        "server 80 MB after small models (at most 70 MB)",
        "server 130 MB after large models (at most 120 MB)",
    ]
    assert broken(replace(RESULT, server=[None, None])) == []
