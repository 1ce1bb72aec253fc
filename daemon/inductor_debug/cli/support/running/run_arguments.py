"""Arguments of commands that run many files: the interpreter, how many at once, for how long; numbers for argparse."""

from __future__ import annotations

import argparse
import os


def add_python(group: argparse._ActionsContainer) -> None:
    """Adds `--python`."""
    group.add_argument("--python", metavar="INTERPRETER", help="the Python that has torch (default: this one)")


def located(interpreter: str | None) -> str | None:
    """A relative path made absolute, because settings would take it from the project's root; a name stays a name."""
    if interpreter is None or os.path.basename(interpreter) == interpreter:
        return interpreter
    return os.path.abspath(os.path.expanduser(interpreter))


def add_jobs(group: argparse._ActionsContainer, what: str) -> None:
    """Adds `--jobs`; `what` is run."""
    group.add_argument(
        "--jobs",
        metavar="N",
        type=count,
        help=f"{what} at once (default: {_jobs_here()}, on a cluster its threads)",
    )


def jobs_of(arguments: argparse.Namespace) -> int:
    """How many at once on this machine."""
    return arguments.jobs or _jobs_here()


def count(text: str) -> int:
    """A number of at least 1, for argparse."""
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0, for argparse."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return seconds


def _jobs_here() -> int:
    return min(2, os.cpu_count() or 1)
