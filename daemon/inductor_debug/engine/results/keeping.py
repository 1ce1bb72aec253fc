"""Keeps what workers made: from events to files, with the store that the settings choose.

A worker never writes to the store: it may be killed at any time, and may run in another environment. Whatever goes
wrong here costs artifacts and is told in notes; it never costs findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inductor_debug_schema import ArtifactKind, ArtifactMade, ArtifactReference

from inductor_debug.artifacts.store import ArtifactStore
from inductor_debug.engine.settings.folders import artifact_folder
from inductor_debug.engine.settings.settings import Settings


@dataclass(frozen=True)
class KeptArtifact:
    """The artifacts that were kept, in the order in which they were made, and why others were not."""

    references: list[ArtifactReference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Keeper:
    """The stores of all projects that were asked for."""

    def __init__(self, cache: Path | None) -> None:
        self._cache = cache
        self._stores: dict[Path, ArtifactStore] = {}

    def keep(self, settings: Settings, source: str, artifacts: Sequence[ArtifactMade]) -> KeptArtifact:
        """Keeps what was made of the file `source`. With artifacts switched off, nothing is kept and nothing said."""
        folder = artifact_folder(settings, self._cache)
        if folder is None or not artifacts:
            return KeptArtifact()
        store = self._stores.setdefault(folder, ArtifactStore(folder))
        kept = KeptArtifact()
        for made in artifacts:
            reference = store.put(made, source=source)
            if reference is not None:
                kept.references.append(reference)
            elif (note := f"artifacts were not kept: {store.trouble}") not in kept.notes:
                kept.notes.append(note)
        return kept


def newest(artifacts: Sequence[ArtifactMade]) -> list[ArtifactMade]:
    """The artifacts without reproducers that a later, smaller one of the same target has replaced."""
    kept: dict[object, ArtifactMade] = {}
    for index, made in enumerate(artifacts):
        replaces = made.kind is ArtifactKind.REPROS and made.suffix == ".py"
        kept[(made.target, made.title) if replaces else index] = made
    return list(kept.values())
