"""`inductor-debug diff`: does a backend compute what the model means, and if not, which expression is to blame?

It prints what the worker answered, as text or as the `diff` documents of the contract. What is compared, and what a
difference means, the worker decides.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.cli import console
from inductor_debug.cli.files import PathError
from inductor_debug.cli.output import Output, OutputError
from inductor_debug.cli.running import (
    ConfigurationError,
    InterruptedRunError,
    TargetError,
    failure,
    perform_order,
)
from inductor_debug.cli.subjects import add_run_arguments, add_subject, said, subject_of
from inductor_debug.engine.comparing import diff_order
from inductor_debug.report.diff_text import DiffText
from inductor_debug.report.places import Places, repository_root
from inductor_debug.report.sources import Sources
from inductor_debug.report.styles import Styler

EPILOG = """\
examples:
  inductor-debug diff model.py                              Inductor against eager
  inductor-debug diff model.py::Net --backend spyre         an accelerator's emulated arithmetic
  inductor-debug diff model.py --backend spyre --inject drop-last-stick@14
  inductor-debug diff model.py --gradients --runs 5 --format json -o diff.json

exit codes:
  0  every target passes
  1  a target is suspicious or wrong
  2  a comparison failed, or bad usage or configuration
"""
_DEFAULT_TIMEOUT = 600.0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the parser of `diff`."""
    parser = subparsers.add_parser(
        "diff",
        help="compare what a backend computes with what the model means",
        description="Runs a model with a reference and with a backend, judges the difference by what the precision "
        "explains, and names the expression at fault.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_subject(parser)
    sides = parser.add_argument_group("what is compared")
    sides.add_argument("--reference", metavar="NAME", default="eager", help="what is right (default: %(default)s)")
    sides.add_argument(
        "--backend",
        metavar="NAME|FILE.toml",
        default="inductor",
        help="a torch.compile backend, or an accelerator, whose arithmetic is emulated (default: %(default)s)",
    )
    sides.add_argument("--gradients", action="store_true", help="also compare gradients of inputs and parameters")
    sides.add_argument("--runs", metavar="N", type=_positive, default=1, help="compare N times, each with another seed")
    sides.add_argument("--seed", metavar="N", type=int, default=0, help="the first seed (default: %(default)s)")
    sides.add_argument(
        "--inject",
        metavar="FAULT[@LINE]",
        action="append",
        default=[],
        help="put a fault into the backend's arithmetic, to test this tool; may be repeated",
    )
    view = parser.add_argument_group("the view by tolerances (the verdict does not depend on it)")
    view.add_argument("--atol", metavar="X", type=_tolerance, help="absolute tolerance (default: the dtype's)")
    view.add_argument("--rtol", metavar="X", type=_tolerance, help="relative tolerance (default: the dtype's)")
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    output.add_argument("-o", "--output", metavar="FILE", help="write the result here")
    output.add_argument("--plots", action="store_true", help="also draw pictures, kept with the artifacts")
    output.add_argument("--no-nodes", action="store_true", help="do not look for the operation at fault")
    output.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: auto")
    add_run_arguments(parser.add_argument_group("how it is run"))
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Compares; returns the exit code."""
    try:
        return _run(arguments)
    except (PathError, OutputError, ConfigurationError, TargetError, ProfileError) as error:
        return console.fail(str(error))
    except InterruptedRunError as interruption:
        return interruption.exit_code


def _run(arguments: argparse.Namespace) -> int:
    subject = subject_of(arguments.subject)
    output = Output(arguments.output, utf8=arguments.format == "json" or arguments.output is not None)
    order = diff_order(_options(arguments), timeout=arguments.timeout or _DEFAULT_TIMEOUT)
    done = perform_order(subject, order, said(arguments), quiet=arguments.quiet)
    documents = [answer.document for answer in done.performed.answers]
    if not documents:
        return console.fail(f"{subject.shown}: {failure(done.performed) or 'nothing was compared'}")
    if arguments.format == "json":
        output.write(json.dumps(documents[0] if len(documents) == 1 else documents, indent=2) + "\n")
    else:
        text = DiffText(
            Places(os.getcwd(), repository_root(os.path.dirname(subject.path)), {subject.path: subject.shown}),
            Sources({subject.path: done.performed.text}),
            Styler(arguments.output is None and console.wants_colour(arguments.color, sys.stdout, os.environ)),
        )
        output.write("\n".join(text.render(document) for document in documents))
    output.commit()
    if done.performed.broken:
        return console.fail(f"{subject.shown}: {failure(done.performed)}")
    return exit_code([str(document["verdict"]) for document in documents])


def exit_code(verdicts: list[str]) -> int:
    """2 where a comparison failed, else 1 where one does not pass, else 0."""
    if "failed" in verdicts:
        return 2
    return 0 if all(verdict == "pass" for verdict in verdicts) else 1


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "reference": arguments.reference,
        "backend": arguments.backend,
        "gradients": True if arguments.gradients else None,
        "runs": arguments.runs,
        "seed": arguments.seed,
        "inject": arguments.inject,
        "atol": arguments.atol,
        "rtol": arguments.rtol,
        "nodes": not arguments.no_nodes,
        "plots": arguments.plots or None,
    }


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _tolerance(text: str) -> float:
    number = float(text)
    if not number >= 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number
