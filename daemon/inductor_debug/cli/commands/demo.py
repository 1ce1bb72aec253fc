"""`inductor-debug demo`: six steps on a small model, each the command that a user would type, with what to look at.

The steps and the model are data (`cli/demo`), which the walkthrough of the editor's extension is made of, too.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inductor_debug.cli.support import console
from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.target_arguments import located
from inductor_debug.report.text.wrapping import wrapped

DESCRIPTION = """\
Writes a small model with three planted mistakes (a graph break, a float64, a wrong kernel) into a new folder, and goes
with it from findings to a report: check, fix, compare, blame, reproduce, report. Every step really runs and says what
to look at. It needs torch, no network and no accelerator, and takes about three minutes.
"""
EPILOG = """\
examples:
  inductor-debug demo                  in the new folder inductor-debug-demo, with a pause after each step
  inductor-debug demo /tmp/demo --yes  without pauses

exit codes: 0 where every step came out as it says, 2 where one did not, or nothing could be written
"""
FAILURES = ()
_DATA = Path(__file__).parents[1] / "demo"


@dataclass(frozen=True, slots=True)
class _Step:
    """One command, what it does, what to look at, and how it ends."""

    title: str
    what: str
    look: str
    arguments: list[str]
    ends: list[int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, default=Path("inductor-debug-demo"))
    parser.add_argument("--yes", action="store_true", help="do not wait for Enter after a step")
    parser.add_argument("--python", metavar="INTERPRETER", help="the Python that has torch (default: this one)")


def run(arguments: argparse.Namespace) -> int:
    """Goes through the steps; returns the exit code.

    Raises:
        CommandError: the folder is there already, or cannot be written.
    """
    folder: Path = arguments.folder
    try:
        folder.mkdir(parents=True)
        (folder / "model.py").write_text((_DATA / "model.py.txt").read_text(encoding="utf-8"), encoding="utf-8")
    except FileExistsError:
        raise CommandError(f"{folder} is there already: name another folder, which will be made") from None
    except OSError as error:
        raise CommandError(f"{folder}: {error.strerror}") from None
    python = located(arguments.python) if arguments.python else None
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    waits = not arguments.yes and sys.stdin.isatty()
    steps = list(_steps())
    for number, step in enumerate(steps, start=1):
        sys.stdout.write(f"\n{number} of {len(steps)}: {step.title}\n\n")
        _say(step.what)
        chosen = ["--python", python] if python else []
        sys.stdout.write(f"\n{folder}$ {shlex.join(['inductor-debug', *step.arguments])}\n\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "inductor_debug", *step.arguments, *chosen]
        ended = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        if ended not in step.ends:
            return console.fail(f"this step should have ended otherwise; `inductor-debug doctor` may say why ({ended})")
        sys.stdout.write("\n")
        _say(step.look, "Look at: ")
        if waits and number < len(steps):
            input("\nEnter goes on, Ctrl-C ends ")
    console.say(f"what the steps have made is in {folder}")
    return 0


def _steps() -> Iterator[_Step]:
    document = json.loads((_DATA / "steps.json").read_text(encoding="utf-8"))
    for step in document["steps"]:
        yield _Step(step["title"], step["what"], step["look"], step["arguments"], step["exit"])


def _say(words: str, first: str = "") -> None:
    sys.stdout.write("\n".join(wrapped(words, first, "")) + "\n")
    sys.stdout.flush()
