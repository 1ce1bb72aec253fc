"""Commands whose result is one document for each target: runs the order, prints text or JSON, returns an exit code."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
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
from inductor_debug.cli.subjects import add_run_arguments, said, subject_of
from inductor_debug.engine.orders import Order
from inductor_debug.report.places import Places, repository_root
from inductor_debug.report.sources import Sources
from inductor_debug.report.styles import Styler

Document = dict[str, Any]
Render = Callable[[Document, Places, Sources, Styler], str]


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--format`, `-o`, `--color` and what decides how the file is run."""
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    output.add_argument("-o", "--output", metavar="FILE", help="write the result here")
    output.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: auto")
    add_run_arguments(parser.add_argument_group("how it is run"))


def answer(
    arguments: argparse.Namespace,
    make_order: Callable[[], Order],
    render: Render,
    exit_code: Callable[[list[Document]], int],
) -> int:
    """Carries out the order and prints what came of it; returns the exit code, 2 where nothing did.

    Args:
        arguments: those of `add_subject` and `add_output_arguments`.
        make_order: makes the order; may raise what bad usage raises.
        render: one document as text for people.
        exit_code: that of a run that was not broken off.
    """
    try:
        return _answer(arguments, make_order(), render, exit_code)
    except (PathError, OutputError, ConfigurationError, TargetError, ProfileError) as error:
        return console.fail(str(error))
    except InterruptedRunError as interruption:
        return interruption.exit_code


def _answer(
    arguments: argparse.Namespace, order: Order, render: Render, exit_code: Callable[[list[Document]], int]
) -> int:
    subject = subject_of(arguments.subject)
    output = Output(arguments.output, utf8=arguments.format == "json" or arguments.output is not None)
    done = perform_order(subject, order, said(arguments), quiet=arguments.quiet)
    documents = [answered.document for answered in done.performed.answers]
    if not documents:
        return console.fail(f"{subject.shown}: {failure(done.performed) or 'there was no answer'}")
    if arguments.format == "json":
        output.write(json.dumps(documents[0] if len(documents) == 1 else documents, indent=2) + "\n")
    else:
        places = Places(os.getcwd(), repository_root(os.path.dirname(subject.path)), {subject.path: subject.shown})
        sources = Sources({subject.path: done.performed.text})
        styler = Styler(arguments.output is None and console.wants_colour(arguments.color, sys.stdout, os.environ))
        output.write("\n".join(render(document, places, sources, styler) for document in documents))
    output.commit()
    if done.performed.broken:
        return console.fail(f"{subject.shown}: {failure(done.performed)}")
    return exit_code(documents)
