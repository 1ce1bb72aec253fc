"""The command `inductorDebug.checkWorkspace`: checks every file of the workspace that defines or compiles a model.

Files are chosen as `check FOLDER` chooses them, so that no set-up file, test or script is run. Each file's findings are
shown as soon as it is through, whether or not it is open. Cancelling keeps what had come.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inductor_debug_schema import FileReport, Progressed, Severity
from inductor_debug_schema.commands.command_answers import WorkspaceAnswer
from inductor_debug_schema.commands.command_requests import WorkspaceRequest

from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.ordering import Bar
from inductor_debug.server.rpc.protocol import RequestError
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.engine.selection.selection import Skip
    from inductor_debug.server.state.server import Server

TITLE = "Checking the workspace"
_AT_ONCE = max(1, (os.cpu_count() or 2) // 2)
"""Half of the cores, so that the file that somebody is working on has its share."""


@dataclass(slots=True)
class _Tally:
    """How far the check is, and what it has found."""

    total: int
    began: float
    reports: list[FileReport] = field(default_factory=list)

    def told(self, name: str) -> Progressed:
        done = len(self.reports)
        words = f"{done} of {self.total} files{_left(time.monotonic() - self.began, done, self.total)}: {name}"
        return Progressed(words, done, self.total)


async def check_workspace(call: Call[WorkspaceRequest]) -> WorkspaceAnswer:
    """Checks the files of the folders that are named, or of all workspace folders; answers with a summary.

    Raises:
        RequestError: no folder is open, or the settings for a file cannot be used.
    """
    server = call.server
    folders = _folders(server, call.request.folders)
    bar = Bar(call, TITLE)
    try:
        paths, skips = await _chosen(server, folders, bar)
        tally = _Tally(len(paths), time.monotonic())
        gate = asyncio.Semaphore(_AT_ONCE)
        tasks = [asyncio.ensure_future(_check(server, path, gate, bar, tally)) for path in paths]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    finally:
        bar.end()
    return _summary(tally, skips)


def _folders(server: Server, asked: Sequence[str] | None) -> list[str]:
    folders = [*server.configuration.folders.values()] if asked is None else [path_of(uri) for uri in asked]
    found = [folder for folder in folders if folder and os.path.isdir(folder)]
    if not found:
        raise RequestError("There is no folder to check: open one first.")
    return found


async def _chosen(server: Server, folders: Sequence[str], bar: Bar) -> tuple[list[str], list[Skip]]:
    """The paths to check, and why the others are not; the event loop has its turn between any two files."""
    # Imported only here: an editor waits while the server starts.
    from inductor_debug.engine.selection.folder import choose, python_files

    settings_for = server.configuration.settings_for
    paths: dict[str, str] = {}
    skips: list[Skip] = []
    for folder in folders:
        bar.say(f"looking for models in {os.path.basename(folder)}")
        for candidate, skip in choose(
            python_files(folder, lambda path: settings_for(path).excludes(path)), settings_for
        ):
            await asyncio.sleep(0)
            if skip is not None:
                skips.append(skip)
            elif candidate.problem is None:
                paths.setdefault(os.path.realpath(candidate.path), candidate.path)
    return list(paths.values()), skips


async def _check(server: Server, path: str, gate: asyncio.Semaphore, bar: Bar, tally: _Tally) -> None:
    async with gate:
        bar.hear(tally.told(os.path.basename(path)))
        with contextlib.suppress(ConfigurationError):  # the check tells of that
            await server.configuration.known(lambda: server.configuration.settings_for(path))
        tally.reports.append(await _open_document(server, path) or await _on_disk(server, path))
        bar.hear(tally.told(os.path.basename(path)))


async def _open_document(server: Server, path: str) -> FileReport | None:
    """What is known of a file that is open, analysed to its end; None where it is not open."""
    uri = next((document.uri for document in server.documents.values() if document.path == path), None)
    if uri is None:
        return None
    server.engine.analyze(uri, "command")
    update = await server.engine.settled(uri)
    if update is not None:
        server.workspace_results.keep(update, server.documents[uri].text, server.engine.dependencies(uri))
    return None if update is None else update.report


async def _on_disk(server: Server, path: str) -> FileReport:
    found = await server.engine.check_on_disk(path)
    server.workspace_results.keep(found.update, found.text, found.dependencies)
    return found.update.report


def _left(seconds: float, done: int, total: int) -> str:
    """How much longer it may take, in words; nothing while nobody can know."""
    if done < 2 or done == total:
        return ""
    left = seconds / done * (total - done)
    if left < 10:
        return ", a few seconds left"
    return f", about {round(left / 60)} minutes left" if left > 90 else f", about {round(left, -1):.0f} seconds left"


def _summary(tally: _Tally, skips: Sequence[Skip]) -> WorkspaceAnswer:
    from inductor_debug.engine.selection.selection import tally as words

    severities = [finding.severity for report in tally.reports for finding in report.findings]
    return WorkspaceAnswer(
        files=len(tally.reports),
        files_with_findings=sum(bool(report.findings) for report in tally.reports),
        findings=len(severities),
        errors=severities.count(Severity.ERROR),
        warnings=severities.count(Severity.WARNING),
        not_opened=len(skips),
        not_opened_why=words(skips),
        seconds=round(time.monotonic() - tally.began, 4),
    )
