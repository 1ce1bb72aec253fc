"""Files that the daemon has written, as a page may read them: by a name of ours, never by a path that the page gives.

Known are those that an answer has named, and what the store of a shown file's project keeps.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from inductor_debug.artifacts.store import ArtifactStore
from inductor_debug.engine.settings.folders import artifact_folder
from inductor_debug.engine.settings.settings_ladder import SettingsResolver

_MOST_LISTED = 300


class KeptArtifacts:
    """Artifacts by their names."""

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}

    def named(self, answer: Any) -> Any:
        """An answer as the page gets it: each of its artifacts has an `id`, by which it can be read."""
        if not isinstance(answer, dict) or not isinstance(answer.get("artifacts"), list):
            return answer
        return {**answer, "artifacts": [{**one, "id": self._known(one["path"])} for one in answer["artifacts"]]}

    def read(self, name: str) -> bytes | None:
        """The content of an artifact; None where it is not known, or was cleaned away."""
        try:
            return self._paths[name].read_bytes()
        except (KeyError, OSError):
            return None

    def listed(self, paths: Iterable[Path]) -> list[dict[str, Any]]:
        """What is kept of these files, newest first.

        Raises:
            ConfigurationError: the settings for one of them cannot be used.
        """
        settings_for = SettingsResolver(environ=os.environ)
        sources = {str(path) for path in paths}
        folders = {artifact_folder(settings_for(path)) for path in sources}
        stores = [ArtifactStore(folder) for folder in folders if folder is not None]
        entries = [entry for store in stores if not store.foreign() for entry in store.entries()]
        entries = [entry for entry in entries if entry.source in sources]
        entries.sort(key=lambda entry: entry.created, reverse=True)
        return [
            {
                "id": self._known(entry.path),
                "kind": entry.kind.value,
                "media_type": entry.media_type,
                "bytes": entry.bytes,
                "title": entry.title,
                "target": entry.target,
                "uri": Path(entry.source).as_uri(),
                "stage": entry.stage.value if entry.stage is not None else None,
                "created": datetime.fromtimestamp(entry.created, timezone.utc).isoformat(timespec="seconds"),
            }
            for entry in entries[:_MOST_LISTED]
        ]

    def _known(self, path: str) -> str:
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        self._paths[name] = Path(path)
        return name
