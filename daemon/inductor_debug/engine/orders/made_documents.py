"""The documents among the artifacts that an order made: graphs, statistics, guards, shapes, formats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeVar

from inductor_debug_schema import ArtifactKind, ArtifactMade, GraphDocument, from_wire
from inductor_debug_schema.answers.formats_document import FormatsDocument
from inductor_debug_schema.answers.guards_document import GuardsDocument
from inductor_debug_schema.answers.shapes_document import ShapesDocument
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.artifacts.graph_columns import SUFFIX, decode

Document = TypeVar("Document", StatisticsDocument, GuardsDocument, ShapesDocument, FormatsDocument)


def documents_of(artifacts: Iterable[ArtifactMade]) -> list[tuple[GraphDocument, bytes]]:
    """The graph documents among `artifacts`, each with the content of its file."""
    return [(decode(made.content), made.content) for made in artifacts if made.suffix == SUFFIX]


def statistics_of(artifacts: Iterable[ArtifactMade]) -> list[StatisticsDocument]:
    """The statistics among `artifacts`."""
    return _titled(artifacts, "statistics", StatisticsDocument)


def guards_of(artifacts: Iterable[ArtifactMade]) -> list[GuardsDocument]:
    """The reports on guards among `artifacts`."""
    return _titled(artifacts, "guards", GuardsDocument)


def shapes_of(artifacts: Iterable[ArtifactMade]) -> list[ShapesDocument]:
    """What sizes became, among `artifacts`."""
    return _titled(artifacts, "shapes", ShapesDocument)


def formats_of(artifacts: Iterable[ArtifactMade]) -> list[FormatsDocument]:
    """Which formats take what was exported, among `artifacts`."""
    return _titled(artifacts, "formats", FormatsDocument)


def _titled(artifacts: Iterable[ArtifactMade], title: str, kind: type[Document]) -> list[Document]:
    return [
        from_wire(kind, json.loads(made.content))
        for made in artifacts
        if made.kind is ArtifactKind.STATISTICS and made.title == title
    ]
