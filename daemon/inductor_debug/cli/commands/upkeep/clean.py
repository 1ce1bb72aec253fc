"""`inductor-debug clean`: removes kept artifacts, and nothing but artifacts."""

from __future__ import annotations

import argparse

from inductor_debug.artifacts.entries import Selection
from inductor_debug.cli.support import console
from inductor_debug.cli.support.output import Output
from inductor_debug.cli.support.stores import add_place, add_selection, selection_of, store_of
from inductor_debug.engine.settings.settings_ladder import ConfigurationError
from inductor_debug.report.cells import printable
from inductor_debug.rules.amounts import counted, in_bytes

DESCRIPTION = "Removes artifacts of the project in which it is run."
EPILOG = """\
examples:
  inductor-debug clean --older-than 7d
  inductor-debug clean --kind inductor_kernels --dry-run
  inductor-debug clean --all

Only files that inductor-debug wrote are removed, and never those of another project. The oldest go by themselves when
all artifacts of a project together take more than 1 GiB.

exit codes: 0, or 2 for bad usage and for files that could not be removed
"""


FAILURES = (ConfigurationError,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("--all", action="store_true", help="all of them, as far as nothing else is said")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    add_selection(parser)
    add_place(parser)


def run(arguments: argparse.Namespace) -> int:
    """Removes them; returns the exit code."""
    selection = selection_of(arguments)
    if not arguments.all and selection == Selection():
        return console.fail("say which artifacts to remove, for example --older-than 7d, or --all")
    store = store_of(arguments)
    cleaned = store.clean(selection, dry_run=arguments.dry_run)
    if arguments.dry_run:
        Output(None, utf8=False).write("".join(f"{printable(entry.path)}\n" for entry in cleaned.entries))
    verb = "would remove" if arguments.dry_run else "removed"
    console.say(f"{verb} {counted(len(cleaned.entries), 'artifact')}, {in_bytes(cleaned.bytes)}, in {store.folder}")
    for failed in cleaned.failures:
        console.say(f"not removed: {failed}")
    return 2 if cleaned.failures else 0
