"""What the script of a debug folder calls: the target in eager, then compiled, where a debugger can stop in both.

It runs in a process of the user's, in a debugger or not, and holds nothing back: the file may do whatever it does when
its user runs it. Everything that it prints is for people.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import torch
from inductor_debug_schema import FileStatus, Finished, JobRequest
from inductor_debug_schema.codec import from_wire
from torch.utils import _pytree as pytree

from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets
from inductor_debug.debugging.debug_task import SESSION, compiled_run, stepping_of
from inductor_debug.debugging.stepping import Shown
from inductor_debug.debugging.values_apart import apart
from inductor_debug.debugging.vector_instructions import held_instructions
from inductor_debug.kerneldiff.execution.run_state import RunState, seed_everything
from inductor_debug.kerneldiff.execution.side_runs import SideRun, run_side
from inductor_debug.source.notebooks.reading import line_in_words, open_cells


def run(folder: str) -> int:
    """Runs the target of a folder that `inductor-debug debug` has written; returns the exit code."""
    where = Path(folder)
    session = json.loads((where / SESSION).read_text(encoding="utf-8"))
    request = from_wire(JobRequest, session["request"])
    if not request.text:
        request = dataclasses.replace(request, text=Path(request.path).read_text(encoding="utf-8"))
    open_cells(request.path, request.text, request.cells)
    torch.set_num_threads(session["threads"])
    ended: list[Finished] = []
    debugged = _Debugged(where, session)
    with held_instructions(session["vectors"]):
        on_targets(request, lambda event: ended.append(event) if isinstance(event, Finished) else None, debugged)
    if debugged.done:
        return 0
    findings = ended[-1].findings if ended else []
    why = findings[0].message if findings else f"{request.path} no longer offers {', '.join(request.only)}"
    print(f"inductor-debug: {why}", file=sys.stderr)
    return 0 if ended and ended[-1].status is FileStatus.CLEAN else 2


class _Debugged:
    """Runs a target on both sides; called for each target that is found, which is one."""

    def __init__(self, folder: Path, session: dict[str, Any]) -> None:
        self._folder, self._training, self._at_line = folder, session["training"], session["at_line"]
        self.done = False

    def __call__(self, opened: OpenFile, candidate: Candidate) -> list[Any]:
        seed_everything(opened.request.seed)
        target = opened.real(candidate)
        if isinstance(target, str):
            print(f"inductor-debug: {target}", file=sys.stderr)
            return []
        stepping = stepping_of(opened, target, at_line=self._at_line)
        stepping.folder = self._folder
        state = RunState(target, parameters=True)
        # Breakpoints in the file itself stop here; compiled, none of its lines runs.
        eager = run_side(target, target.function, seed=opened.request.seed, gradients=self._training)
        state.restore()
        compiled = compiled_run(target, stepping, opened.request.seed, training=self._training)
        state.finish()
        self.done = True
        for name in stepping.changed:
            print(f"{name}: the compiler wrote other code than before, so breakpoints in it may have moved")
        for problem in dict.fromkeys(stepping.problems):
            print(f"no compiled values: {problem}")
        for shown in stepping.shown.values() if self._at_line is not None else ():
            print(_told(shown))
        print(_outcome(eager, compiled))
        return []


def _told(shown: Shown) -> str:
    """A value on both sides, as people read it."""
    place = shown.place
    where = f", {line_in_words(place.path, place.range.start.line)}" if place is not None else ""
    sides = [("eager", shown.value.eager), ("compiled", shown.value.compiled)]
    lines = [f"  {side:8}  {_short(value)}" for side, value in sides if value is not None]
    return "\n".join([f"{shown.name}{where}: {shown.value.apart}", *lines])


def _short(value: torch.Tensor) -> str:
    kind = str(value.dtype).removeprefix("torch.")
    first = value.detach().flatten()[:6].tolist()
    numbers = ", ".join(f"{number:.6g}" if isinstance(number, float) else str(number) for number in first)
    return f"{kind}{list(value.shape)}  {numbers}{', …' if value.numel() > len(first) else ''}"


def _outcome(eager: SideRun, compiled: SideRun) -> str:
    """What became of both runs, in a line for each output."""
    for side, ran in (("eager", eager), ("compiled", compiled)):
        if ran.error is not None:
            return f"{side}: the {ran.step} raised {describe(ran.error)}"
    lines: list[str] = []
    both = zip(pytree.tree_leaves(eager.outputs), pytree.tree_leaves(compiled.outputs), strict=False)
    for number, (left, right) in enumerate(both):
        if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
            lines.append(f"output {number}: {apart(left, right)}")
    for wanted, got in zip(eager.gradients, compiled.gradients, strict=False):
        if isinstance(wanted.value, torch.Tensor) and isinstance(got.value, torch.Tensor):
            lines.append(f"{wanted.path}: {apart(wanted.value, got.value)}")
    return "\n".join(lines) or "no output is a tensor"
