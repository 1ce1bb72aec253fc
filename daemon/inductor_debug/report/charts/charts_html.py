"""`--format html` of `analyze` and `profile`: the editor's page of charts as one file, with the documents in it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence

from inductor_debug_schema import CompileTimeDocument, ExpressionTime, KernelTime, RunProfileDocument, to_wire
from inductor_debug_schema.answers.memory_document import MemoryDocument
from inductor_debug_schema.answers.roofline_document import RooflineDocument

from inductor_debug.report.data_pages import cells_in, page_with, with_names
from inductor_debug.traces.chrome_trace import own_function

Shown = Callable[[str], str]
"""What to call the file at an absolute path."""
_Charted = MemoryDocument | RooflineDocument | CompileTimeDocument | RunProfileDocument


def memory_html(documents: Sequence[MemoryDocument], shown: Shown) -> str:
    """The page with the memory over each run.

    Raises:
        PageError: this installation has no such page.
    """
    return _page("memory", documents, shown)


def roofline_html(documents: Sequence[RooflineDocument], shown: Shown) -> str:
    """The same with the rooflines.

    Raises:
        PageError: this installation has no such page.
    """
    return _page("roofline", documents, shown)


def compile_time_html(documents: Sequence[CompileTimeDocument], shown: Shown) -> str:
    """The same with where compiling goes.

    Raises:
        PageError: this installation has no such page.
    """
    return _page("compile-time", documents, shown)


def profile_html(documents: Sequence[RunProfileDocument], shown: Shown) -> str:
    """The same with what real steps took.

    Raises:
        PageError: this installation has no such page.
    """
    return _page("profile", [_named(document, shown) for document in documents], shown)


def _page(kind: str, documents: Sequence[_Charted], shown: Shown) -> str:
    paths = [(one.cost if isinstance(one, RooflineDocument) else one).path for one in documents]
    data = {"kind": kind, "documents": with_names(to_wire(list(documents)), shown), "cells": cells_in(paths, shown)}
    return page_with("charts", data)


def _named(document: RunProfileDocument, shown: Shown) -> RunProfileDocument:
    """The document in which the trace, and files in the stacks that it recorded, are called as others are."""

    def of_expression(row: ExpressionTime) -> ExpressionTime:
        return dataclasses.replace(row, function=_function(row.function, shown))

    def of_kernel(row: KernelTime) -> KernelTime:
        return dataclasses.replace(row, functions=[_function(name, shown) for name in row.functions])

    return dataclasses.replace(
        document,
        trace=os.path.basename(document.trace),
        expressions=[of_expression(row) for row in document.expressions],
        kernels=[of_kernel(row) for row in document.kernels],
    )


def _function(name: str, shown: Shown) -> str:
    known = own_function(name)
    return str(dataclasses.replace(known, path=shown(known.path))) if known is not None else name
