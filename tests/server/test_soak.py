"""A short soak: random edits, saves, reloads, `kill -9` and other faults, after which all is as after a fresh start."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace

import pytest
from inductor_debug_benchmarks import soak
from inductor_debug_benchmarks.process_usage import naming, seen
from inductor_debug_benchmarks.soak import SoakLog

pytestmark = pytest.mark.torch


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_after_edits_and_kills_findings_are_fresh_and_nothing_is_left() -> None:
    outcome = soak.run(0.0, seed=26, edits=3, kills=1)
    assert [text for kept, text in outcome.promises if not kept] == []
    assert outcome.figures["settled"] == 2, "of each deed one, and two edits; and until there were three"
    assert outcome.figures["deeds"].keys() == soak.DEEDS.keys()
    assert outcome.figures["deeds"]["edit"] >= 3
    assert outcome.figures["killed"]["daemon"] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_what_is_left_is_named_and_no_later_process_is_taken_for_it() -> None:
    [this] = seen([os.getpid()])
    assert re.fullmatch(rf"process {os.getpid()}, [0-9.]+ s old: .*\S.*", str(this))
    assert this in seen(naming(sys.orig_argv[0]))
    assert this.lives()
    assert not replace(this, started=this.started - 1).lives()


def test_the_slope_is_that_of_the_longest_session_without_its_start() -> None:
    log = SoakLog(memory=[[(0, 5)], [(0, 1), (10, 100), (20, 120), (30, 140), (40, 160)]])
    assert log.slope() == pytest.approx(2.0)
    assert SoakLog(memory=[[(0, 1), (10, 2)]]).slope() is None
