"""`DIR[::NAME]`: what a compiler has written, and one compile of it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from inductor_debug_schema import GraphDocument

from inductor_debug.cli.support.console import CommandError
from inductor_debug.compiler_output.importing import NothingFoundError, read_artifacts


@dataclass(frozen=True, slots=True)
class Imported:
    """The path as given, its documents or the one that was named, and in sentences what was not understood."""

    path: str
    documents: list[GraphDocument]
    unread: list[str]


def read_imported(words: str) -> Imported:
    """Reads what a compiler has written.

    Raises:
        CommandError: there is nothing of the kind, or no compile of that name.
    """
    path, separator, name = (words, "", "") if os.path.exists(words) else words.partition("::")
    try:
        found = read_artifacts(path, [os.getcwd()])
    except NothingFoundError as error:
        raise CommandError(str(error)) from None
    documents = [document for document in found.documents if not separator or document.target == name]
    if not documents:
        raise CommandError(
            f"{path}: there is no compile {name!r}; there are {', '.join(each.target for each in found.documents)}"
        )
    return Imported(path, documents, [f"{unread.path or '.'}: {unread.why}" for unread in found.unread])
