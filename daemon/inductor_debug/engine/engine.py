"""The engine. (Signatures; the body follows.)"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from inductor_debug.engine.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.settings import ConfigurationError, Settings
from inductor_debug_schema import FileReport

__all__ = ["AnalysisState", "AnalysisUpdate", "ConfigurationError", "Engine", "Settings"]


class Engine:
    """Documents in, updates out.

    All methods are called in the event loop; the listener runs there, too. `jobs` bounds the workers at once (default:
    the number of cores). `pool_factory` takes WorkerPool's keyword arguments.
    """

    def __init__(
        self,
        *,
        settings_for: Callable[[str], Settings],
        listener: Callable[[AnalysisUpdate], None],
        pool_factory: Callable[..., Any] | None = None,
        cache_folder: Path | None = None,
        jobs: int | None = None,
    ) -> None:
        raise NotImplementedError

    def open(self, uri: str, path: str, version: int, text: str) -> None:
        """A document was opened. `path` is absolute, or "" where the document is no file (untitled)."""
        raise NotImplementedError

    def change(self, uri: str, version: int, text: str) -> None:
        """The whole new text of an open document."""
        raise NotImplementedError

    def save(self, uri: str, text: str | None = None) -> None:
        """The document was written to disk."""
        raise NotImplementedError

    def close(self, uri: str) -> None:
        """Stops its analysis and drops its findings; no update follows."""
        raise NotImplementedError

    def files_changed(self, paths: list[str]) -> None:
        """Files changed on disk, made, changed or deleted (didChangeWatchedFiles)."""
        raise NotImplementedError

    def settings_changed(self) -> None:
        """Settings may have changed: analyses again what they concern, shows anew what only policy concerns."""
        raise NotImplementedError

    def analyze(self, uri: str, cause: str) -> None:
        """The user asked for it: runs even with trigger "manual", past the cache and after a crash."""
        raise NotImplementedError

    def cancel(self, uri: str | None = None) -> None:
        """Stops the analysis of one document, or of all."""
        raise NotImplementedError

    def prewarm(self, path: str) -> None:
        """Starts the worker pool that files like the absolute `path` (a file or folder) will need, in the background."""
        raise NotImplementedError

    def latest(self, uri: str) -> AnalysisUpdate | None:
        """The newest update of an open document, if there was one."""
        raise NotImplementedError

    async def settled(self, uri: str) -> AnalysisUpdate | None:
        """Waits until nothing is queued or running for the document; None if it is not open."""
        raise NotImplementedError

    async def check(self, path: str, on_progress: Callable[[AnalysisUpdate], None] | None = None) -> FileReport:
        """Analyses the file on disk as a whole. `on_progress` gets updates with version None.

        Raises:
            ConfigurationError: the settings for it cannot be used. Nothing else: bad files give findings.
        """
        raise NotImplementedError

    def log_paths(self) -> list[Path]:
        """The logs of the worker pools (user code's output), for "show log"."""
        raise NotImplementedError

    async def restart(self) -> None:
        """Stops everything, forgets every cached result and analyses the open documents again."""
        raise NotImplementedError

    async def shutdown(self) -> None:
        """Stops everything for good. Returns when no worker is left."""
        raise NotImplementedError
