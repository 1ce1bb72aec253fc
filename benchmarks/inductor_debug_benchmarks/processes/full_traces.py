"""Analyses texts twice, sparing what can be spared and doing all of it anew, and tells what differs.

Spared are traces of layers that are alike, and answers that fake tensors were given before.

Reads one JSON object `{"stages", "profile", "texts": [[name, path, text], ...]}` from standard input and writes one
JSON line for each text: how many calls of modules were copied, how many parts both analyses have, and the first parts
that differ. Every analysis is a forked child of one warm process; `inductor-debug bench layers` runs this.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from inductor_debug.repro.minimiser.attempts import AttemptEnding, attempt
from inductor_debug.worker.job import isolate
from inductor_debug.worker.warm_up import warm_up
from inductor_debug_schema import JobRequest, Stage

_SECONDS = 300
_MOST_SHOWN = 6


def compared(path: str, text: str, stages: list[Stage], profile: dict[str, Any]) -> dict[str, Any]:
    """`copies`, `parts` and `differences` of one text, and `problem`, why an analysis did not come to its end."""
    from inductor_debug_benchmarks.processes.analysis_parts import differences

    request = JobRequest(1, path, text, os.path.dirname(path), stages, profile, keep_graphs=True, keep_captures=True)
    found = []
    for sparing in (True, False):
        ended = attempt(lambda sparing=sparing: _analysed(request, sparing), timeout=_SECONDS)  # type: ignore[misc]
        if ended.ending is not AttemptEnding.DONE:
            return {"copies": 0, "parts": 0, "differences": [], "problem": f"{ended.ending.value}: {ended.detail}"}
        found.append(ended.answer)
    one, other = ([tuple(part) for part in each["parts"]] for each in found)
    unlike = differences(one, other)[:_MOST_SHOWN]
    return {"copies": found[0]["copies"], "parts": len(one), "differences": unlike, "problem": ""}


def _analysed(request: JobRequest, sparing: bool) -> dict[str, Any]:
    isolate()
    from inductor_debug.capture.dynamo.repeats.repeated_calls import RepeatedCalls
    from inductor_debug.capture.stages import dynamo_run
    from inductor_debug.capture.weightless.remembered_answers import RememberingMode
    from torch._subclasses.fake_tensor import FakeTensorMode

    from inductor_debug_benchmarks.processes.analysis_parts import parts_of_analysis

    made: list[RepeatedCalls] = []

    class Counted(RepeatedCalls):
        def __init__(self, model: Any) -> None:
            super().__init__(model)
            made.append(self)

        def _may_repeat(self, tracker: Any, translator: Any) -> bool:
            return sparing and super()._may_repeat(tracker, translator)

    dynamo_run.RepeatedCalls = Counted  # type: ignore[attr-defined]
    if not sparing:
        RememberingMode.answer = FakeTensorMode.__torch_dispatch__  # type: ignore[method-assign]
    parts = parts_of_analysis(request)
    return {"copies": sum(each.copies for each in made), "parts": parts}


def main() -> None:
    """Answers the order on standard input."""
    order = json.load(sys.stdin)
    warm_up()
    import transformers  # noqa: F401  each child would import it anew

    stages = [Stage(name) for name in order["stages"]]
    for name, path, text in order["texts"]:
        print(json.dumps({"name": name, **compared(path, text, stages, order["profile"])}), flush=True)


if __name__ == "__main__":
    main()
