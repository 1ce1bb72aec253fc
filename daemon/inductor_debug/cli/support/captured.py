"""Artifacts that were kept, read back from files that the command line names: graph documents and statistics."""

from __future__ import annotations

import json
import os

from inductor_debug_schema import GraphDocument, WireError, from_wire
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.rules.recording.statistics import SCHEMA


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
