"""Commands whose result is one document for each target: runs the order, prints text or JSON, returns an exit code."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from inductor_debug_schema import (
    Answered,
    BisectDocument,
    DiffDocument,
    Event,
    RunProfileDocument,
    SuggestionsDocument,
    TransfersDocument,
    to_wire,
)

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.cli.support import console
from inductor_debug.cli.support.console import InterruptedRunError
from inductor_debug.cli.support.order_runner import perform_order
from inductor_debug.cli.support.output import Output, add_output, styler
from inductor_debug.cli.support.target_arguments import add_run_arguments, said, subject_of
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.orders.outcomes import failure
from inductor_debug.engine.settings.settings_ladder import ConfigurationError
from inductor_debug.report.file_names import FileNames, repository_root
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler

ORDER_FAILURES = (ConfigurationError, ProfileError)
"""What an order may fail of before it is carried out."""

Document = TypeVar("Document", DiffDocument, BisectDocument, TransfersDocument, SuggestionsDocument, RunProfileDocument)
Render = Callable[[Document, FileNames, ShownTexts, Styler], str]
Page = Callable[[list[Document], FileNames, ShownTexts], str]
"""All documents as one HTML page, or as one table."""


class Answers(Generic[Document]):
    """Prints documents as the command line says.

    Args:
        arguments: those of `add_output_arguments`.
        render: one document as text for people.
        page: what `--format html` gives, where that is among the formats.
        table: what `--format csv` gives, where that is.
    """

    def __init__(
        self,
        arguments: argparse.Namespace,
        render: Render[Document],
        page: Page[Document] | None = None,
        table: Page[Document] | None = None,
    ) -> None:
        wholes: dict[str, Page[Document] | None] = {"html": page, "csv": table}
        self._arguments = arguments
        self._render: Render[Document] = render
        self._whole: Page[Document] | None = wholes.get(arguments.format)
        self._output = Output(arguments.output, utf8=arguments.format != "text" or arguments.output is not None)

    def put_out(self, documents: list[Document], path: str, shown: str, text: str) -> None:
        """Prints them; they are about the file at `path`, which is called `shown`, with `text` as it ran, if known."""
        if self._arguments.format == "json":
            wire = to_wire(documents[0] if len(documents) == 1 else documents)
            self._output.write(json.dumps(wire, indent=2) + "\n")
        else:
            root = repository_root(os.path.dirname(path))
            places = FileNames(os.getcwd(), root, {path: shown})
            sources = ShownTexts({path: text} if text else {})
            if self._whole is not None:
                self._output.write(self._whole(documents, places, sources))
            else:
                colours = styler(self._arguments)
                self._output.write("\n".join(self._render(one, places, sources, colours) for one in documents))
        self._output.commit()


def add_output_arguments(
    parser: argparse.ArgumentParser, formats: Iterable[str] = ("text", "json")
) -> argparse._ArgumentGroup:
    """Adds `--format`, `-o`, `--color` and what decides how the file is run; returns the group of what is put out."""
    output = parser.add_argument_group("output")
    add_output(output, formats)
    add_run_arguments(parser)
    return output


class Unfinished(Protocol[Document]):
    """What there is of answers that did not come to an end (`engine.orders.partial_comparisons`)."""

    def hear(self, event: Event) -> None:
        """Takes in what a worker sent."""

    def documents(self, why: str) -> list[Document]:
        """The documents as far as they had come; `why` says in a few words why there is no more."""
        ...


def answer(
    arguments: argparse.Namespace,
    order: Order,
    kind: type[Document],
    render: Render[Document],
    exit_code: Callable[[list[Document]], int],
    unfinished: Unfinished[Document] | None = None,
    page: Page[Document] | None = None,
    table: Page[Document] | None = None,
) -> int:
    """Carries out the order and prints what came of it; returns the exit code, 2 where nothing did.

    Args:
        arguments: those of `add_subject` and `add_output_arguments`.
        order: what to do.
        kind: what it is answered with.
        render: one document as text for people.
        exit_code: that of a run that was not broken off.
        unfinished: keeps what there is of one that was, which is printed as well.
        page: what `--format html` gives, where that is among the formats.
        table: what `--format csv` gives, where that is.

    Raises:
        InterruptedRunError: Ctrl-C or a polite kill, after what there is was printed.
    """
    subject = subject_of(arguments.subject)
    answers = Answers(arguments, render, page, table)

    def put_out(documents: list[Document], text: str) -> None:
        answers.put_out(documents, subject.path, subject.shown, text)

    finished: list[Document] = []

    def hear(event: Event) -> None:
        if isinstance(event, Answered) and isinstance(event.document, kind):
            finished.append(event.document)
        if unfinished is not None:
            unfinished.hear(event)

    try:
        done = perform_order(
            subject,
            order,
            said(arguments, subject.path),
            quiet=arguments.quiet,
            on_event=hear,
            sizes=getattr(arguments, "sizes", ()),
        )
    except InterruptedRunError:
        if unfinished is not None:
            left = finished + unfinished.documents("it was cancelled")
            if left:
                put_out(left, "")
        raise
    why = failure(done.performed)
    documents = done.performed.documents(kind)
    if unfinished is not None and done.performed.broken:
        documents += unfinished.documents((why or "its process ended").rstrip("."))
    if not documents:
        return console.fail(f"{subject.shown}: {why or 'there was no answer'}")
    put_out(documents, done.performed.text)
    if done.performed.broken:
        return console.fail(f"{subject.shown}: {why}")
    return exit_code(documents)
