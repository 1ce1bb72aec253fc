"""`inductor-debug compare-accelerators`: one capture of a model, judged for several accelerators side by side."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from inductor_debug_schema import AcceleratorComparison, to_wire

from inductor_debug.accelerators.profile import NO_ACCELERATOR, built_in_names
from inductor_debug.cli.support import console
from inductor_debug.cli.support.answering import ORDER_FAILURES
from inductor_debug.cli.support.order_runner import compare_accelerators
from inductor_debug.cli.support.output import Output, add_output, styler
from inductor_debug.cli.support.target_arguments import add_run_arguments, add_subject, said, subject_of
from inductor_debug.engine.orders.outcomes import reason
from inductor_debug.report.file_names import FileNames, repository_root
from inductor_debug.report.formats.json_report import finding_document
from inductor_debug.report.html.accelerator_page import accelerator_page
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.text.accelerator_table import AcceleratorTable

DESCRIPTION = """\
Captures a model once and judges that for several accelerators: what a check for each would find, the memory that a run
needs at its peak, the bytes that must move, and where the profile says how fast it is (`[speed]`) a lower bound of the
time. What a profile does not say stays empty.
"""
EPILOG = """\
examples:
  inductor-debug compare-accelerators model.py                        all that have names
  inductor-debug compare-accelerators model.py::Net --accelerators mock,spyre,boards/next.toml
  inductor-debug compare-accelerators model.py --accelerators none,spyre --format markdown -o table.md

exit codes:
  0  the table was made, whatever is in it
  2  bad usage or configuration, or the model could not be captured
"""
FAILURES = ORDER_FAILURES
SCHEMA = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser)
    parser.add_argument(
        "--accelerators",
        metavar="NAME|FILE.toml,...",
        type=_names,
        help=f"accelerators that are built in ({', '.join(built_in_names())}, or {NO_ACCELERATOR}) or installed, and "
        "profiles of your own, separated by commas (default: all that have names but the GPUs, and the chosen one)",
    )
    group = parser.add_argument_group("output")
    add_output(group, ("text", "json", "markdown", "html"))
    group.add_argument("-v", "--verbose", action="store_true", help="list the findings for each accelerator, too")
    add_run_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Captures, judges, prints; returns the exit code."""
    subject = subject_of(arguments.subject)
    output = Output(arguments.output, utf8=arguments.format != "text" or arguments.output is not None)
    compared = compare_accelerators(
        subject, arguments.accelerators, said(arguments, subject.path), quiet=arguments.quiet
    )
    if not isinstance(compared, AcceleratorComparison):
        return console.fail(f"{subject.shown}: {reason(compared)}")
    places = FileNames(os.getcwd(), repository_root(os.path.dirname(subject.path)), {subject.path: subject.shown})
    table = AcceleratorTable(compared, places)
    if arguments.format == "json":
        output.write(json.dumps(document_of(compared, places), indent=2) + "\n")
    elif arguments.format == "markdown":
        output.write(table.markdown())
    elif arguments.format == "html":
        output.write(accelerator_page(compared, places, ShownTexts()))
    else:
        output.write(table.text(styler(arguments), verbose=arguments.verbose))
    output.commit()
    return 0


def document_of(compared: AcceleratorComparison, places: FileNames) -> dict[str, Any]:
    """The JSON document: the comparison with findings as `check --format json` writes them."""
    document: dict[str, Any] = to_wire(compared)
    for column, written in zip(compared.columns, document["columns"], strict=True):
        written["findings"] = [finding_document(finding, places) for finding in column.findings]
    return {"schema": SCHEMA, **document, "path": places.shown(compared.path)}


def _names(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("no accelerator named")
    return names
