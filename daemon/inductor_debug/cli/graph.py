"""`inductor-debug graph`: what the compiler makes of a target, as text, JSON, DOT, SVG or one HTML page."""

from __future__ import annotations

import argparse
import os
import sys

from inductor_debug_schema import GraphDocument, Stage

from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.artifacts.graph_columns import SUFFIX
from inductor_debug.cli import console
from inductor_debug.cli.captured import documents_of, is_artifact, read_graph, statistics_of
from inductor_debug.cli.files import PathError
from inductor_debug.cli.output import Output, OutputError
from inductor_debug.cli.running import (
    ConfigurationError,
    Done,
    InterruptedRunError,
    TargetError,
    failure,
    perform_order,
)
from inductor_debug.cli.subjects import Subject, add_run_arguments, add_subject, said, subject_of
from inductor_debug.engine.orders import Order
from inductor_debug.report.graph_html import PageError
from inductor_debug.report.places import Places, repository_root
from inductor_debug.report.sources import Sources
from inductor_debug.report.styles import Styler

FORMATS = ("readable", "json", "dot", "svg", "html")
STAGES = tuple(stage.value for stage in (Stage.MOCK, Stage.AOT, Stage.INDUCTOR))
_EPILOG = """\
examples:
  inductor-debug graph model.py                          the graphs that Dynamo captures, under the lines they come from
  inductor-debug graph model.py::Net --stage aot         forward and backward
  inductor-debug graph model.py --stage inductor         down to kernels; nothing is built
  inductor-debug graph model.py --format html -o net.html
  inductor-debug graph debug_artifacts/aot_graphs/net.graph --format svg -o net.svg

stages:
  mock       what Dynamo captures, before autograd
  aot        joint, forward and backward graphs
  inductor   graphs after Inductor's passes, IR, kernels

A kept graph (`.graph`) can be named in place of a Python file. Formats other than `readable` take one target.

exit codes: 0, or 2 where nothing was captured
"""


class NothingCapturedError(Exception):
    """There is no graph to show; the message says why."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds `graph` with all its arguments."""
    parser = subparsers.add_parser(
        "graph",
        help="show the graphs that are captured of a target",
        description="Captures the graphs of a target, without weights and without building anything, and shows them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_subject(parser)
    parser.add_argument("--stage", choices=STAGES, default="mock", help="how far down to go (default: mock)")
    parser.add_argument("--format", choices=FORMATS, default="readable", help="default: readable")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it there instead of to standard output")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    add_run_arguments(parser.add_argument_group("how to run"))
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Captures and shows; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    try:
        output = Output(arguments.output, utf8=arguments.format != "readable")
        output.write(_shown(arguments))
        output.commit()
    except InterruptedRunError as interruption:
        return interruption.exit_code
    except (
        PathError,
        OutputError,
        ConfigurationError,
        TargetError,
        ArtifactError,
        PageError,
        NothingCapturedError,
    ) as error:
        return console.fail(str(error))
    return 0


def _shown(arguments: argparse.Namespace) -> str:
    words = arguments.subject
    if is_artifact(words, SUFFIX):
        return _rendered(arguments, Subject(words, os.path.abspath(words)), [read_graph(words)], None)
    subject = subject_of(words)
    order = Order(stages=(Stage(arguments.stage),), keep_graphs=True)
    done = perform_order(subject, order, said(arguments), quiet=arguments.quiet)
    documents = documents_of(done.performed.artifacts)
    if not documents:
        raise NothingCapturedError(f"{subject.shown}: {_reason(done)}")
    if len(documents) > 1 and arguments.format != "readable":
        names = ", ".join(f"{subject.shown}::{document.target}" for document, _ in documents)
        raise NothingCapturedError(f"there are several targets; name one of {names}")
    return _rendered(arguments, subject, documents, done)


def _reason(done: Done) -> str:
    """Why there is no graph."""
    said = failure(done.performed)
    if said is not None:
        return said
    notes = [
        note for target in done.performed.report.targets for report in target.stages for note in report.notes if note
    ]
    findings = [finding.message for finding in done.performed.report.findings]
    return next(iter([*notes, *findings]), "no graph was captured")


def _rendered(
    arguments: argparse.Namespace, subject: Subject, documents: list[tuple[GraphDocument, bytes]], done: Done | None
) -> str:
    folder = os.getcwd()
    places = Places(folder, repository_root(folder), {subject.path: subject.shown})
    statistics = statistics_of(done.performed.artifacts) if done is not None else []
    document, content = documents[0]
    # A renderer is imported only when it is wanted.
    if arguments.format == "json":
        from inductor_debug.report.graph_json import graph_json

        return graph_json(document, statistics[0] if statistics else None, places)
    if arguments.format == "dot":
        from inductor_debug.report.graph_dot import graph_dot

        return graph_dot(document)
    if arguments.format == "svg":
        from inductor_debug.report.graph_svg import graph_svg

        return graph_svg(document)
    if arguments.format == "html":
        from inductor_debug.report.graph_html import graph_html, sources_of

        findings = done.performed.report.findings if done is not None else []
        title = f"{subject.shown}::{document.target}"
        return graph_html(title, [content], findings, statistics, sources_of(document))
    from inductor_debug.report.graph_text import GraphText

    coloured = arguments.output is None and console.wants_colour(arguments.color, sys.stdout, os.environ)
    text = GraphText(places, Sources(), Styler(coloured or arguments.color == "always"))
    return "\n".join(text.text(document) for document, _ in documents)
