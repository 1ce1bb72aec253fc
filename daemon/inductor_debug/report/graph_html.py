"""`graph --format html`: the graph view as one file that opens anywhere, without a server and without the network.

The page is the editor's own, built by `vscode-extension/scripts/bundle.mjs` and packaged in `report/pages`. Here only
the data is put in, as base64 of a JSON text, so that nothing in a model's names can end up as markup.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inductor_debug_schema import Finding, GraphDocument, to_wire

from inductor_debug.report.sources import Sources

PAGE = Path(__file__).with_name("pages") / "graph.html"
PLACEHOLDER = "@@INDUCTOR_DEBUG_DATA@@"
SCHEMA = 1
_MOST_SOURCE = 1 << 20
"""Characters of the user's files that go into one page; what more nodes come from goes first."""


class PageError(Exception):
    """The page is not part of this installation; the message says so."""


def graph_html(
    title: str,
    documents: Sequence[bytes],
    findings: Sequence[Finding],
    statistics: Sequence[dict[str, Any]],
    sources: Mapping[str, str],
) -> str:
    """The page with everything in it.

    Args:
        title: what was captured, for the page's heading.
        documents: contents of `.graph` files (`artifacts.graph_columns`).
        findings: what was found, with absolute paths.
        statistics: documents of `rules.statistics`.
        sources: texts of files by path (`sources_of`), so that a click on a node can show its expression.

    Raises:
        PageError: this installation has no page, or one that takes no data.
    """
    try:
        page = PAGE.read_text(encoding="utf-8")
    except OSError:
        raise PageError("this installation has no graph page; it is built with the editor's extension") from None
    if page.count(PLACEHOLDER) != 1:
        raise PageError(f"{PAGE} is no page that takes a graph")
    data = {
        "schema": SCHEMA,
        "title": title,
        "documents": [base64.b64encode(document).decode("ascii") for document in documents],
        "findings": to_wire(list(findings)),
        "statistics": list(statistics),
        "sources": dict(sources),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return page.replace(PLACEHOLDER, base64.b64encode(text).decode("ascii"))


def sources_of(documents: Iterable[GraphDocument]) -> dict[str, str]:
    """Texts of the files that nodes of `documents` come from, by path, without what cannot be read or is too long."""
    nodes = (node for document in documents for graph in document.graphs for node in graph.nodes)
    counted = Counter(node.place.path for node in nodes if node.place is not None)
    found: dict[str, str] = {}
    room, files = _MOST_SOURCE, Sources()
    for path, _ in counted.most_common():
        text = "\n".join(files.of(path).lines)
        if 0 < len(text) <= room:
            found[path] = text
            room -= len(text)
    return found
