"""`inductor-debug report`: a check whose result is one page to pass on.

Everything but the default format is `check`'s: what is analysed, what counts, how it ends.
"""

from __future__ import annotations

import argparse

from inductor_debug.cli.commands import check

DESCRIPTION = """\
Checks files or folders, as `inductor-debug check` does, and puts what was found into one HTML page that needs neither
this tool nor the network to be read: charts, results of every file, findings with their source, what the rules mean;
with --artifacts guards and what was kept, with --compare KernelDiff's verdicts.
"""
EPILOG = """\
examples:
  inductor-debug report model.py -o report.html
  inductor-debug report src --accelerator spyre --stages preview,mock,aot -o report.html
  inductor-debug report model.py --artifacts project --compare inductor -o report.html
  inductor-debug report src --format json -o report.json      the same as a document

The graphs of a target are a page of their own: `inductor-debug graph FILE --format html`.

exit codes: those of `check`: 0 nothing at or above the failing severity, 1 findings, 2 something could not be analysed
or, with --require-targets, checked
"""
FAILURES = check.FAILURES
run = check.run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments of `check`."""
    check.add_arguments(parser)
    parser.set_defaults(format="html")
