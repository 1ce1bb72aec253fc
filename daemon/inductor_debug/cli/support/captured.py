"""What an order made, read back: graph documents and statistics out of the artifacts of a run, or of a file on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    GraphDocument,
    WireError,
    from_wire,
)
from inductor_debug_schema.answers.guards_document import GuardsDocument
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.artifacts.graph_columns import SUFFIX, decode
from inductor_debug.rules.recording.statistics import SCHEMA


def documents_of(artifacts: Iterable[ArtifactMade]) -> list[tuple[GraphDocument, bytes]]:
    """The graph documents among `artifacts`, each with the content of its file."""
    return [(decode(made.content), made.content) for made in artifacts if made.suffix == SUFFIX]


def statistics_of(artifacts: Iterable[ArtifactMade]) -> list[StatisticsDocument]:
    """The statistics among `artifacts`."""
    return [
        from_wire(StatisticsDocument, json.loads(made.content))
        for made in artifacts
        if made.kind is ArtifactKind.STATISTICS and made.title == "statistics"
    ]


def guards_of(artifacts: Iterable[ArtifactMade]) -> list[GuardsDocument]:
    """The reports on guards among `artifacts`."""
    return [
        from_wire(GuardsDocument, json.loads(made.content))
        for made in artifacts
        if made.kind is ArtifactKind.STATISTICS and made.title == "guards"
    ]


def is_artifact(words: str, suffix: str) -> bool:
    """Whether the command line names an artifact file of this kind rather than a Python file."""
    return words.endswith(suffix) and os.path.isfile(words)


def read_graph(path: str) -> tuple[GraphDocument, bytes]:
    """A graph file from disk.

    Raises:
        ArtifactError: it cannot be read, or is no graph; the message names it.
    """
    content = _read(path)
    try:
        return decode(content), content
    except ArtifactError as error:
        raise ArtifactError(f"{path}: {error}") from None


def read_statistics(path: str) -> StatisticsDocument:
    """A statistics file from disk.

    Raises:
        ArtifactError: it cannot be read, or holds no statistics that this version knows; the message names it.
    """
    try:
        document = json.loads(_read(path))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not {"by_op", "memory", "peak", "flops"} <= document.keys():
        raise ArtifactError(f"{path}: no statistics of ours")
    if document.get("schema") != SCHEMA:
        raise ArtifactError(
            f"{path}: statistics of schema {document.get('schema')!r}, which this version does not know"
        )
    try:
        return from_wire(StatisticsDocument, document)
    except WireError as error:
        raise ArtifactError(f"{path}: damaged, or not ours: {error}") from None


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ArtifactError(f"{path}: {error.strerror or error}") from None
