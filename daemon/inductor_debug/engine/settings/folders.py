"""Which folders outside of the project the daemon writes to, and where a project's artifacts go. Makes none of them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from inductor_debug.engine.settings.settings import Settings

PROJECT_FOLDER = "debug_artifacts"
"""The folder of artifacts in a project, with the setting `artifacts = "project"`."""


def cache_folder() -> Path:
    """The user's cache folder for everything of ours."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "inductor-debug"


def artifact_folder(settings: Settings, cache: Path | None = None) -> Path | None:
    """Where the artifacts of a file with these settings are kept; None where none are.

    Args:
        settings: those of the file.
        cache: the cache folder, in place of the user's.
    """
    said = settings.artifacts
    if said == "off":
        return None
    if said == "project":
        return Path(settings.project_root) / PROJECT_FOLDER
    if said != "cache":
        return Path(said)
    root = settings.project_root
    digest = hashlib.blake2b(root.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return (cache or cache_folder()) / "artifacts" / f"{Path(root).name or 'root'}-{digest}"
