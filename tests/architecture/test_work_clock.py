"""Limits of time are there for what hangs or runs away, not for machines that are busy."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from inductor_debug.system.work_clock import WorkClock

ON_ONE_CORE = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\nwhile True: pass"
SLEEPING = "import time; time.sleep(60)"
SECONDS = 1.5


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="the kernel does not tell of its run queue")
def test_time_for_which_others_had_the_core_does_not_count(started: list[subprocess.Popen[bytes]]) -> None:
    started += [subprocess.Popen([sys.executable, "-c", ON_ONE_CORE]) for _ in range(4)]
    time.sleep(0.5)
    clock, before = WorkClock(started[0].pid), time.monotonic()
    time.sleep(SECONDS)
    assert clock.seconds() < 0.6 * (time.monotonic() - before)


def test_what_sleeps_is_not_excused(started: list[subprocess.Popen[bytes]]) -> None:
    started.append(subprocess.Popen([sys.executable, "-c", SLEEPING]))
    time.sleep(0.5)
    clock, before = WorkClock(started[0].pid), time.monotonic()
    time.sleep(SECONDS)
    assert clock.seconds() > 0.6 * (time.monotonic() - before)


def test_a_process_that_is_gone_leaves_a_wall_clock(started: list[subprocess.Popen[bytes]]) -> None:
    started.append(subprocess.Popen([sys.executable, "-c", ""]))
    started[0].wait()
    clock = WorkClock(started[0].pid)
    assert 0 <= clock.seconds() <= clock.seconds()
