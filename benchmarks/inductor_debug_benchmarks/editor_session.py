"""One editor session of the benchmark: types into a file over a real connection and waits for what comes back."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug.server.rpc.headless_client import HeadlessEditor, ServerError

TOGGLE = "x = x  # toggle"
"""The line of every benchmark model that an edit changes."""
TROUBLE = "x = (x + x.double()).float()  # toggle"
"""What the edit makes of it: one `float64` finding more."""
_RULE = "float64"

_PATIENCE = 10.0
"""Seconds after the analysis for which its diagnostics may take."""


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """Seconds from an edit to the first diagnostics that know of it, and to the last."""

    first: float
    done: float


class Typist:
    """Edits one document and times the answers."""

    def __init__(self, editor: HeadlessEditor, path: Path) -> None:
        self._editor = editor
        self._path = path
        self._text = path.read_text(encoding="utf-8")
        self._version = 0
        self._codes: asyncio.Queue[tuple[int | None, bool]] = asyncio.Queue()
        self._states: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        editor.handlers["textDocument/publishDiagnostics"] = self._diagnostics
        editor.handlers["inductorDebug/analysis"] = self._analysis

    async def open(self) -> float:
        """Opens the document and returns the seconds until its first analysis was done."""
        started = time.perf_counter()
        self._version = 1
        self._editor.open(self._path, self._text, self._version)
        await self._settled()
        return time.perf_counter() - started

    async def edit(self, number: int) -> TimedAnswer:
        """Types something new that brings a finding, then takes it back; returns how long the first took."""
        # Another number in a comment would be no other code, and need no run.
        trouble = self._text.replace(TOGGLE, f"_ = {number}; {TROUBLE}")
        answer = await self._type(trouble, expects_trouble=True)
        await self._type(self._text.replace(TOGGLE, f"_ = {number}; {TOGGLE}"), expects_trouble=False)
        return answer

    async def type_again(self) -> float:
        """Types a text that was analysed before and returns the seconds until it is done."""
        answer = await self._type(self._text, expects_trouble=False)
        return answer.done

    async def _type(self, text: str, *, expects_trouble: bool) -> TimedAnswer:
        while not self._codes.empty():
            self._codes.get_nowait()
        self._version += 1
        started = time.perf_counter()
        self._editor.change(self._path, text, self._version)
        first = asyncio.create_task(self._first(expects_trouble))
        await self._settled()
        done = time.perf_counter() - started
        try:
            shown = await asyncio.wait_for(first, _PATIENCE)
        except asyncio.TimeoutError:
            raise ServerError(f"{self._path.name}: the editor was never shown what the edit changed") from None
        return TimedAnswer(shown - started, done)

    async def _first(self, expects_trouble: bool) -> float:
        while True:
            version, troubled = await self._codes.get()
            if version == self._version and troubled == expects_trouble:
                return time.perf_counter()

    async def _settled(self) -> None:
        while True:
            update = await asyncio.wait_for(self._states.get(), 300)
            if update.get("version") == self._version and update["state"] in ("done", "failed"):
                if update["state"] == "failed":
                    raise ServerError(f"{self._path.name} could not be analysed")
                return

    def _diagnostics(self, parameters: dict[str, Any]) -> None:
        if parameters["uri"] == self._path.as_uri():
            codes = {diagnostic.get("code") for diagnostic in parameters["diagnostics"]}
            self._codes.put_nowait((parameters.get("version"), _RULE in codes))

    def _analysis(self, parameters: dict[str, Any]) -> None:
        if parameters["uri"] == self._path.as_uri():
            self._states.put_nowait(parameters)
