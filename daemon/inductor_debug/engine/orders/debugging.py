"""The order for files in which a debugger can stop, and their folder: what is written where, and how it is started.

The worker says what is in the files (`DebugDocument`); here they get a script and a place. A folder that is somebody
else's is never written to.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from inductor_debug_schema import DebugDocument
from inductor_debug_schema.answers.debug_document import DebugStop
from inductor_debug_schema.job_tasks import DebugTask

from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.pool.launch import importable_packages
from inductor_debug.engine.settings.folders import PROJECT_FOLDER
from inductor_debug.worker import bootstrap

_SECONDS = 600.0
_SESSION = "session.json"
_SCRIPT = "run.py"
_START = '''\
"""Runs {target} of {file} in eager and then compiled. Written by `inductor-debug debug`.

Start it in a debugger, with breakpoints in the model's own file (eager), in graph_*.py (each value in eager and
compiled) and in *_inductor_*.py (what the compiler wrote): in VS Code by the launch configuration "{name}", in a
terminal by `python -m pdb run.py`.
"""

import importlib.util
import os
import sys

PACKAGES = {packages}
"""Where the tool is that wrote this; where it has moved, `inductor-debug debug` writes the folder anew."""

if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    spec = importlib.util.spec_from_file_location("inductor_debug_bootstrap", {bootstrap})
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    bootstrap.make_packages_importable({{**PACKAGES, "extra_path": []}})
    from inductor_debug.debugging.debugged_run import run

    sys.exit(run(os.path.dirname(os.path.abspath(__file__))))
'''


class DebugFolderError(Exception):
    """The folder cannot be written; the message says why."""


@dataclass(frozen=True)
class DebugFolder:
    """A folder that was written: its script, and where a debugger stops for an expression, the first one first."""

    folder: str
    script: str
    name: str
    stops: list[DebugStop]

    def path_of(self, stop: DebugStop) -> str:
        """The file of a stop."""
        return os.path.join(self.folder, stop.file)


def debug_order(target: str = "", *, line: int | None = None, timeout: float | None = None) -> Order:
    """Makes the files of a target; `line`, from zero, names the expressions whose compiled values are wanted."""
    seconds = timeout or _SECONDS
    return Order(DebugTask(debug_timeout=seconds, at_line=line), target=target, timeout=seconds + 60.0)


def usual_folder(root: str, document: DebugDocument) -> str:
    """Where the files of a target go if nobody says: below the folder of the project's artifacts."""
    name = f"{Path(document.path).stem}-{document.target}"
    safe = "".join(character if character.isalnum() or character in "-_." else "_" for character in name)
    return os.path.join(root, PROJECT_FOLDER, "debug", safe)


def write_folder(document: DebugDocument, folder: str) -> DebugFolder:
    """Writes the files and their script; those of an earlier run of the command go away.

    Raises:
        DebugFolderError: the folder holds something else, or cannot be written.
    """
    where = Path(folder)
    name = f"inductor-debug: {document.target} ({os.path.basename(document.path)})"
    try:
        if where.is_dir() and any(where.iterdir()) and not (where / _SESSION).is_file():
            raise DebugFolderError(f"{folder} holds files that are not of `inductor-debug debug`; name another folder")
        where.mkdir(parents=True, exist_ok=True)
        for old in where.glob("graph_*.py"):
            old.unlink()
        script = _START.format(
            target=document.target,
            file=document.path,
            name=name,
            packages=json.dumps(importable_packages(), indent=4),
            bootstrap=json.dumps(bootstrap.__file__),
        )
        texts = {file.name: file.text for file in document.debug_files}
        for file, text in {**texts, _SCRIPT: script, ".gitignore": "*\n"}.items():
            (where / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DebugFolderError(f"cannot write {folder}: {error.strerror or error}") from error
    return DebugFolder(str(where), str(where / _SCRIPT), name, document.stops)


def stops_at(document: DebugDocument, line: int | None) -> list[DebugStop]:
    """Where a debugger stops for what stands at a line of the file, from zero: one stop in each file; none for none."""
    if line is None:
        return []
    found: dict[str, DebugStop] = {}
    for stop in document.stops:
        place = stop.place
        if place is not None and place.path == document.path and place.range.start.line <= line <= place.range.end.line:
            found[stop.file] = stop
    return list(found.values())
