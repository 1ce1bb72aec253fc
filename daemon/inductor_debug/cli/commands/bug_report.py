"""`inductor-debug bug-report`: one zip with all that an issue needs, after the user has seen what is in it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from inductor_debug_schema import to_wire

from inductor_debug.cli.support import console
from inductor_debug.cli.support.order_runner import Perform, TargetError, Tell, perform_orders
from inductor_debug.cli.support.output import require_writable
from inductor_debug.cli.support.target_arguments import add_run_arguments, add_subject, said, subject_of
from inductor_debug.engine.bug_report.bug_report import BugReport, WantedReport, gather, write
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.settings.settings_ladder import ConfigurationError

DESCRIPTION = "Gathers what somebody else needs to see a failure, lists the files, and writes one zip."
EPILOG = """\
The zip holds the text of an issue, a minimal reproducer that was run in a clean process, findings and errors in full,
graphs and kernels as text, statistics, the bisection, the transfer log, versions, and torch's structured trace (open it
with tlparse). Home folders, user names, host names and secrets are taken out. Your source file is not in it.

examples:
  inductor-debug bug-report model.py::Net -o report.zip
  inductor-debug bug-report model.py --no-bisect --yes
  inductor-debug bug-report model.py --dry-run          only list the files

exit codes:
  0  the report was written (or listed)
  1  not written, because the answer was no
  2  bad usage or configuration, or nothing could be gathered
"""


FAILURES = (ConfigurationError,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser)
    parser.add_argument("-o", "--output", metavar="OUT.zip", help="default: bug-report-FILE.zip")
    parser.add_argument("--fingerprint", metavar="HEX", default="", help="the finding that it is about")
    parser.add_argument("--no-bisect", action="store_true", help="leave out the bisection, which takes minutes")
    parser.add_argument("--yes", action="store_true", help="write it without asking")
    parser.add_argument("--dry-run", action="store_true", help="list the files and write nothing")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    add_run_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Gathers, shows and writes; returns the exit code."""
    subject = subject_of(arguments.subject)
    path = Path(arguments.output or f"bug-report-{Path(subject.path).stem}.zip")
    if not arguments.dry_run:
        if not (arguments.yes or sys.stdin.isatty()):
            return console.fail("nobody is there to be asked: pass --yes to write the report, or --dry-run to list it")
        require_writable(str(path))

    async def work(perform: Perform, settings: Settings, tell: Tell) -> BugReport:
        finding = None
        if arguments.fingerprint:
            report = (await perform(Order(target=subject.target))).report
            matching = (found for found in report.findings if found.fingerprint.startswith(arguments.fingerprint))
            finding = next(matching, None)
            if finding is None:
                raise TargetError(f"{subject.shown}: no finding has the fingerprint {arguments.fingerprint}")
        wanted = WantedReport(subject.path, subject.target, finding, bisect=not arguments.no_bisect)
        return await gather(wanted, settings, perform, tell)

    report = perform_orders(subject, said(arguments, subject.path), work, quiet=arguments.quiet)
    _show(report, arguments.format)
    if arguments.dry_run:
        return 0
    if not arguments.yes and not _agreed(path):
        return 1
    try:
        write(report, path)
    except OSError as error:
        return console.fail(f"cannot write {path}: {error.strerror or error}")
    console.say(f"written: {path} ({os.path.getsize(path):,} bytes)")
    return 0


def _show(report: BugReport, style: str) -> None:
    if style == "json":
        document = {
            "schema": 1,
            "title": report.title,
            "files": to_wire(report.listing()),
            "missing": report.missing,
            "redacted": report.redacted,
        }
        print(json.dumps(document, indent=2))
        return
    print(f"{report.title}\n")
    for entry in report.listing():
        print(f"  {entry.bytes:>10,}  {entry.name}: {entry.about}")
    for missing in report.missing:
        print(f"  not there: {missing}")
    taken = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(report.redacted.items()))
    print(f"\ntaken out of the texts: {taken or 'nothing'}")


def _agreed(path: Path) -> bool:
    print(f"Write {path}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
