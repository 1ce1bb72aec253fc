"""A reproducer that is ready to be offered: its files and the numbers of the contract; and a first trial of it.

Nothing here decides what is cut out or how it is written.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from inductor_debug.repro.minimiser.attempts import Attempt, AttemptEnding, attempt
from inductor_debug.repro.program.program import Program
from inductor_debug.repro.program.safetensors import encode, mark_of
from inductor_debug.repro.script.script_checks import ScriptCheck
from inductor_debug.repro.script.writing import Header, script, values_beside

SELF_CHECK_SECONDS = 60.0


@dataclass
class Reproducer:
    """A script, the files beside it by name, and numbers.

    `why` says what is weaker than wished; `neighbour` what the smallest change is that makes the failure go. `foreign`
    scripts define operators that this process has already, so that only another one can try them.
    """

    script: str
    name: str
    nodes_before: int
    nodes_after: int
    attempts: int
    files: dict[str, bytes] = field(default_factory=dict)
    why: str = ""
    neighbour: str = ""
    minimal: bool = True
    foreign: bool = False


def written(
    program: Program,
    recorded: Mapping[str, torch.Tensor],
    check: ScriptCheck,
    header: Header,
    name: str,
    *,
    before: int,
    attempts: int,
) -> Reproducer:
    """The script of a program, and the file of values beside it where it needs one.

    Raises:
        UnprintableError: a step has no form as Python code.
        UnsavableError: values that are needed cannot be saved.
    """
    text = script(program, check, header, recorded=recorded)
    beside = values_beside(program, recorded)
    files = {}
    if beside:
        content = encode(beside)
        files[f"{mark_of(content)}.safetensors"] = content
    return Reproducer(text, name, before, len(program.steps), attempts, files)


class NotReproducibleError(Exception):
    """There is no script for this failure; the message tells the user why, and `export` may hold a fallback."""

    def __init__(self, message: str, *, export: bytes = b"") -> None:
        super().__init__(message)
        self.export = export


def first_that_works(drafts: Iterator[Reproducer]) -> Reproducer:
    """The first of the drafts that reproduces here; the last one where none does, with what its `why` says of that."""
    draft = next(drafts)
    while not draft.foreign and not works(draft.script, draft.files):
        following = next(drafts, None)
        if following is None:
            return draft
        draft = following
    draft.why = ""
    return draft


def works(script: str, files: Mapping[str, bytes] | None = None) -> bool:
    """Whether a script reproduces here, in a forked child: a first look, before the daemon proves it in a clean one."""
    return trial(script, files).answer.get("status") == 0


def trial(script: str, files: Mapping[str, bytes] | None = None) -> Attempt:
    """Runs a script in a forked child; the answer has its exit `status` and the end of what it `said`."""

    def work() -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "repro.py"
            path.write_text(script, encoding="utf-8")
            for name, content in (files or {}).items():
                (Path(folder) / name).write_bytes(content)
            os.chdir(folder)
            said = io.StringIO()
            status = 0
            with redirect_stdout(said), redirect_stderr(said):
                try:
                    namespace = {"__name__": "__main__", "__file__": str(path)}
                    exec(compile(script, str(path), "exec"), namespace)
                except SystemExit as ended:
                    status = ended.code if isinstance(ended.code, int) else 2
        return {"status": status, "said": said.getvalue()[-4000:]}

    found = attempt(work, timeout=SELF_CHECK_SECONDS)
    return found if found.ending is AttemptEnding.DONE else Attempt(found.ending, {}, found.detail)
