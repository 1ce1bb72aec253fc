"""`bench numerics` measures for real and says which promises were kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inductor_debug.cli.bench import numerics

RESULT: dict[str, Any] = {
    "elements": 1000,
    "threads": 2,
    "plain_seconds": 2.0,
    "compare_seconds": {"noise": 1.0, "other": 3.0},
    "extra_bytes": 100 << 20,
    "rounded_per_second": {"sen169_fp16": 2e8},
}


def test_each_promise_says_whether_it_was_kept() -> None:
    kept = [good for good, _ in numerics.promises(RESULT)]
    assert kept == [True, False, False, True]
    assert "BROKEN  100 MB beside the tensors" in numerics.render(RESULT, numerics.promises(RESULT))


@pytest.mark.torch
def test_a_small_run_measures_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert numerics.run("json", elements=4_000_000) in (0, 1)
    document = json.loads(capsys.readouterr().out)
    assert document["extra_bytes"] is None or document["extra_bytes"] < 64 << 20
    assert set(document["rounded_per_second"]) >= {"sen169_fp16", "float16", "bfloat16"}
    assert all(seconds > 0 for seconds in document["compare_seconds"].values())
