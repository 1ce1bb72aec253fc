"""`inductor-debug repro`: a finding in, the smallest script that shows it out, proved in a clean process.

Without `-o` the script itself is the result and goes to standard output; what is to be said about it goes to standard
error. What is tried and what a script looks like, the worker decides.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from dataclasses import replace

from inductor_debug_schema import Event, Finding, ReproDocument, to_wire

from inductor_debug.accelerators.constraints import RULE_MARK
from inductor_debug.cli.support import console
from inductor_debug.cli.support.console import InterruptedRunError
from inductor_debug.cli.support.order_runner import perform_order
from inductor_debug.cli.support.output import Output, OutputError, require_writable, write_whole
from inductor_debug.cli.support.target_arguments import (
    add_run_arguments,
    add_subject,
    line_in,
    said,
    said_line,
    subject_of,
)
from inductor_debug.engine.orders.file_targets import FileTarget
from inductor_debug.engine.orders.orders import Order
from inductor_debug.engine.orders.outcomes import failure
from inductor_debug.engine.orders.reproducing import Reproduction, made_of, order_for, proved, refused
from inductor_debug.engine.settings.folders import cache_folder
from inductor_debug.engine.settings.settings_ladder import ConfigurationError
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.registry import UnknownRuleError, find

DESCRIPTION = "Reduces a finding to a short script that needs nothing but torch, and runs it in a clean process."
EPILOG = """\
examples:
  inductor-debug repro model.py                         the first finding
  inductor-debug repro model.py::Net --rule dtype       of that rule
  inductor-debug repro model.py --line 34 -o repro.py   at that line
  inductor-debug repro model.py --backend inductor      what the backend does wrong
  inductor-debug repro model.py --backend mine          a backend, or a function, that the file itself has
  inductor-debug repro model.py --backend spyre         what an accelerator's number format does, emulated

A backend of the file's own comes along in the script as source, with what it needs of the file. Faults that `diff` puts
into an emulated accelerator (--inject) have no script: they are this tool's own, and show nothing about torch or a
device.

exit codes:
  0  a script was made, and reproduces the failure in a clean process
  1  nothing fits, or the script could not be proved
  2  bad usage or configuration, or the file could not be run
"""


FAILURES = (ConfigurationError, UnknownRuleError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    add_subject(parser)
    which = parser.add_argument_group("which failure")
    which.add_argument("--rule", default="", metavar="RULE", help="a finding of this rule")
    which.add_argument("--line", type=said_line, metavar="N", help="a finding at this line (in a notebook CELL:LINE)")
    which.add_argument("--fingerprint", default="", metavar="HEX", help="the finding with this fingerprint")
    which.add_argument(
        "--backend",
        default="",
        metavar="NAME",
        help="a torch.compile backend that crashes, or computes something else, or an accelerator, whose arithmetic is "
        "emulated",
    )
    output = parser.add_argument_group("output")
    output.add_argument("-o", "--output", metavar="OUT.py", help="write the script here")
    output.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    add_run_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Makes the reproducer; returns the exit code."""
    return _Repro(arguments).run()


class _Repro:
    """One run of the command."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._subject = subject_of(arguments.subject)
        self._events: list[Event] = []
        if arguments.rule and RULE_MARK not in arguments.rule:
            find(arguments.rule)
        if arguments.output is not None:
            require_writable(arguments.output)

    def run(self) -> int:
        arguments = self._arguments
        order = self._order()
        if order is None:
            return 1
        refusal = refused(order)
        if refusal is not None:
            return self._show(refusal)
        try:
            done = perform_order(
                self._subject,
                order,
                said(arguments, self._subject.path),
                quiet=arguments.quiet,
                on_event=self._events.append,
            )
        except InterruptedRunError:
            self._keep_best()
            raise
        why = failure(done.performed)
        script, _ = made_of(done.performed.artifacts)
        if why is not None and script is None:
            return console.fail(f"{self._subject.shown}: {why}")
        return self._show(asyncio.run(proved(done.performed, done.settings)))

    def _order(self) -> Order | None:
        """The order; None, and a complaint, where no finding has the fingerprint."""
        arguments = self._arguments
        finding = None
        if arguments.fingerprint:
            finding = self._by_fingerprint(arguments.fingerprint)
            if finding is None:
                console.say(f"{self._subject.shown}: no finding has the fingerprint {arguments.fingerprint}")
                return None
        return order_for(
            rule=arguments.rule,
            line=line_in(arguments.line, self._subject) if arguments.line is not None else None,
            finding=finding,
            target=self._subject.target,
            backend=arguments.backend,
            memo=str(cache_folder() / "repro"),
            timeout=arguments.timeout,
        )

    def _by_fingerprint(self, wanted: str) -> Finding | None:
        subject = FileTarget(self._subject.shown, self._subject.path, self._subject.target)
        found = perform_order(subject, Order(), said(self._arguments, subject.path), quiet=self._arguments.quiet)
        findings = found.performed.report.findings
        return next((finding for finding in findings if finding.fingerprint.startswith(wanted.lower())), None)

    def _keep_best(self) -> None:
        """After Ctrl-C: the smallest script so far is worth having."""
        script, files = made_of(self._events)
        if script is not None and self._arguments.output is not None:
            self._write(script, files)
            console.say(f"interrupted; the smallest script so far is in {self._arguments.output}, not verified")

    def _show(self, found: Reproduction) -> int:
        arguments = self._arguments
        document = found.document
        if found.script is not None and arguments.output is not None:
            self._write(found.script, found.files)
            document = replace(document, script=os.path.abspath(arguments.output))
        elif arguments.output is not None:
            for path in self._write_files(found.files):
                console.say(f"the graph that fails is in {path} (torch.export.load reads it)")
        output = Output(None, utf8=arguments.format == "json")
        if arguments.format == "json":
            output.write(json.dumps(to_wire(document), indent=2) + "\n")
        elif found.script is not None and arguments.output is None:
            output.write(found.script)
        if arguments.format == "text" and not arguments.quiet:
            console.say(_summary(document, found.script is not None, arguments.output))
        return 0 if document.verified else 1

    def _write(self, script: str, files: dict[str, bytes]) -> None:
        write_whole(self._arguments.output, script)
        self._write_files(files)

    def _write_files(self, files: dict[str, bytes]) -> list[str]:
        """Writes what stands beside the script; the paths."""
        stem = os.path.splitext(self._arguments.output)[0]
        for name, content in files.items():
            _write_beside(f"{stem}-{name}", content)
        return [f"{stem}-{name}" for name in files]


def _write_beside(path: str, content: bytes) -> None:
    """Writes values that the script needs.

    Raises:
        OutputError: they cannot be written.
    """
    try:
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def _summary(document: ReproDocument, made: bool, path: str | None) -> str:
    """`verified: repro.py, 46 nodes became 1 (1 attempt, 2.4 s); the failure goes when float64 becomes float32`."""
    if not made:
        return f"no reproducer: {document.why}"
    why = document.why or ("" if document.verified else "it was not run")
    said = ("verified" if document.verified else "not verified") + (f" ({why})" if why else "")
    tried = f"{counted(document.attempts, 'attempt')}, {document.seconds:.1f} s"
    where = f"{path}, " if path else ""
    text = f"{said}: {where}{document.nodes_before} nodes became {document.nodes_after} ({tried})"
    return text + (f"; the failure goes when {document.neighbour}" if document.neighbour else "")
