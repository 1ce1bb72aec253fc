"""`inductor-debug bisect`: which layer of the compiler first goes wrong, and where in it.

It prints what the worker answered, as text, as one HTML page, or as the `bisect` documents of the contract.
"""

from __future__ import annotations

import argparse
import os

from inductor_debug_schema import BisectDocument, BisectOptions, BisectVerdict

from inductor_debug.cli.support.answering import ORDER_FAILURES, add_output_arguments, answer
from inductor_debug.cli.support.target_arguments import add_subject, said, subject_of
from inductor_debug.engine.orders.bisecting import bisect_order
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.report.html.bisect_page import bisect_page
from inductor_debug.report.text.bisect_text import bisect_text

DESCRIPTION = """\
Runs a model through a ladder of backends, each of which adds one layer of the compiler, and looks into the first that
computes something else than eager.
"""
EPILOG = """\
the ladder, unless --backends names another:
  eager                        the model without any compiler
  dynamo                       Dynamo's graphs, run as they are
  aot_eager                    AOTAutograd's forward and backward
  aot_eager_decomp_partition   decompositions and the partitioner
  inductor                     Inductor's passes, lowerings and generated code (needs a C++ compiler)
  transfers                    the way to the accelerator's memory and back
  the accelerator              its adapter, or its emulated arithmetic
  its other backends           where they are installed, and its profile says what they are made of

what went wrong is told by what rungs have in common: a part of a compiler that some rung is right with is not at fault,
and one that several wrong rungs share is. Of spyre and sendnn, which share their back end, one that is wrong alone
is wrong in its front end; where both are wrong, the back end (or the model) is at fault.

examples:
  inductor-debug bisect model.py::Net
  inductor-debug bisect model.py --accelerator spyre --backends aot_eager,spyre
  inductor-debug bisect model.py --backends aot_eager,mine   a backend, or a function, that the file itself has
  inductor-debug bisect model.py --format html -o bisection.html   a page to pass on
  inductor-debug bisect model.py --reference sendnn --backends spyre   two accelerators against each other

A whole target is climbed, because one wrong operation spoils all that comes after it. The operation at fault is in the
answer, with its line. For a finding at a line there is `inductor-debug repro --line`.

exit codes:
  0  no layer goes wrong
  1  one does
  2  bad usage or configuration, the model does not run at all, or something that a backend needs is missing
"""
FAILURES = ORDER_FAILURES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser)
    climb = parser.add_argument_group("what is climbed")
    climb.add_argument("--backends", metavar="A,B,...", type=_names, help="climb these instead of the usual ladder")
    climb.add_argument("--reference", metavar="NAME", default="eager", help="what is right (default: %(default)s)")
    climb.add_argument("--gradients", action="store_true", help="also compare gradients (default: if it trains)")
    climb.add_argument("--seed", metavar="N", type=int, default=0, help="default: %(default)s")
    climb.add_argument("--no-passes", action="store_true", help="do not search Inductor's passes and lowerings")
    climb.add_argument(
        "--inject",
        metavar="FAULT[@LINE]",
        action="append",
        default=[],
        help="put a fault into the accelerator's emulated arithmetic, to test this tool; may be repeated",
    )
    add_output_arguments(parser, ("text", "json", "html"))


def run(arguments: argparse.Namespace) -> int:
    """Bisects; returns the exit code."""
    return answer(arguments, _order(arguments), BisectDocument, bisect_text, exit_code, page=bisect_page)


def exit_code(documents: list[BisectDocument]) -> int:
    """2 where the environment is to blame, 1 where a layer goes wrong, else 0."""
    verdicts = {document.verdict for document in documents}
    return 2 if BisectVerdict.ENVIRONMENT in verdicts else 0 if verdicts == {BisectVerdict.NONE} else 1


def _order(arguments: argparse.Namespace) -> Order:
    path = subject_of(arguments.subject).path
    resolve = SettingsResolver(command_line=said(arguments, path), environ=os.environ)
    options = BisectOptions(
        backends=arguments.backends,
        reference=arguments.reference,
        gradients=True if arguments.gradients else None,
        seed=arguments.seed,
        passes=not arguments.no_passes,
        inject=arguments.inject,
    )
    return bisect_order(options, resolve(path), timeout=arguments.timeout)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("name at least one backend")
    return names
