"""`inductor-debug demo`: six steps on a small model, each the command that a user would type, with what to look at.

The steps and the model are data (`cli/demo`). Every step is carried out by the command's own module: nothing here knows
what a step does, and nothing that is shown as its output was written down.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug.cli.support import console
from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.running.run_arguments import located
from inductor_debug.cli.support.subcommands import carry_out
from inductor_debug.report.text.wrapping import wrapped

DESCRIPTION = """\
Writes a small model with three planted mistakes (a graph break, a float64, a wrong kernel) into a new folder, and goes
with it from findings to a report: check, fix, compare, blame, reproduce, report. Every step really runs and says what
to look at. It needs torch, no network and no accelerator, and takes a minute or two.
"""
EPILOG = """\
examples:
  inductor-debug demo                  in the new folder inductor-debug-demo, with a pause after each step
  inductor-debug demo /tmp/demo --yes  without pauses

exit codes:
  0  every step came out as it says
  2  one did not, or nothing could be written
"""
FAILURES = ()
DATA = Path(__file__).parents[2] / "demo"


@dataclass(frozen=True, slots=True)
class Step:
    """One command, what it does, what to look at, and how it ends."""

    title: str
    what: str
    look: str
    arguments: list[str]
    exit: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        type=Path,
        default=Path("inductor-debug-demo"),
        help="a folder that is not there yet (default: %(default)s)",
    )
    parser.add_argument("--yes", action="store_true", help="do not wait for Enter after a step")
    parser.add_argument("--python", metavar="INTERPRETER", help="the Python that has torch (default: this one)")


def run(arguments: argparse.Namespace) -> int:
    """Goes through the steps; returns the exit code.

    Raises:
        CommandError: the folder is there already or cannot be written, or a step came out otherwise.
        InterruptedRunError: Ctrl-C or a polite kill during a step.
    """
    folder: Path = arguments.folder
    interpreter = [] if arguments.python is None else ["--python", located(arguments.python) or ""]
    files, steps = all_files(), all_steps()
    _write(files, folder)
    with _inside(folder):
        for number, step in enumerate(steps, start=1):
            _say(f"\n{number} of {len(steps)}: {step.title}\n\n{_paragraph(step.what)}")
            _say(f"\n{folder}$ {shlex.join(['inductor-debug', *step.arguments])}\n")
            code = carry_out(step.arguments[0], [*step.arguments, *interpreter])
            if code != step.exit:
                raise CommandError(
                    f"the step should have ended with exit code {step.exit}, not {code}; "
                    "`inductor-debug doctor` says what is missing"
                )
            _say(f"\n{_paragraph(step.look, 'Look at: ')}")
            if number < len(steps) and not arguments.yes:
                _wait()
    console.say(f"what the steps have made is in {folder}")
    return 0


def all_files() -> dict[str, bytes]:
    """The files of the demo by their names."""
    return {name: (DATA / source).read_bytes() for name, source in _document()["files"].items()}


def all_steps() -> list[Step]:
    """The steps, in their order."""
    return [
        Step(step["title"], step["what"], step["look"], step["arguments"], step["exit"])
        for step in _document()["steps"]
    ]


def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DATA / "steps.json").read_text(encoding="utf-8"))
    return document


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except FileExistsError:
        raise CommandError(f"{folder} is there already: name another folder, which will be made") from None
    except OSError as error:
        raise CommandError(f"{folder}: {error.strerror}") from None


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Has commands find the model as somebody does who stands in its folder."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _wait() -> None:
    """Until Enter is pressed, where somebody is there to press it; the end of their input lets the rest go on."""
    if sys.stdin is None or not sys.stdin.isatty():
        return
    with contextlib.suppress(EOFError):
        input("\nEnter goes on, Ctrl-C ends ")


def _paragraph(words: str, first: str = "") -> str:
    return "\n".join(wrapped(words, first, ""))


def _say(words: str) -> None:
    """Between the output of two commands, which do not know of each other."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()
