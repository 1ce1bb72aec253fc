"""`inductor-debug watch`: the daemon, headless over stdio, for files that somebody edits with whatever they like.

It starts `serve` as an editor would, opens the files, prints the findings of each when they are complete, and again
whenever a file was written. What is analysed and when is the daemon's decision; this command only shows it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug_schema import (
    FileReport,
    FileStatus,
    Stage,
    TargetReport,
    from_wire,
)

from inductor_debug.cli.support import console
from inductor_debug.cli.support.check_arguments import add_allow
from inductor_debug.cli.support.output import add_colour, styler
from inductor_debug.engine.file_watching import stamp_of
from inductor_debug.report.file_names import FileNames, repository_root
from inductor_debug.report.run_report import CheckedFile
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.text import TextReport
from inductor_debug.report.unchecked_classes import coverage_line
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.source.source_text import decode

POLL_SECONDS = 0.2
"""How often files are looked at for new content."""
DESCRIPTION = """\
Runs the language server headless over stdio, as an editor would, and prints the findings of each file as soon as they
are complete.
"""
EPILOG = """\
examples:
  inductor-debug watch model.py            show findings now and after every save, until Ctrl-C
  inductor-debug watch --once model.py     show them once

exit codes:
  0  the files were analysed, whatever was found (`check` is the command whose exit code judges)
  2  the daemon could not do its job
"""


FAILURES = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("paths", metavar="FILE", nargs="+", type=Path)
    parser.add_argument("--once", action="store_true", help="end after the first findings of every file")
    parser.add_argument("--accelerator", metavar="NAME|FILE.toml", help="an accelerator, or a profile of yours")
    add_allow(parser)
    add_colour(parser)


def run(arguments: argparse.Namespace) -> int:
    """Watches until all is shown (`--once`) or Ctrl-C; returns the exit code."""
    from inductor_debug.server.rpc.headless_client import ServerError

    for path in arguments.paths:
        if not path.is_file():
            return console.fail(f"{path}: {'is not a file' if path.exists() else 'no such file'}")
    given = {str(path.resolve()): str(path) for path in arguments.paths}
    places = FileNames(os.getcwd(), repository_root(os.getcwd()), _shortest(given))
    said = {"accelerator": arguments.accelerator, "allow": arguments.allow}
    options = {name: value for name, value in said.items() if value}
    watch = _Watch([path.resolve() for path in arguments.paths], places, styler(arguments))
    try:
        return asyncio.run(watch.run(options, once=arguments.once))
    except ServerError as error:
        return console.fail(str(error))


def _shortest(given: dict[str, str]) -> dict[str, str]:
    """Names as given, but relative where an absolute path lies below the working folder."""
    names = {}
    for path, name in given.items():
        relative = os.path.relpath(path)
        names[path] = name if relative.startswith(os.pardir) else relative
    return names


@dataclass(slots=True)
class _Watched:
    """One file: what was last sent of it, and what the daemon last said."""

    path: Path
    text: str
    stamp: tuple[int, int] | None
    version: int = 1
    shown: int = 0
    told: tuple[str | None, int] | None = None


class _Watch:
    """One run of the command."""

    def __init__(self, paths: list[Path], places: FileNames, styler: Styler) -> None:
        self._files = {path.as_uri(): _Watched(path, _text(path), stamp_of(path)) for path in paths}
        self._places = places
        self._styler = styler
        self._diagnostics: dict[str, list[dict[str, Any]]] = {}
        self._finished = asyncio.Event()
        self._failed = False

    async def run(self, options: dict[str, Any], *, once: bool) -> int:
        """Shows findings until told to stop; returns the exit code.

        Raises:
            ServerError: the daemon did not start.
        """
        from inductor_debug.server.rpc.headless_client import HeadlessEditor

        async with HeadlessEditor() as editor:
            editor.handlers["textDocument/publishDiagnostics"] = self._hear_diagnostics
            editor.handlers["inductorDebug/analysis"] = self._hear_analysis
            editor.handlers["window/showMessage"] = self._hear_message
            editor.handlers["exit"] = self._hear_exit
            root = Path(os.path.commonpath([file.path.parent for file in self._files.values()]))
            result = await editor.start(root, options)
            version = (result.get("serverInfo") or {}).get("version", "?")
            console.say(f"daemon {version} started, process {editor.process_id}")
            for file in self._files.values():
                editor.open(file.path, file.text, file.version)
            if once:
                await self._finished.wait()
            else:
                await self._follow(editor)
        return 2 if self._failed else 0

    async def _follow(self, editor: Any) -> None:
        while not self._failed:
            for file in self._files.values():
                with contextlib.suppress(OSError):
                    stamp = stamp_of(file.path)
                    if stamp is not None and stamp != file.stamp:
                        file.stamp, file.text = stamp, _text(file.path)
                        file.version += 1
                        editor.change(file.path, file.text, file.version)
                        editor.save(file.path, file.text)
            await asyncio.sleep(POLL_SECONDS)

    def _hear_diagnostics(self, parameters: dict[str, Any]) -> None:
        self._diagnostics[parameters["uri"]] = parameters["diagnostics"]

    def _hear_analysis(self, parameters: dict[str, Any]) -> None:
        file = self._files.get(parameters["uri"])
        if file is None or parameters.get("version") != file.version:
            return
        name = self._places.shown(str(file.path))
        found = counted(parameters["findings"], "finding")
        if parameters["state"] == "running":
            news = (parameters.get("stage"), parameters["findings"])
            if news != file.told:
                file.told = news
                stage = stage_name(Stage(parameters["stage"])) if parameters.get("stage") else "start"
                console.say(f"{name}: {parameters['seconds']:.2f} s: {stage}, {found} so far")
        elif parameters["state"] in ("done", "failed") and parameters["generation"] > file.shown:
            file.shown = parameters["generation"]
            self._show(file, [from_wire(TargetReport, target) for target in parameters["targets"]])
            console.say(f"{name}: {parameters['seconds']:.2f} s: {parameters['state']}, {found}")
        if all(other.shown for other in self._files.values()):
            self._finished.set()

    def _hear_message(self, parameters: dict[str, Any]) -> None:
        console.say(str(parameters.get("message", "")))

    def _hear_exit(self, parameters: dict[str, Any]) -> None:
        if not self._finished.is_set():
            self._failed = parameters["code"] != 0
            self._finished.set()

    def _show(self, file: _Watched, targets: list[TargetReport]) -> None:
        from inductor_debug.server.rpc.told_findings import finding_of

        uris = [file.path.as_uri(), *(uri for uri in self._diagnostics if uri not in self._files)]
        findings = [finding_of(uri, item) for uri in uris for item in self._diagnostics.get(uri, [])]
        status = FileStatus.FINDINGS if findings else FileStatus.CLEAN
        report = FileReport(str(file.path), status, targets, findings)
        sources = ShownTexts({str(file.path): file.text})
        checked = CheckedFile(self._places.shown(str(file.path)), report, "")
        covered = coverage_line([checked], sources)
        sys.stdout.write(TextReport(self._places, sources, self._styler).file(checked))
        sys.stdout.write(f"{checked.shown}: {covered}\n" if covered else "")
        sys.stdout.flush()


def _text(path: Path) -> str:
    return decode(path.read_bytes())
