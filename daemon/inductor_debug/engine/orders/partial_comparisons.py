"""Puts a comparison together from the pieces that its worker sends while it goes on.

Where it is cancelled or its worker dies, what had come is a `diff` document all the same, with `partial` true: verdicts
that were reached stay, others are `failed`, and `why` says what happened. Nothing here is judged anew.
"""

from __future__ import annotations

import json
from typing import Any

from inductor_debug_schema import Answered, ArtifactKind, ArtifactMade, Event, PartlyAnswered

_BY_NAME = ("outputs", "gradients")
"""Tables whose rows replace earlier ones of the same name: of several runs, the worst is told again."""
_IN_ORDER = ("nodes", "segments")
_EMPTY: dict[str, Any] = {
    "schema": 1,
    "target": "",
    "reference": "",
    "backend": "",
    "verdict": None,
    "why": "",
    "outputs": [],
    "gradients": [],
    "nodes": [],
    "segments": [],
    "blame": [],
    "faults": [],
    "first_divergent": None,
    "largest_growth": None,
    "deterministic": None,
    "seed": 0,
    "runs": 1,
    "weights": "",
    "notes": [],
    "seconds": {},
    "partial": True,
}


def add(document: dict[str, Any], piece: dict[str, Any]) -> dict[str, Any]:
    """The document with what a piece adds to it."""
    grown = {**document, **{name: value for name, value in piece.items() if name not in (*_BY_NAME, *_IN_ORDER)}}
    for table in _BY_NAME:
        rows = {row["name"]: row for row in (*document[table], *piece.get(table, ()))}
        grown[table] = list(rows.values())
    for table in _IN_ORDER:
        grown[table] = [*document[table], *piece.get(table, ())]
    return grown


class PartialComparisons:
    """The comparisons of one order that have begun and not ended."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[dict[str, Any]]] = {}

    def hear(self, event: Event) -> None:
        """Takes in what a worker sent."""
        if isinstance(event, PartlyAnswered):
            self._pieces.setdefault(event.target, []).append(event.document)
        elif isinstance(event, Answered):
            self._pieces.pop(event.target, None)

    def documents(self, why: str) -> list[dict[str, Any]]:
        """What there is of those with any row. `why` says in a few words why there is no more: "it was cancelled"."""
        found = []
        for pieces in self._pieces.values():
            document = _EMPTY
            for piece in pieces:
                document = add(document, piece)
            if any(document[table] for table in (*_BY_NAME, *_IN_ORDER)):
                found.append(_ended(document, why))
        return found

    def artifacts(self, documents: list[dict[str, Any]]) -> list[ArtifactMade]:
        """The documents as they are kept."""
        return [
            ArtifactMade(
                ArtifactKind.REPORTS,
                f"KernelDiff, {document['backend']}, unfinished",
                ".json",
                "application/json",
                json.dumps(document, indent=1).encode(),
                target=document["target"],
            )
            for document in documents
        ]


def _ended(document: dict[str, Any], why: str) -> dict[str, Any]:
    rows = len(document["outputs"]) + len(document["gradients"])
    if document["verdict"] is not None:
        note = f"The search for the operation at fault did not end, because {why}: its table is not complete."
        return {**document, "notes": [*document["notes"], note]}
    results = "1 result is" if rows == 1 else f"{rows} results are"
    sentence = f"The comparison did not end, because {why}: {results} here, and others may be missing."
    return {**document, "verdict": "failed", "why": sentence}
