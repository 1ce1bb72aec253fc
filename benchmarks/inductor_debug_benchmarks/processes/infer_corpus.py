"""Measures inference on a corpus, one forked process for each file; `inductor-debug bench inference` runs this.

Reads one JSON object `{"profile", "files": [[path, text, [class, ...]], ...]}` from standard input and writes one JSON
line for each class: its inferred tensors, the seconds that took, the rung of the ladder that carried it, and its false
findings. Every class is analysed twice, the second time with other made-up sizes. What is told of sizes is false where
the other analysis does not even think of it: then it rests on a size that nobody asked for.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from inductor_debug.worker.job import isolate
from inductor_debug.worker.warm_up import warm_up
from inductor_debug_schema import Basis, Event, Finding, JobRequest, Misalignment, Stage, StageFinished

STAGES = (Stage.PREVIEW, Stage.MOCK)
"""What findings are looked for in."""
_ABOUT_SIZES = ("alignment", "memory", "peak-memory", "recompile")
_GROWTH = 3


@dataclass
class _Seen:
    """One analysis of one class: what was told of sizes, and what would have been told of any inputs."""

    reason: str = "it was not inferred"
    told: set[str] = field(default_factory=set)
    thought: set[str] = field(default_factory=set)


def measure(
    path: str, text: str, names: list[str], profile: dict[str, Any], stages: tuple[Stage, ...] = STAGES
) -> list[dict[str, Any]]:
    """What is inferred for some classes of one file: name, time, rungs, tensors, reason, false findings."""
    from inductor_debug.capture.inference.inference import Inference
    from inductor_debug.capture.inference.search.trial import Trials
    from inductor_debug.capture.inference.specs import argument_names
    from inductor_debug.system.own_files import OWN_PACKAGE

    rows: dict[str, dict[str, Any]] = {}
    original, original_trials, building = Inference.model, Trials.__init__, [0.0]

    def building_timed(trials: Trials, build: Any) -> None:
        worked = time.process_time()
        try:
            original_trials(trials, build)
        finally:
            building[0] += time.process_time() - worked

    def timed(inference: Inference) -> Any:
        fresh = {"name": inference.name, "seconds": 0.0, "work": 0.0, "building": 0.0, "rungs": 0, "tensors": []}
        row = rows.setdefault(inference.name, fresh)
        started, worked, building[0] = time.perf_counter(), time.process_time(), 0.0
        try:
            return original(inference)
        finally:
            if not row["tensors"]:  # later rungs only build again
                row["seconds"] += time.perf_counter() - started
                row["work"] += time.process_time() - worked
                row["building"] += building[0]
                row["rungs"] += 1
                row["tensors"] = inference.tensors()

    for function in (building_timed, timed):  # as code of the package: their frames are no user's
        function.__code__ = function.__code__.replace(co_filename=f"{OWN_PACKAGE}measured")
    Inference.model = timed  # type: ignore[method-assign, assignment]
    Trials.__init__ = building_timed  # type: ignore[method-assign, assignment]
    first = _findings(path, text, names, profile, stages)
    Inference.model, Trials.__init__ = original, original_trials  # type: ignore[method-assign]
    for name, size in argument_names.DEFAULT_SIZES.items():
        argument_names.DEFAULT_SIZES[name] = size * _GROWTH
    second = _findings(path, text, names, profile, stages)
    for name, row in rows.items():
        one, other = first.get(name, _Seen()), second.get(name, _Seen())
        row["reason"] = one.reason
        row["false"] = [] if other.reason else sorted((one.told - other.thought) | (other.told - one.thought))
        row["findings"] = len(one.told)
    return list(rows.values())


def _findings(
    path: str, text: str, names: list[str], profile: dict[str, Any], stages: tuple[Stage, ...]
) -> dict[str, _Seen]:
    """By target: why nothing was inferred, and its findings about sizes."""
    from inductor_debug.capture import session
    from inductor_debug.rules.captures import capture_judging

    seen: dict[str, _Seen] = {}
    honest = vars(capture_judging)["honest"]

    def listening(findings: list[Finding], basis: Basis) -> list[Finding]:
        for finding in findings:
            seen.setdefault(finding.target, _Seen()).thought |= _about_sizes([finding])
        kept: list[Finding] = honest(findings, basis)
        return kept

    def receive(event: Event) -> None:
        if isinstance(event, StageFinished):
            found = seen.setdefault(event.target, _Seen())
            found.reason = event.inferred.reason if event.inferred is not None else found.reason
            found.told |= _about_sizes(event.findings)

    capture_judging.honest = listening  # type: ignore[attr-defined]
    try:
        request = JobRequest(1, path, text, os.path.dirname(path), list(stages), profile, only=names)
        session.analyze(request, receive)
    finally:
        capture_judging.honest = honest  # type: ignore[attr-defined]
    return seen


def _about_sizes(findings: list[Finding]) -> set[str]:
    """What findings say of sizes, one line for each size that they name, without how many ops these went through."""
    return {
        f"{item.rule} {item.range.start.line + 1}:{item.range.start.character} {said}"
        for item in findings
        if item.rule in _ABOUT_SIZES
        for said in _sizes_of(item)
    }


def _sizes_of(finding: Finding) -> list[str]:
    if isinstance(finding.facts, Misalignment):
        return [str(odd.odd_size) for odd in finding.facts.odd_sizes]
    return [str(finding.facts) if finding.facts is not None else finding.message]


def main() -> None:
    """Runs as a script."""
    order = json.load(sys.stdin)
    output = os.dup(1)
    isolate()
    warm_up()
    for path, text, names in order["files"]:
        child = os.fork()
        if child == 0:
            try:
                for row in measure(path, text, names, order["profile"]):
                    os.write(output, (json.dumps({"file": path, **row}) + "\n").encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
