"""`inductor-debug suggest`: ways to run a model that need less time or memory, each of which was tried."""

from __future__ import annotations

import argparse

from inductor_debug_schema import SuggestionsDocument

from inductor_debug.cli.support.answering import ORDER_FAILURES, add_output_arguments, answer
from inductor_debug.cli.support.check_arguments import add_sizes
from inductor_debug.cli.support.target_arguments import add_subject
from inductor_debug.engine.orders.suggesting import suggest_order
from inductor_debug.report.html.suggestions_page import suggestions_page
from inductor_debug.report.text.suggestions_text import suggestions_text

DESCRIPTION = """\
Runs a model as it is and in other ways, without weights and without the accelerator: autocast, a smaller dtype, TF32,
channels-last, CUDA graphs, activation checkpointing, graph breaks taken out, and those together that gain together.
Each is offered with what the run needs at least before and after; without a gain that was computed there is no
suggestion.
"""
EPILOG = """\
examples:
  inductor-debug suggest gpt.py --accelerator rtx-4090
  inductor-debug suggest gpt.py::GPT --accelerator h100 --size batch=32   with other sizes of the inputs
  inductor-debug suggest gpt.py --accelerator t4 --format html -o suggestions.html

exit codes: 0, or 2 where a model does not run as it is, or it is not known how fast the accelerator is
"""
FAILURES = ORDER_FAILURES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser)
    add_sizes(parser)
    add_output_arguments(parser, ("text", "json", "html"))


def run(arguments: argparse.Namespace) -> int:
    """Tries; returns the exit code."""
    order = suggest_order(arguments.timeout)
    return answer(arguments, order, SuggestionsDocument, suggestions_text, exit_code, page=suggestions_page)


def exit_code(documents: list[SuggestionsDocument]) -> int:
    """2 where nothing could be tried with a target, else 0."""
    return 2 if any(document.problem for document in documents) else 0
