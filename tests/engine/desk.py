"""A user at an editor, with the real engine and a fake pool: short words for what tests do and look at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fakes import FakePools
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug_schema import FileReport, Finding

SAVED = "class Model:\n    def forward(self, x):\n        return x + BAD\n"
"""One finding, on line 2, characters 19 to 22; only the body of `forward` may change unsaved."""


def body(expression: str) -> str:
    """`SAVED` with another expression in the body of its function."""
    return SAVED.replace("x + BAD", expression)


class Desk:
    """One project folder, one file `model.py` unless said otherwise."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        (folder / "pyproject.toml").touch()
        self.pools = FakePools()
        self.updates: list[AnalysisUpdate] = []
        self.resolver = SettingsResolver(editor=settings, environ={})
        self.engine = Engine(
            settings_for=self.resolver,
            listener=self.updates.append,
            pool_factory=self.pools,
            cache_folder=folder / "cache",
            jobs=2,
        )
        self._version = 0

    def path(self, name: str = "model.py") -> Path:
        return self.folder / name

    def uri(self, name: str = "model.py") -> str:
        return self.path(name).as_uri()

    def write(self, text: str, name: str = "model.py") -> str:
        self.path(name).write_bytes(text.encode())
        return str(self.path(name))

    def open(self, text: str = SAVED, name: str = "model.py", *, on_disk: str | None = "") -> None:
        """Opens `text`; on disk stands the same, or `on_disk`, or with None nothing."""
        if on_disk is not None:
            self.write(on_disk or text, name)
        self._version += 1
        self.engine.open(self.uri(name), str(self.path(name)), self._version, text)

    async def opened(self, text: str = SAVED) -> AnalysisUpdate:
        """Opens `text` and waits for its analysis."""
        self.open(text)
        return await self.settled()

    def type(self, text: str, name: str = "model.py") -> None:
        self._version += 1
        self.engine.change(self.uri(name), self._version, text)

    def save(self, text: str | None = None, name: str = "model.py") -> None:
        """Types `text`, if given, and saves."""
        session = self.engine._sessions[self.uri(name)]
        if text is not None and text != session.document.text:
            self.type(text, name)
        self.write(session.document.text, name)
        self.engine.save(self.uri(name))

    async def settled(self, name: str = "model.py") -> AnalysisUpdate:
        update = await self.engine.settled(self.uri(name))
        assert update is not None
        return update

    async def told(self, wanted: Callable[[AnalysisUpdate], bool]) -> AnalysisUpdate:
        """The first update that is `wanted`, waiting for it if need be."""
        while True:
            for update in self.updates:
                if wanted(update):
                    return update
            await asyncio.sleep(0.01)

    def keep_typing(self, name: str = "model.py") -> None:
        """From now on the typing does not pause, however long a test takes."""
        now = time.monotonic()
        self.engine._sessions[self.uri(name)]._debounce.clock = lambda: now

    def pause(self, name: str = "model.py") -> None:
        """The end of `keep_typing`."""
        self.engine._sessions[self.uri(name)]._debounce.clock = time.monotonic

    def text(self, name: str = "model.py") -> str:
        """What stands in the editor."""
        return self.engine._sessions[self.uri(name)].document.text

    def states(self) -> list[str]:
        return [update.state.value for update in self.updates]

    def settings(self, **editor: Any) -> None:
        self.resolver.update(editor=editor)
        self.engine.settings_changed()

    @property
    def ran(self) -> list[str]:
        """The texts that reached a worker."""
        return [request.text for request in self.pools.requests]


def brief(findings: FileReport | list[Finding]) -> list[str]:
    """Findings as `rule line:start-end`, or `rule line` where one covers more lines."""
    if isinstance(findings, FileReport):
        findings = findings.findings
    return [
        f"{finding.rule} {finding.range.start.line}:{finding.range.start.character}-{finding.range.end.character}"
        for finding in findings
    ]


DONE, STALE, FAILED = AnalysisState.DONE, AnalysisState.STALE, AnalysisState.FAILED
