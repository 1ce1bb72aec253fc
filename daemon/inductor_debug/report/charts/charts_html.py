"""`analyze --format html`: the editor's page of charts as one file, with the documents in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inductor_debug_schema import CompileTimeDocument, to_wire
from inductor_debug_schema.answers.memory_document import MemoryDocument
from inductor_debug_schema.answers.roofline_document import RooflineDocument

from inductor_debug.report.data_pages import page_with, with_names


def memory_html(documents: Sequence[MemoryDocument], shown: Callable[[str], str]) -> str:
    """The page with the memory over each run; `shown` says what to call the file at an absolute path.

    Raises:
        PageError: this installation has no such page.
    """
    return page_with("charts", {"kind": "memory", "documents": with_names(to_wire(list(documents)), shown)})


def roofline_html(documents: Sequence[RooflineDocument], shown: Callable[[str], str]) -> str:
    """The same with the rooflines.

    Raises:
        PageError: this installation has no such page.
    """
    return page_with("charts", {"kind": "roofline", "documents": with_names(to_wire(list(documents)), shown)})


def compile_time_html(documents: Sequence[CompileTimeDocument], shown: Callable[[str], str]) -> str:
    """The same with where compiling goes.

    Raises:
        PageError: this installation has no such page.
    """
    return page_with("charts", {"kind": "compile-time", "documents": with_names(to_wire(list(documents)), shown)})
