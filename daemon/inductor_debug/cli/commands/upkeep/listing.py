"""`inductor-debug list`: the artifacts that are kept of a project, newest first."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from inductor_debug.artifacts.entries import ArtifactEntry
from inductor_debug.cli.support import console
from inductor_debug.cli.support.output import Output
from inductor_debug.cli.support.stores import add_place, add_selection, selection_of, store_of
from inductor_debug.engine.settings.settings_ladder import ConfigurationError
from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.rules.amounts import counted, in_bytes

DESCRIPTION = "Lists the artifacts of the project in which it is run."
EPILOG = """\
examples:
  inductor-debug list                                 everything kept of this project, newest first
  inductor-debug list --kind aot_graphs --path src
  inductor-debug list --older-than 7d --format json

Graphs are kept by `graph`, by `check --artifacts WHERE` and by the editor's commands. A kept graph can be shown again
with `inductor-debug graph FILE.graph`.

exit codes: 0, or 2 for bad usage or configuration
"""
_AGES = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


FAILURES = (ConfigurationError,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_selection(parser)
    add_place(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def run(arguments: argparse.Namespace) -> int:
    """Prints the list; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    store = store_of(arguments)
    entries = store.entries(selection_of(arguments))
    if arguments.format == "json":
        Output(None, utf8=True).write(_document(str(store.folder), entries))
    else:
        Output(None, utf8=False).write("".join(_lines(entries)))
        total = in_bytes(sum(entry.bytes for entry in entries))
        console.say(f"{counted(len(entries), 'artifact')}, {total}, in {store.folder}")
    return 0


def described(entry: ArtifactEntry) -> dict[str, Any]:
    """An entry as JSON documents carry it."""
    return {
        "kind": entry.kind.value,
        "path": entry.path,
        "bytes": entry.bytes,
        "media_type": entry.media_type,
        "title": entry.title,
        "target": entry.target,
        "source": entry.source,
        "stage": entry.stage.value if entry.stage is not None else None,
        "created": datetime.fromtimestamp(entry.created, timezone.utc).isoformat(timespec="seconds"),
    }


def _document(folder: str, entries: list[ArtifactEntry]) -> str:
    document = {
        "schema": 1,
        "folder": folder,
        "artifacts": [described(entry) for entry in entries],
        "bytes": sum(entry.bytes for entry in entries),
    }
    return json.dumps(document, indent=1) + "\n"


def _lines(entries: list[ArtifactEntry]) -> Iterator[str]:
    now, places = time.time(), FileNames(os.getcwd(), os.getcwd())
    for entry in entries:
        source = places.shown(entry.source) if entry.source else ""
        subject = f"{source}::{entry.target}" if entry.target else source or "(not in the index)"
        stage = entry.stage.value if entry.stage is not None else "-"
        row = f"{_age(now - entry.created):>5} {in_bytes(entry.bytes):>10}  {entry.kind.value:<16} {stage:<9}"
        yield printable(f"{row} {subject}  {entry.title}") + f"\n{' ' * 17} {printable(places.shown(entry.path))}\n"


def _age(seconds: float) -> str:
    for amount, unit in _AGES:
        if seconds >= amount:
            return f"{int(seconds // amount)}{unit}"
    return "now"
