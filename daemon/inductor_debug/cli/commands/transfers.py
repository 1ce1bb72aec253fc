"""`inductor-debug transfers`: what crosses between host and accelerator at each graph's border, and what it changes."""

from __future__ import annotations

import argparse

from inductor_debug_schema import TransfersDocument

from inductor_debug.cli.support.answering import ORDER_FAILURES, add_output_arguments, answer
from inductor_debug.cli.support.target_arguments import add_subject
from inductor_debug.engine.orders.bisecting import MOST_VALUES, transfers_order
from inductor_debug.report.html.transfers_page import transfers_page
from inductor_debug.report.text.transfers_text import transfers_text

DESCRIPTION = """\
Runs a model once with real values. Every tensor that crosses a graph's border is converted, rounded to the numbers that
the accelerator has, laid out in its memory, read back and compared. Where no accelerator is chosen, it is `mock`.
"""
EPILOG = """\
examples:
  inductor-debug transfers model.py --accelerator spyre
  inductor-debug transfers model.py --accelerator spyre --values 4   what the host has and what the device would hold
  inductor-debug transfers model.py --accelerator spyre --format html -o transfers.html   a page to pass on
  inductor-debug transfers model.py::Net --accelerator spyre --format json
  INDUCTOR_DEBUG_TRANSFERS=1 python train.py            in a script that compiles with mock_backend
  INDUCTOR_DEBUG_TRANSFERS=log.jsonl python train.py

exit codes:
  0  every tensor comes back as it was, or as the nearest numbers that the accelerator has
  1  some do not: integers cut off, numbers beyond the largest one
  2  bad usage or configuration, or the file could not be run
"""
FAILURES = ORDER_FAILURES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser)
    parser.add_argument(
        "--values",
        metavar="N",
        type=_count,
        default=0,
        help="show the first and the last N values of each tensor, and the first N that differ on the device",
    )
    add_output_arguments(parser, ("text", "json", "html"))


def run(arguments: argparse.Namespace) -> int:
    """Logs; returns the exit code."""
    order = transfers_order(values=arguments.values, timeout=arguments.timeout)
    return answer(arguments, order, TransfersDocument, transfers_text, exit_code, page=transfers_page)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_VALUES:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to {MOST_VALUES}, got {text!r}")
    return int(text)


def exit_code(documents: list[TransfersDocument]) -> int:
    """2 where the target raised, 1 where values change on the way, else 0."""
    if any(document.error for document in documents):
        return 2
    return 1 if any(document.summary.changed for document in documents) else 0
