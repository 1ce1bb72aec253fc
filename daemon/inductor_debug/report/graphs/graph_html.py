"""`graph --format html`: the editor's graph view as one file, with the graphs in it."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from inductor_debug_schema import (
    Finding,
    GraphDocument,
    GraphNode,
    Location,
    to_wire,
)
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.artifacts.graph_columns import encode
from inductor_debug.report.data_pages import cells_in, page_with, with_names
from inductor_debug.report.source_characters import ShownTexts

SCHEMA = 1
_MOST_SOURCE = 1 << 20
"""Characters of the user's files that go into one page; what more nodes come from goes first."""


def graph_html(
    title: str,
    documents: Sequence[GraphDocument],
    findings: Sequence[Finding],
    statistics: Sequence[StatisticsDocument],
    sources: Mapping[str, str],
    shown: Callable[[str], str],
) -> str:
    """The page with everything in it.

    Args:
        title: what was captured, for the page's heading.
        documents: the graphs, stage by stage.
        findings: what was found, with absolute paths.
        statistics: of the same stages.
        sources: texts of files by path (`sources_of`), so that a click on a node can show its expression.
        shown: what to call the file at an absolute path (`Places.shown`).

    Raises:
        PageError: this installation has no page, or one that takes no data.
    """
    data = {
        "schema": SCHEMA,
        "title": title,
        "documents": [base64.b64encode(encode(_renamed(one, shown))).decode("ascii") for one in documents],
        "findings": with_names(to_wire(list(findings)), shown),
        "statistics": with_names(to_wire(list(statistics)), shown),
        "cells": cells_in((document.path for document in documents), shown),
        "sources": {shown(path): text for path, text in sources.items()},
    }
    return page_with("graph", data)


def _renamed(document: GraphDocument, shown: Callable[[str], str]) -> GraphDocument:
    """The same document with other names for its files."""
    known: dict[int, Location] = {}  # nodes share places

    def renamed(place: Location) -> Location:
        if id(place) not in known:
            known[id(place)] = replace(place, path=shown(place.path))
        return known[id(place)]

    def moved(node: GraphNode) -> GraphNode:
        return node if node.place is None else replace(node, place=renamed(node.place))

    graphs = [replace(graph, nodes=[moved(node) for node in graph.nodes]) for graph in document.graphs]
    kernels = [replace(one, places=[renamed(place) for place in one.places]) for one in document.kernels]
    listings = [
        replace(one, places=[replace(line, place=renamed(line.place)) for line in one.places])
        for one in document.listings
    ]
    marks = [replace(mark, place=renamed(mark.place)) for mark in document.marks]
    return replace(document, path=shown(document.path), graphs=graphs, kernels=kernels, listings=listings, marks=marks)


def sources_of(documents: Iterable[GraphDocument]) -> dict[str, str]:
    """Texts of the files that nodes of `documents` come from, by path, without what cannot be read or is too long."""
    nodes = (node for document in documents for graph in document.graphs for node in graph.nodes)
    counted = Counter(node.place.path for node in nodes if node.place is not None)
    found: dict[str, str] = {}
    room, files = _MOST_SOURCE, ShownTexts()
    for path, _ in counted.most_common():
        text = "\n".join(files.of(path).lines)
        if 0 < len(text) <= room:
            found[path] = text
            room -= len(text)
    return found
