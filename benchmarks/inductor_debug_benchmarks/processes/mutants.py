"""Puts mutants of classes to the tool as a user's files; `inductor-debug bench bugs` runs this.

Reads one JSON object `{"profile", "cases": [{"path", "text", "name", "call", "edits", "wanted"}, ...]}` from standard
input and writes one JSON line for each case. The original is analysed, its mutants are judged by real runs
(`true_runs`), and those that matter are analysed twice: as texts never seen before, and as edits of the original, with
the hints that it left. Every run and every analysis is a forked child of its own. What was said is handed on as it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any

from inductor_debug.repro.minimiser.attempts import AttemptEnding, attempt
from inductor_debug.worker.job import isolate
from inductor_debug.worker.preload import Preloader
from inductor_debug.worker.warm_up import warm_up
from inductor_debug_schema import (
    Event,
    Finding,
    Finished,
    InferenceHint,
    JobRequest,
    Loaded,
    Severity,
    Stage,
    StageFinished,
    from_wire,
    to_wire,
)

STAGES = (Stage.PREVIEW, Stage.MOCK)
"""What findings are looked for in."""
_JUDGING_SECONDS, _ANALYSIS_SECONDS = 120, 60


class _EnoughError(BaseException):
    """Ends an analysis; not an `Exception`, so that nothing on the way takes it for a fault of the model."""


def analysed(
    path: str, text: str, name: str, profile: dict[str, Any], original: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What the tool says of one class of a text, as plain values.

    Args:
        path: the file; it need not exist.
        text: what stands in it.
        name: the class.
        profile: the accelerator's document.
        original: what was said of the text before an edit, and the hints that this left. An error that was not said
            then is enough: later stages are left out. Without it, all of the text is analysed.

    Returns:
        `findings` and `hints` as on the wire, `reason` for which nothing was inferred, `inputs` and `init` that were
        inferred, as expressions, `modules` that may be preloaded, and `problem`, how the analysis ended where it did
        not come to its end.
    """

    def work() -> dict[str, Any]:
        from inductor_debug.capture import session

        said = _nothing()

        def receive(event: Event) -> None:
            if isinstance(event, InferenceHint):
                said["hints"].append(to_wire(event))
            elif isinstance(event, Loaded):
                said["modules"] += event.modules
            elif isinstance(event, Finished):
                said["findings"] += map(_told, event.findings)
            elif isinstance(event, StageFinished):
                said["findings"] += map(_told, event.findings)
                if event.inferred is not None and event.target == name:
                    said.update((key, getattr(event.inferred, key)) for key in ("reason", "inputs", "init"))
                if any(item.severity is Severity.ERROR and item.message not in known for item in event.findings):
                    raise _EnoughError

        known = {item["message"] for item in original["findings"]} if original is not None else set()
        hints = [from_wire(InferenceHint, hint) for hint in (original["hints"] if original is not None else [])]
        request = JobRequest(1, path, text, os.path.dirname(path), list(STAGES), profile, only=[name], hints=hints)
        with contextlib.suppress(_EnoughError):
            session.analyze(request, receive)
        return said

    ended = attempt(work, timeout=_ANALYSIS_SECONDS)
    if ended.ending is AttemptEnding.DONE:
        return ended.answer
    return {**_nothing(), "problem": f"{ended.ending.value}: {ended.detail}"}


def _nothing() -> dict[str, Any]:
    lists: dict[str, Any] = {"findings": [], "hints": [], "modules": []}
    return {**lists, "reason": "", "inputs": "", "init": "", "problem": ""}


def _told(finding: Finding) -> dict[str, Any]:
    wire: dict[str, Any] = to_wire(finding)
    return wire


def measured(case: dict[str, Any], profile: dict[str, Any]) -> dict[str, Any]:
    """What is true of a case's mutants and what is said of them; `problem` where the original itself does not run."""
    path, text, name = case["path"], case["text"], case["name"]
    original = analysed(path, text, name, profile)
    _preload(original["modules"], os.path.dirname(path))

    def judging() -> dict[str, Any]:
        from inductor_debug_benchmarks.processes.true_runs import AuthorsCall, judged

        return judged(path, text, AuthorsCall(**case["call"]), case["edits"], case["wanted"])

    ended = attempt(judging, timeout=_JUDGING_SECONDS)
    truth: dict[str, Any] = (
        ended.answer if ended.ending is AttemptEnding.DONE else {"problem": ended.detail, "mutants": []}
    )
    rows = []
    for row in truth["mutants"]:
        edit = case["edits"][row["index"]]
        mutant = text[: edit["start"]] + edit["new"] + text[edit["end"] :]
        fresh = analysed(path, mutant, name, profile, {**original, "hints": []})
        by_edit = analysed(path, mutant, name, profile, original)
        rows.append({**row, "text": mutant, "fresh": fresh, "edit": by_edit, "sound_with": ""})
    _note_sound(case, [row for row in rows if row["verdict"] == "breaks"])
    return {"path": path, "name": name, "problem": truth["problem"], "original": original, "mutants": rows}


def _note_sound(case: dict[str, Any], broken: list[dict[str, Any]]) -> None:
    """Notes of each mutant that breaks with what other inputs it is sound, if there are any."""

    def judging() -> dict[str, Any]:
        from inductor_debug_benchmarks.processes.other_inputs import BrokenMutant, sound_with
        from inductor_debug_benchmarks.processes.true_runs import AuthorsCall

        mutants = [BrokenMutant(row["text"], row["fresh"]["inputs"], row["fresh"]["init"]) for row in broken]
        return {"found": sound_with(case["path"], case["text"], AuthorsCall(**case["call"]), mutants)}

    ended = attempt(judging, timeout=_JUDGING_SECONDS) if broken else None
    for row, found in zip(broken, ended.answer.get("found", []) if ended is not None else [], strict=False):
        row["sound_with"] = found


def _preload(modules: list[str], folder: str) -> None:
    """Imports what a fork server would have imported for these classes."""
    preloader = Preloader(folder)
    preloader.ask(modules)
    if preloader.start_trial(lambda: None):
        pid, status = os.waitpid(preloader.trial or 0, 0)
        preloader.ended(pid, os.waitstatus_to_exitcode(status))
        preloader.finish()


def main() -> None:
    """Runs as a script."""
    order = json.load(sys.stdin)
    output = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    isolate()
    warm_up()
    for case in order["cases"]:
        output.write(json.dumps(measured(case, order["profile"])) + "\n")


if __name__ == "__main__":
    main()
