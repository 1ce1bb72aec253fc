"""A page of an order's answers for an editor: in the answer where it fits into a message, else as an artifact.

Pages are made only for who asks (a request's `format`). Places in them are relative to `root`, the project's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from inductor_debug_schema import ArtifactKind, ArtifactMade, PagedOutcome, to_wire

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.server.rpc.protocol import LARGEST_MESSAGE

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

_LARGEST = LARGEST_MESSAGE * 7 // 8
Render = Callable[[FileNames, ShownTexts], str]
"""Writes a page, with files called as the first says, of which the second has the texts."""
Paged = TypeVar("Paged", bound=PagedOutcome)


def with_page(
    server: Server, answer: Paged, path: str, text: str, render: Render, shorter: Render | None = None
) -> Paged:
    """The answer with its page: `page` is its text, or None where it is the last of the artifacts.

    Args:
        server: whose engine keeps what is too long for a message.
        answer: what is answered besides.
        path: the file that the order was about.
        text: what ran of it, "" where that stands on the disk.
        render: writes the page.
        shorter: writes one that fits in any case, where the long one cannot be kept.
    """
    root = server.configuration.settings_for(path).project_root
    # Commands are typed in any folder: their files keep their whole names.
    about = FileNames("", root), ShownTexts({path: text} if text else {})
    page = render(*about)
    if _fits(whole := replace(answer, page=page, root=root)):
        return whole
    made = ArtifactMade(ArtifactKind.REPORTS, "page", ".html", "text/html", page.encode())
    kept = server.engine.keep(path, [made])
    if kept.references:
        return replace(answer, artifacts=[*answer.artifacts, *kept.references], root=root)
    return replace(answer, notes=[*answer.notes, *kept.notes], page=(shorter or render)(*about), root=root)


def _fits(answer: PagedOutcome) -> bool:
    return len(json.dumps(to_wire(answer))) <= _LARGEST
