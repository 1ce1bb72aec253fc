"""`bench numerics` measures for real and says which promises were kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inductor_debug_benchmarks import numerics_cost
from inductor_debug_benchmarks.outcome import BenchmarkOutcome

RESULT: dict[str, Any] = {
    "elements": 1000,
    "threads": 2,
    "plain_seconds": 2.0,
    "compare_seconds": {"noise": 1.0, "other": 3.0},
    "extra_bytes": 100 << 20,
    "rounded_per_second": {"sen169_fp16": 2e8},
}


def test_each_promise_says_whether_it_was_kept() -> None:
    kept = [good for good, _ in numerics_cost.promises(RESULT)]
    assert kept == [True, False, False, True]
    outcome = BenchmarkOutcome(RESULT, numerics_cost.promises(RESULT), ["figures"])
    assert outcome.as_text().splitlines()[:2] == [
        "figures",
        "kept    all metrics of a pair with noise: 0.50 of (a - b).abs().max() (at most 1)",
    ]
    assert "BROKEN  100 MB beside the tensors" in outcome.as_text()
    assert [said["kept"] for said in json.loads(outcome.as_json())["promises"]] == kept
    assert outcome.exit_code() == 1


@pytest.mark.torch
def test_a_small_run_measures_everything() -> None:
    document = numerics_cost.run(elements=4_000_000).figures
    assert document["extra_bytes"] is None or document["extra_bytes"] < 64 << 20
    assert set(document["rounded_per_second"]) >= {"sen169_fp16", "float16", "bfloat16"}
    assert all(seconds > 0 for seconds in document["compare_seconds"].values())
