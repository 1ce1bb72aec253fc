"""`inductor-debug profile`: how long the kernels of real steps took, by expression, beside what they take at least."""

from __future__ import annotations

import argparse
import dataclasses
import os

from inductor_debug_schema import RunProfileDocument

from inductor_debug.cli.support import console
from inductor_debug.cli.support.answering import ORDER_FAILURES, Answers, add_output_arguments, answer
from inductor_debug.cli.support.running.run_arguments import count, seconds
from inductor_debug.cli.support.target_arguments import add_subject
from inductor_debug.engine.orders.profiling import BACKENDS, SECONDS, STEPS, profile_order
from inductor_debug.engine.orders.recorded_traces import profile_of_trace
from inductor_debug.report.charts.charts_html import profile_html
from inductor_debug.report.data_pages import PageError
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.formats.run_profile_csv import run_profile_csv
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.text.run_profile_text import run_profile_text
from inductor_debug.traces.chrome_trace import TraceError

DESCRIPTION = """\
Runs steps of a model with real values under torch.profiler, after a warm-up, and adds up what its kernels and operators
took: by expression and by kernel, with the spread over the steps, their share, and when nothing computed. Where an
accelerator is chosen, the bound stands beside it. With --trace it reads what torch.profiler recorded elsewhere, on a
machine with a GPU for example; named with the model, its times are tied to expressions, too.
"""
EPILOG = """\
examples:
  inductor-debug profile model.py                                      compiled by inductor, on the device the file uses
  inductor-debug profile model.py::Net --backend eager --backend inductor   one after the other
  inductor-debug profile model.py --accelerator rtx-4090  beside its bound
  inductor-debug profile --trace trace.json.gz                         what somebody else recorded; needs no torch
  inductor-debug profile model.py::Net --trace trace.json.gz --accelerator h100   the same, with expressions and bounds
  inductor-debug profile model.py --format csv -o profile.csv
  inductor-debug profile model.py --format html -o profile.html        the editor's page of it, as one file

exit codes: 0, or 2 where nothing was measured
"""
FAILURES = (*ORDER_FAILURES, TraceError, PageError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser, optional=True)
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="a Chrome trace of torch.profiler (.json, .json.gz) to read in place of a run",
    )
    parser.add_argument(
        "--backend",
        metavar="NAME",
        action="append",
        help=f"what runs: eager, inductor, or another backend; may be repeated (default: {', '.join(BACKENDS)})",
    )
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument(
        "--training", action="store_true", default=None, help="with the backward pass (default: where the model trains)"
    )
    direction.add_argument("--forward", dest="training", action="store_false", help="without the backward pass")
    parser.add_argument(
        "--steps", metavar="N", type=count, default=STEPS, help=f"record at least N steps (default: {STEPS})"
    )
    parser.add_argument(
        "--seconds", metavar="S", type=seconds, default=SECONDS, help=f"and more in S seconds (default: {SECONDS:g})"
    )
    add_output_arguments(parser, ("text", "json", "csv", "html"))


def run(arguments: argparse.Namespace) -> int:
    """Profiles; returns the exit code.

    Raises:
        InterruptedRunError: Ctrl-C or a polite kill.
    """
    trace = os.path.abspath(arguments.trace) if arguments.trace else ""
    if not arguments.subject:
        if not trace:
            return console.fail("name a model as FILE[::TARGET], or a trace with --trace, or both")
        return _trace_alone(arguments, trace)
    order = profile_order(
        arguments.backend or BACKENDS,
        trace=trace,
        training=arguments.training,
        steps=arguments.steps,
        seconds=arguments.seconds,
        timeout=arguments.timeout,
    )
    return answer(
        arguments,
        order,
        RunProfileDocument,
        run_profile_text,
        exit_code,
        page=_page,
        table=_table,
    )


def _trace_alone(arguments: argparse.Namespace, trace: str) -> int:
    """What a trace says by itself."""
    document = profile_of_trace(trace)
    shown = dataclasses.replace(document, trace=arguments.trace)
    answers: Answers[RunProfileDocument] = Answers(arguments, run_profile_text, _page, _table)
    answers.put_out([shown], trace, arguments.trace, "")
    return exit_code([document])


def _page(documents: list[RunProfileDocument], places: FileNames, sources: ShownTexts) -> str:
    return profile_html(documents, places.shown)


def _table(documents: list[RunProfileDocument], places: FileNames, sources: ShownTexts) -> str:
    return run_profile_csv(documents, sources)


def exit_code(documents: list[RunProfileDocument]) -> int:
    """2 where nothing was measured of one of them, else 0."""
    return 2 if any(document.problem for document in documents) else 0
