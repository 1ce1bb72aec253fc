"""A page of an order's answers for an editor: in the answer where it fits into a message, else as an artifact.

Pages are made only for who asks (`format: "html"`). Places in them are relative to `root`, the project's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import ArtifactKind, ArtifactMade, to_wire

from inductor_debug.engine.orders.orders import Performed
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.server.rpc.protocol import INVALID_PARAMS, LARGEST_MESSAGE, RequestError

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

OPTION = "format"
_LARGEST = LARGEST_MESSAGE * 7 // 8
Document = dict[str, Any]
Render = Callable[[list[Document], FileNames, ShownTexts], str]
"""Documents as one page."""


def wants_page(options: dict[str, Any]) -> bool:
    """Whether the client asks for a page.

    Raises:
        RequestError: it asks for something else.
    """
    form = options.get(OPTION)
    if form not in (None, "html"):
        raise RequestError("`format` must be html, or left out.", INVALID_PARAMS)
    return form is not None


def with_page(server: Server, answer: Document, performed: Performed, render: Render, shorter: Render) -> Document:
    """The answer with its page: `page` is its text, or null where it is the last of the artifacts.

    Args:
        server: whose engine keeps what is too long for a message.
        answer: what is answered besides.
        performed: what came of the order; where nothing did, there is no page.
        render: writes the page.
        shorter: writes one that fits in any case, where the long one cannot be kept.
    """
    path = performed.report.path
    root = server.configuration.settings_for(path).project_root
    documents: list[Document] = [to_wire(answered.document) for answered in performed.answers]
    answer = {**answer, "page": None, "root": root}
    if not documents:
        return answer
    # Commands are typed in any folder: their files keep their whole names.
    about = FileNames("", root), ShownTexts({path: performed.text} if performed.text else {})
    text = render(documents, *about)
    if _fits(whole := {**answer, "page": text}):
        return whole
    made = ArtifactMade(ArtifactKind.REPORTS, "page", ".html", "text/html", text.encode())
    kept = server.engine.keep(path, [made])
    if kept.references:
        return {**answer, "artifacts": [*answer["artifacts"], *to_wire(kept.references)]}
    return {**answer, "notes": [*answer["notes"], *kept.notes], "page": shorter(documents, *about)}


def _fits(answer: Document) -> bool:
    return len(json.dumps(answer)) <= _LARGEST
