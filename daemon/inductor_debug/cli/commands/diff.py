"""`inductor-debug diff`: does a backend compute what the model means, and if not, which expression is to blame?

It prints what the worker answered, as text or as the `diff` documents of the contract. What is compared, and what a
difference means, the worker decides.
"""

from __future__ import annotations

import argparse

from inductor_debug_schema import DiffDocument, DiffOptions, DiffVerdict

from inductor_debug.cli.support.answering import ORDER_FAILURES, add_output_arguments, answer
from inductor_debug.cli.support.target_arguments import add_subject
from inductor_debug.engine.orders.comparing import diff_order
from inductor_debug.engine.orders.partial_comparisons import PartialComparisons
from inductor_debug.report.text.diff_text import diff_text

DESCRIPTION = """\
Runs a model with a reference and with a backend, judges the difference by what the precision explains, and names the
expression at fault.
"""
EPILOG = """\
examples:
  inductor-debug diff model.py                              Inductor against eager
  inductor-debug diff model.py::Net --backend spyre         an accelerator's emulated arithmetic
  inductor-debug diff model.py --backend mine               a backend, or a function, that the file itself has
  inductor-debug diff model.py --backend spyre --inject drop-last-stick@14
  inductor-debug diff model.py --gradients --runs 5 --format json -o diff.json

A target with several sets of inputs is called with each in turn, and every call is compared.

exit codes:
  0  every target passes
  1  a target is suspicious or wrong
  2  a comparison failed or did not end, or bad usage or configuration
What had come of a comparison that was interrupted, or ran out of time, is printed all the same.
"""
_DEFAULT_TIMEOUT = 600.0
FAILURES = ORDER_FAILURES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser)
    sides = parser.add_argument_group("what is compared")
    sides.add_argument("--reference", metavar="NAME", default="eager", help="what is right (default: %(default)s)")
    sides.add_argument(
        "--backend",
        metavar="NAME|FILE.toml",
        default="inductor",
        help="a torch.compile backend, a function of the file, or an accelerator, whose arithmetic is emulated "
        "(default: %(default)s)",
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
    sides.add_argument("--no-nodes", action="store_true", help="do not look for the operation at fault")
    view = parser.add_argument_group("the view by tolerances (the verdict does not depend on it)")
    view.add_argument("--atol", metavar="X", type=_tolerance, help="absolute tolerance (default: the dtype's)")
    view.add_argument("--rtol", metavar="X", type=_tolerance, help="relative tolerance (default: the dtype's)")
    add_output_arguments(parser).add_argument(
        "--plots", action="store_true", help="also draw pictures, kept with the artifacts"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compares; returns the exit code."""
    timeout = arguments.timeout or _DEFAULT_TIMEOUT
    order = diff_order(_options(arguments), timeout=timeout)
    return answer(arguments, order, DiffDocument, diff_text, exit_code, PartialComparisons())


def exit_code(documents: list[DiffDocument]) -> int:
    """2 where a comparison failed, else 1 where one does not pass, else 0."""
    verdicts = {document.verdict for document in documents}
    return 2 if DiffVerdict.FAILED in verdicts else 0 if verdicts <= {DiffVerdict.PASS} else 1


def _options(arguments: argparse.Namespace) -> DiffOptions:
    return DiffOptions(
        reference=arguments.reference,
        backend=arguments.backend,
        gradients=True if arguments.gradients else None,
        runs=arguments.runs,
        seed=arguments.seed,
        inject=arguments.inject,
        atol=arguments.atol,
        rtol=arguments.rtol,
        nodes=not arguments.no_nodes,
        plots=arguments.plots or None,
    )


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
