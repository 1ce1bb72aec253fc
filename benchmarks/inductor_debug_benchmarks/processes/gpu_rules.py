"""What bounds and rules of a GPU cost beside the analysis that they are about, in a warm process.

`inductor-debug bench costs` runs this module as a script (`bare_runs`). `stage` is the `aot` stage, forward and
backward; `rules` is all that is added to its recording where a GPU was chosen: every rule, and the document of costs.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug_schema import Stage

from inductor_debug_benchmarks.processes.bare_runs import Work, answer

ACCELERATOR = "h100"


def stage_seconds(target: Any, sources: Any) -> float:
    """Seconds that the stage takes, with nothing judged."""
    from inductor_debug.capture.stages.aot import run_aot

    started = time.perf_counter()
    run_aot(target, sources)
    return time.perf_counter() - started


def rules_seconds(recording: Any, target: Any, sources: Any) -> float:
    """Seconds that all rules and the costs take of a recording that nobody has looked at before."""
    from inductor_debug.rules.captures.substitution import exemplified
    from inductor_debug.rules.costing.run_costs import RunCosts
    from inductor_debug.rules.judge import judge

    profile = read_profile(load_document(ACCELERATOR))
    started = time.perf_counter()
    judge(recording, profile, stage=Stage.AOT, target=target.name, fallback=target.location)
    path = target.location.path
    RunCosts(profile).document(exemplified(recording), target.name, Stage.AOT, path, sources.excerpt)
    return time.perf_counter() - started


def prepare(target: Any, sources: Any) -> Work:
    """`stage` and `rules`; every run is a fork, so what one has worked out the next does not know."""
    from inductor_debug.capture.stages.aot import run_aot

    recording = run_aot(target, sources).recording
    return {
        "stage": lambda: stage_seconds(target, sources),
        "rules": lambda: rules_seconds(recording, target, sources),
    }


if __name__ == "__main__":
    answer(sys.argv[1], Stage.AOT, prepare)
