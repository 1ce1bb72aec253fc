"""`inductor-debug debug`: files in which a debugger stops while a model runs compiled, and what starts them."""

from __future__ import annotations

import argparse
import json
import os
import shlex

from inductor_debug_schema import DebugDocument
from inductor_debug_schema.answers.debug_document import DebugStop

from inductor_debug.cli.support import console
from inductor_debug.cli.support.order_runner import perform_order
from inductor_debug.cli.support.target_arguments import add_run_arguments, line_in, said, said_line, subject_of
from inductor_debug.engine.orders.debugging import (
    DebugFolder,
    DebugFolderError,
    debug_order,
    stops_at,
    usual_folder,
    write_folder,
)
from inductor_debug.engine.orders.launch_configuration import launched
from inductor_debug.engine.orders.outcomes import failure
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.settings.settings_ladder import ConfigurationError

DESCRIPTION = """\
Writes files in which a debugger can stop while a model runs compiled: each graph that torch.compile captures, as Python
with a statement for each operation, and the code that Inductor wrote for it; and a script that runs the model in eager,
then compiled, with real values. In a graph each value stands beside the compiled one, with how far they are apart. VS
Code gets a launch configuration; what its launch.json has already stays as it is.
"""
EPILOG = """\
examples:
  inductor-debug debug model.py::Net                 files in debug_artifacts/debug, and "Run and Debug" knows them
  inductor-debug debug model.py::Net --line 25       and where to stop for what line 25 computes
  inductor-debug debug models.ipynb --line 4:7       line 7 of the notebook's fourth cell
  inductor-debug debug model.py::Net -o stepping --no-launch
  python -m pdb debug_artifacts/debug/model-Net/run.py

exit codes: 0, or 2 where nothing could be compiled or written
"""
FAILURES = (ConfigurationError, DebugFolderError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("subject", metavar="FILE[::TARGET]", help="a Python file, and a target that it offers")
    parser.add_argument(
        "--line",
        metavar="N",
        type=said_line,
        help="run to what this line of the file computes (in a notebook CELL:LINE): only its compiled values are made, "
        "in a large model as well",
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="where the files go (default: debug_artifacts/debug/FILE-TARGET)"
    )
    parser.add_argument("--no-launch", dest="launch", action="store_false", help="leave .vscode/launch.json alone")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    add_run_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the files of every target that is meant; returns the exit code."""
    subject = subject_of(arguments.subject)
    line = line_in(arguments.line, subject) if arguments.line is not None else None
    order = debug_order(line=line, timeout=arguments.timeout)
    done = perform_order(subject, order, said(arguments, subject.path), quiet=arguments.quiet)
    documents = done.performed.documents(DebugDocument)
    if arguments.output and len(documents) > 1:
        names = ", ".join(document.target for document in documents)
        return console.fail(f"{subject.shown} has the targets {names}: name the one whose files go to the folder")
    rows: list[dict[str, object]] = []
    troubles = [] if documents else [failure(done.performed) or "there was no answer"]
    for document in documents:
        if document.problem:
            troubles.append(f"{document.target}: {document.problem}")
            continue
        folder = os.path.abspath(arguments.output or usual_folder(done.settings.project_root, document))
        written = write_folder(document, folder)
        launch = _launch(written, done.settings, subject.path) if arguments.launch else {"path": None, "why": ""}
        stops = stops_at(document, line)
        rows.append(_row(document, written, launch, stops))
        if arguments.format == "text":
            print(_text(document, written, launch, stops, done.settings.interpreter))
    if arguments.format == "json":
        print(json.dumps({"schema": 1, "debug": rows}, indent=1))
    for trouble in troubles:
        console.fail(f"{subject.shown}: {trouble}")
    return 2 if troubles else 0


def _launch(written: DebugFolder, settings: Settings, path: str) -> dict[str, str | None]:
    """The file that VS Code reads, or why the configuration is not in it."""
    launch = launched(written.name, written.script, path, settings)
    text = json.dumps(launch.configuration, indent=4)
    why = f"{launch.why}\nThe configuration to put among its configurations:\n{text}" if launch.why else ""
    return {"path": launch.path, "why": why}


def _row(
    document: DebugDocument, written: DebugFolder, launch: dict[str, str | None], stops: list[DebugStop]
) -> dict[str, object]:
    return {
        "target": document.target,
        "folder": written.folder,
        "script": written.script,
        "files": [{"path": os.path.join(written.folder, file.name), "kind": file.file_kind.value}
                  for file in document.debug_files],
        "stops": [{"path": written.path_of(stop), "line": stop.line, "name": stop.name} for stop in stops],
        "compared": document.compared,
        "configuration": written.name,
        "launch": launch["path"],
        "problems": [*document.notes, *([launch["why"]] if launch["why"] else [])],
    }  # fmt: skip


def _text(
    document: DebugDocument,
    written: DebugFolder,
    launch: dict[str, str | None],
    stops: list[DebugStop],
    interpreter: str,
) -> str:
    folder = os.path.relpath(written.folder)
    files = sorted(file.name for file in document.debug_files)
    lines = [f"{document.target}: {folder}", f"  {', '.join(['run.py', *files])}"]
    lines += [f"  stops at {os.path.join(folder, stop.file)}:{stop.line + 1}" + _value(stop) for stop in stops]
    lines += [f"  {note}" for note in document.notes]
    if launch["path"]:
        lines.append(f'  in VS Code: Run and Debug, "{written.name}" ({os.path.relpath(launch["path"])})')
    if launch["why"]:
        lines += [f"  {line}" for line in launch["why"].splitlines()]
    script = shlex.quote(os.path.relpath(written.script))
    stop = f" -c {shlex.quote(f'b {written.path_of(stops[0])}:{stops[0].line + 1}')} -c c" if stops else ""
    lines.append(f"  in a terminal: {shlex.quote(interpreter)} -m pdb{stop} {script}")
    return "\n".join(lines)


def _value(stop: DebugStop) -> str:
    return f", where at_{stop.name} has the value in eager and compiled" if stop.name else ", behind its kernel"
