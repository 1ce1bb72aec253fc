"""`inductor-debug tensors`: the tensors that are alive at a line, and the memory that they take."""

from __future__ import annotations

import argparse
import json
import os
import re

from inductor_debug_schema import LineTensors, to_wire

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.accelerators.profile import read_profile
from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.order_runner import Done, perform_order
from inductor_debug.cli.support.output import Output, add_output, styler
from inductor_debug.cli.support.target_arguments import add_run_arguments, line_in, said, subject_of
from inductor_debug.engine.live_tensors.line import KnownTimeline, Question, RanTimeline, line_tensors
from inductor_debug.engine.orders.charting import MEMORY
from inductor_debug.engine.orders.file_targets import FileTarget
from inductor_debug.engine.orders.outcomes import failure
from inductor_debug.engine.settings.settings_ladder import ConfigurationError
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.report.file_names import FileNames, repository_root
from inductor_debug.report.text.tensors_text import tensors_text

DESCRIPTION = """\
Runs the targets of a file once, without weights and without the accelerator, and lists the tensors that are alive while
the last operation of a line runs: what the code calls them, their dimensions, bytes, who made them and who reads them.
"""
EPILOG = """\
examples:
  inductor-debug tensors model.py:42                          what is alive at line 42
  inductor-debug tensors model.py:42 --call 3                 the third time that the line runs
  inductor-debug tensors model.py:42 --module layers.2        the time at which layers.2 runs it
  inductor-debug tensors model.py:42 --accelerator spyre      with the layout and the padding on the device
  inductor-debug tensors model.py::Net:42 --format json
  inductor-debug tensors models.ipynb:4:7                     line 7 of the notebook's fourth cell

The file may also be one that a target imports, where `--run FILE` names the file with the target.

exit codes: 0, or 2 where no run passes the line
"""
FAILURES = (ConfigurationError, ProfileError)
_EVERY_ROW = 1 << 30
_PLACE = re.compile(r"(?P<subject>.+?):(?P<line>(?:\d+:)?[1-9]\d*)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument(
        "place", metavar="FILE[::TARGET]:LINE", help="a line of a Python file, from 1 (of a notebook CELL:LINE)"
    )
    parser.add_argument("--call", metavar="N", type=int, default=1, help="which run of the line, from 1 (default: 1)")
    parser.add_argument("--module", metavar="PATH", default="", help="the run of the line in this module of the target")
    parser.add_argument("--run", metavar="FILE", help="the file whose targets are run (default: that of the line)")
    add_output(parser)
    add_run_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the file, and shows the line; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    asked, line = _asked(arguments.place)
    subject = (
        asked if arguments.run is None else FileTarget(arguments.run, subject_of(arguments.run).path, asked.target)
    )
    done = perform_order(
        subject,
        MEMORY,
        said(arguments, subject.path),
        quiet=arguments.quiet,
    )
    document = _document(arguments, asked, subject, line, done)
    if document.why:
        broken = None if done.performed.timelines else failure(done.performed)
        raise CommandError(f"{arguments.place}: {broken or document.why}")
    output = Output(arguments.output, utf8=arguments.format == "json" or arguments.output is not None)
    if arguments.format == "json":
        output.write(json.dumps({"schema": 1, **to_wire(document)}, indent=2) + "\n")
    else:
        shown = {asked.path: asked.shown, subject.path: subject.shown}
        places = FileNames(os.getcwd(), repository_root(os.path.dirname(subject.path)), shown)
        output.write(tensors_text(document, places, styler(arguments)))
    output.commit()
    return 0


def _asked(words: str) -> tuple[FileTarget, int]:
    """The file, target and zero-based line that `FILE[::TARGET]:LINE` names.

    Raises:
        CommandError: there is no line in it, or none in the file.
        PathError: there is no such file.
    """
    found = _PLACE.fullmatch(words)
    if found is None:
        raise CommandError(f"{words}: name a line, as in model.py:42")
    subject = subject_of(found["subject"])
    return subject, line_in(found["line"], subject)


def _document(
    arguments: argparse.Namespace,
    asked: FileTarget,
    subject: FileTarget,
    line: int,
    done: Done,
) -> LineTensors:
    name = done.settings.chosen_accelerator
    profile = read_profile(done.settings.profile) if name else None
    performed = done.performed
    runs = {
        target: RanTimeline(timeline, subject.path, performed.text) for target, timeline in performed.timelines.items()
    }
    known = KnownTimeline(runs, _text(asked.path) or "", _text, profile, name or "")
    question = Question(asked.path, line, asked.target, max(arguments.call - 1, 0), arguments.module, rows=_EVERY_ROW)
    return line_tensors(question, known)


def _text(path: str) -> str | None:
    text = read_source(path)
    return text if isinstance(text, str) else None
