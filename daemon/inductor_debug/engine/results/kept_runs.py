"""What finished runs told, kept on disk for the next `check`: the same text in the same surroundings is not run again.

Kept are the worker's events, so that hearing them again gives what the run gave. A run holds as long as every file and
folder that it looked at is what it was, the installed libraries among them, and this tool as well. A run that a limit
of ours has ended is kept with that limit: it would end there again. One that crashed or broke off otherwise never is,
since the reason may lie outside of what we know.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inductor_debug_schema
from inductor_debug_schema import (
    Event,
    FileStatus,
    Finding,
    Finished,
    Loaded,
    Stage,
    StageFinished,
    StageStarted,
    UntakenSeen,
    WireError,
    from_wire,
    to_wire,
)

from inductor_debug.engine.results.merge import Ending, Results
from inductor_debug.engine.results.remembered_files import RememberedFiles
from inductor_debug.engine.results.stamps import Stamp, stamps_of
from inductor_debug.worker.protocol import event_message, read_event

CAPACITY = 4096
"""Runs that are kept, of some ten kilobytes each."""
_KEPT = (FileStatus.CLEAN, FileStatus.FINDINGS, FileStatus.NO_TARGET)
_TELLING = (Loaded, StageStarted, StageFinished, UntakenSeen, Finished)
"""The events that make a report."""
_EXPLAINED = frozenset({"import-error", "syntax-error"})
"""Why a file fails that what the run looked at explains."""
_WITH_CAUSE = frozenset({"environment", "capture-error"})
"""The same, where it is known what of."""
_ENVIRONMENT = ("CUDA", "PYTHON", "PYTORCH", "TORCH")
"""How the environment variables begin that Python and torch heed."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What an interpreter says of itself; None where it was not asked."""

    torch: str | None = None
    python: str | None = None


NOT_ASKED = Versions()


@dataclass(frozen=True, slots=True)
class CutShort:
    """Where limits of ours ended a run: all of it, and the look at targets.

    `seconds` is the limit of time, None where that ended nothing.
    """

    ending: Ending | None
    given_up: dict[str, Ending]
    seconds: float | None


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What a run told in its order, the versions it ran on, what it looked at as that was, and what cut it short."""

    told: Sequence[Event]
    versions: Versions
    stamps: Sequence[Stamp]
    cut_short: CutShort | None = None

    def results(self, path: str, text: str, asked: tuple[Stage, ...]) -> Results:
        """What came of it."""
        results = Results(path, text, asked)
        for event in self.told:
            results.accept(event)
        if self.cut_short is not None:
            results.given_up = dict(self.cut_short.given_up)
        if self.cut_short is None or self.cut_short.ending is None:
            results.close()
        else:
            results.fail(self.cut_short.ending, broken=True)
        return results

    def suffices(self, seconds: float) -> bool:
        """Whether a run of as many seconds would come no further."""
        return self.cut_short is None or self.cut_short.seconds is None or seconds <= self.cut_short.seconds


class KeptRuns:
    """Runs by the absolute path of a file, its text, and a digest of the settings that decide what is run."""

    def __init__(self, folder: Path) -> None:
        self._entries = RememberedFiles(folder, CAPACITY)

    def get(self, path: str, text: str, settings: str, seconds: float) -> KeptRun | None:
        """The run that still holds, as far as one of so many `seconds` goes; None if there is none."""
        key = _key(path, text, settings)
        content = self._entries.read(key)
        run = None if content is None else _read(content)
        if run is None or all(stamp.holds() for stamp in run.stamps):
            return run if run is None or run.suffices(seconds) else None
        self._entries.remove(key)
        return None

    def put(self, settings: str, results: Results, told: Sequence[Event], versions: Versions, started: int) -> None:
        """Keeps a run, unless it failed or what it looked at changed after it `started` (nanoseconds since 1970)."""
        if _explained(results):
            self._write(settings, results, told, versions, stamps_of(results.surroundings(), before=started))

    def put_cut_short(
        self,
        settings: str,
        results: Results,
        told: Sequence[Event],
        versions: Versions,
        started: int,
        seconds: float,
        surroundings: Iterable[str] | None,
    ) -> None:
        """Keeps a run that a limit of ours has ended, with all that it may have looked at; nothing where that is None.

        Args:
            settings: a digest of the settings that decide what is run.
            results: what came of it until then.
            told: its events.
            versions: what its interpreter said of itself.
            started: when, in nanoseconds since 1970.
            seconds: how long it was allowed to take.
            surroundings: files and folders.
        """
        if surroundings is None or results.status is None:
            return
        stamps = stamps_of(sorted({*surroundings, *results.surroundings()} - {results.path}), before=started)
        timed = any(ending.timed for ending in results.endings())
        cut_short = CutShort(results.ending, results.given_up, seconds if timed else None)
        self._write(settings, results, told, versions, stamps, cut_short)

    def _write(
        self,
        settings: str,
        results: Results,
        told: Sequence[Event],
        versions: Versions,
        stamps: Sequence[Stamp] | None,
        cut_short: CutShort | None = None,
    ) -> None:
        if stamps is not None:
            events = [event for event in told if isinstance(event, _TELLING)]
            run = KeptRun(events, versions, stamps, cut_short)
            self._entries.write(_key(results.path, results.text, settings), _written(run))


def _explained(results: Results) -> bool:
    """Whether what came of a run is known to come of it again."""
    if results.broken or not results.looked_at:
        return False
    if results.status is FileStatus.FAILED:
        return bool(results.general) and all(map(_will_come_again, results.general))
    return results.status in _KEPT


def _will_come_again(finding: Finding) -> bool:
    """Whether what keeps a file from being loaded is its own code, and what that asks for."""
    return finding.rule in _EXPLAINED or (finding.rule in _WITH_CAUSE and finding.cause != "")


def _key(path: str, text: str, settings: str) -> tuple[str, ...]:
    surroundings = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_ENVIRONMENT))
    return (path, text, settings, *surroundings, _tool())


@functools.cache
def _tool() -> str:
    """What tells this very build of the tool from every other."""
    seen = hashlib.blake2b(digest_size=16)
    ours = Path(__file__).parents[2]
    for folder in (ours, Path(inductor_debug_schema.__file__).parent):
        for root, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(files):
                status = os.stat(os.path.join(root, name))
                seen.update(f"{root}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return seen.hexdigest()


def _written(run: KeptRun) -> dict[str, Any]:
    return {
        "told": [event_message(event) for event in run.told],
        "versions": to_wire(run.versions),
        "stamps": to_wire(list(run.stamps)),
        "cut_short": to_wire(run.cut_short),
    }


def _read(document: Any) -> KeptRun | None:
    try:
        return KeptRun(
            [read_event(message) for message in document["told"]],
            from_wire(Versions, document["versions"]),
            [from_wire(Stamp, stamp) for stamp in document["stamps"]],
            from_wire(CutShort, document["cut_short"]) if document["cut_short"] is not None else None,
        )
    except (AttributeError, KeyError, TypeError, ValueError, WireError):
        return None
