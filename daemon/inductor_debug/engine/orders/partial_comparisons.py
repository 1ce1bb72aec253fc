"""Keeps comparisons whose end never comes: cancelled, or with a worker that died.

What had come is a `diff` document all the same, with `partial` true: verdicts that were reached stay, others are
`failed`, and `why` says what happened. Nothing here is judged anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    DiffDocument,
    DiffPiece,
    DiffVerdict,
    Event,
    PartlyAnswered,
    grown,
    to_wire,
)


class PartialComparisons:
    """The comparisons of one order that have begun and not ended."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[DiffPiece]] = {}

    def hear(self, event: Event) -> None:
        """Takes in what a worker sent."""
        if isinstance(event, PartlyAnswered) and isinstance(event.piece, DiffPiece):
            self._pieces.setdefault(event.target, []).append(event.piece)
        elif isinstance(event, Answered):
            self._pieces.pop(event.target, None)

    def documents(self, why: str) -> list[DiffDocument]:
        """What there is of those with any row. `why` says in a few words why there is no more: "it was cancelled"."""
        found = []
        for pieces in self._pieces.values():
            document: DiffDocument | None = None
            for piece in pieces:
                document = grown(document, piece)
            if document is not None and any((document.outputs, document.gradients, document.nodes, document.segments)):
                found.append(_ended(document, why))
        return found

    def artifacts(self, documents: Sequence[DiffDocument]) -> list[ArtifactMade]:
        """The documents as they are kept."""
        return [
            ArtifactMade(
                ArtifactKind.REPORTS,
                f"KernelDiff, {document.backend}, unfinished",
                ".json",
                "application/json",
                json.dumps(to_wire(document), indent=1).encode(),
                target=document.target,
            )
            for document in documents
        ]


def _ended(document: DiffDocument, why: str) -> DiffDocument:
    rows = len(document.outputs) + len(document.gradients)
    if document.verdict is not None:
        note = f"The search for the operation at fault did not end, because {why}: its table is not complete."
        return replace(document, notes=[*document.notes, note])
    results = "1 result is" if rows == 1 else f"{rows} results are"
    sentence = f"The comparison did not end, because {why}: {results} here, and others may be missing."
    return replace(document, verdict=DiffVerdict.FAILED, why=sentence)
