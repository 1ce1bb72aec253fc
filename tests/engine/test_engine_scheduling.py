"""Typing: the first change of a burst starts at once, later ones wait the longer the more a run costs."""

from __future__ import annotations

import pytest
from inductor_debug.engine.scheduling import LONGEST_DELAY, QUIET_SECONDS, SHORTEST_DELAY, Debounce


@pytest.mark.parametrize(
    ("run", "delay"), [(0.0, SHORTEST_DELAY), (0.08, SHORTEST_DELAY), (1.0, 0.25), (60.0, LONGEST_DELAY)]
)
def test_delays_within_a_burst_grow_with_the_last_run(run: float, delay: float) -> None:
    now = [100.0]
    debounce = Debounce(lambda: now[0], first_findings=run)
    assert debounce.delay() == 0.0
    now[0] += 0.1
    assert debounce.delay() == pytest.approx(delay)
    now[0] += QUIET_SECONDS
    assert debounce.delay() == 0.0
