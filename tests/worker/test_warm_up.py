"""A rehearsal leaves the process as it was, and makes way for the job; where it would serve no other there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

PROGRAM = """
import json, os, sys, threading
from inductor_debug.worker import warm_up

greeting = warm_up.warm_up()
import torch

def state():
    return {
        "path": sys.path, "environment": dict(os.environ), "folder": os.getcwd(), "modules": sorted(sys.modules),
        "threads": threading.active_count(), "native threads": len(os.listdir("/proc/self/task")),
        "compile": id(torch.compile), "dtype": str(torch.get_default_dtype()), "cuda": torch.cuda.is_initialized(),
        "random": torch.random.get_rng_state().tolist(),
    }

before = json.loads(json.dumps(state()))
looks = []
warm_up.rehearse(lambda: bool(looks.append(1)))
whole = len(looks)
warm_up.rehearse(lambda: bool(looks.append(1)) or len(looks) == whole + 2)
after = json.loads(json.dumps(state()))
print(json.dumps({
    "changed": [name for name in before if before[name] != after[name]],
    "looks": [whole, len(looks) - whole], "threads": after["native threads"], "torch": greeting["torch"],
}))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads through /proc")
def test_a_rehearsal_leaves_no_trace_and_stops_when_the_job_arrives() -> None:
    # On Python 3.13.0 torch warns of that version.
    environment = {**os.environ, "PYTHONWARNINGS": "ignore:Guards may run slower on Python 3.13.0"}
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    assert result.stderr == "", "a failing rehearsal would say so"
    told = json.loads(result.stdout)
    assert told["changed"] == []
    assert told["threads"] == 1, "the fork server has one thread"
    whole, cut_short = told["looks"]
    assert whole == 9, "Loaded, two stages begun, ended and explained, what did not run, Finished"
    assert cut_short == 2


ONE_JOB = """
from inductor_debug.engine.pool.launch import WorkerEntry
from inductor_debug.worker import warm_up
from inductor_debug.worker.job import resolve

rehearsed = []
warm_up.analyze_and_forget = lambda *model: rehearsed.append(model)
entries = WorkerEntry().for_one_job(), WorkerEntry()
print([(bool(resolve(entry.warm_up)()["torch"]), len(rehearsed), bool(entry.rehearsal)) for entry in entries])
"""


def test_nothing_is_rehearsed_where_one_job_is_all_that_comes() -> None:
    result = subprocess.run([sys.executable, "-c", ONE_JOB], capture_output=True, text=True)
    assert result.stdout.strip() == "[(True, 0, False), (True, 2, True)]", result.stderr
