"""`FILE[::TARGET]` on the command line, and the arguments that every command about one target has."""

from __future__ import annotations

import argparse
import re
from typing import Any

from inductor_debug.cli.support.check_arguments import add_allow, add_entries, said_of_entries
from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.file_arguments import PathError
from inductor_debug.cli.support.running.run_arguments import add_python, located, seconds
from inductor_debug.engine.orders.file_targets import FileTarget, FileTargetError, file_target
from inductor_debug.source.notebooks.reading import cells_of, is_notebook, line_of

_LINE = re.compile(r"(?:(?P<cell>[1-9]\d*):)?(?P<line>[1-9]\d*)")
ARTIFACTS_HELP = "where to keep graphs and reports: cache, project, off, or a folder (default: cache)"


def add_subject(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Adds the argument `subject`; None where it is `optional` and left out."""
    parser.add_argument(
        "subject",
        metavar="FILE[::TARGET]",
        nargs="?" if optional else None,
        help="a Python file, and a target that it offers",
    )


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what decides how a file is run; `said` reads it."""
    group = parser.add_argument_group("how it is run")
    group.add_argument(
        "--accelerator",
        metavar="NAME|FILE.toml",
        help="an accelerator, built in or installed, or a profile of yours",
    )
    add_python(group)
    group.add_argument("--timeout", metavar="S", type=seconds, help="seconds it may take")
    add_allow(group)
    add_entries(group)
    group.add_argument("--config", metavar="FILE", help="a TOML file in place of the nearest pyproject.toml")
    group.add_argument("--artifacts", metavar="WHERE", help=ARTIFACTS_HELP)
    group.add_argument("-q", "--quiet", action="store_true", help="no progress and no remarks")


def said(arguments: argparse.Namespace, path: str) -> dict[str, Any]:
    """What the command line says of settings for the file at `path`; None where it is silent."""
    return {
        "accelerator": arguments.accelerator,
        "timeout": arguments.timeout,
        "allow": arguments.allow,
        "interpreter": located(arguments.python),
        "config": arguments.config,
        "artifacts": arguments.artifacts,
        **said_of_entries(arguments, [path]),
    }


def said_line(text: str) -> str:
    """A line as people count them, `12`, or `4:7` for line 7 of a notebook's fourth cell; for argparse."""
    if _LINE.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no line: they are counted from 1 (in a notebook CELL:LINE)")
    return text


def line_in(words: str, subject: FileTarget) -> int:
    """Where the line that was said stands in the text of a file, from 0.

    Raises:
        CommandError: the file has no such line, or is a notebook, whose lines nobody knows without their cells.
    """
    found = _LINE.fullmatch(words)
    if found is None:
        raise CommandError(f"line {words}: lines are counted from 1")
    cell, line = found["cell"], int(found["line"])
    if not is_notebook(subject.path):
        if cell is not None:
            raise CommandError(f"{subject.shown} is no notebook: name a line alone, as in {line}")
        return line - 1
    if cell is None:
        raise CommandError(f"{subject.shown} is a notebook: name a line with its cell, as in 4:{line}")
    at = line_of(subject.path, int(cell), line)
    if at is None:
        known = ", ".join(str(number) for number, _ in cells_of(subject.path)) or "none"
        raise CommandError(f"{subject.shown} has no line {line} in a cell {cell} (cells with code: {known})")
    return at


def subject_of(words: str) -> FileTarget:
    """Reads `FILE[::TARGET]`.

    Raises:
        PathError: there is no such file.
    """
    try:
        return file_target(words)
    except FileTargetError as error:
        raise PathError(str(error)) from error
