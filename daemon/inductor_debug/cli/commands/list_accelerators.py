"""`inductor-debug accelerators`: what models can be checked for, where each was found, and what of it does not work."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator

from inductor_debug_schema import AcceleratorEntry, AcceleratorKind, AcceleratorList, to_wire

from inductor_debug.cli.support.output import Output, add_output
from inductor_debug.cli.support.running.run_arguments import located
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, SettingsResolver
from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames

DESCRIPTION = """\
Lists the accelerators that models can be checked for, compared on and reproduced for: those that come with the tool,
and the adapters that are installed beside torch, each with its package and where it was found. What an adapter raises
when it is loaded is told with it. A profile of your own needs no list: give its path, `--accelerator my-device.toml`.
"""
EPILOG = """\
examples:
  inductor-debug accelerators                         built in, and installed beside this Python's torch
  inductor-debug accelerators --python .venv/bin/python --format json

exit codes: 0, also where an adapter is broken; 2 for bad usage or configuration
"""
FAILURES = (ConfigurationError,)
SCHEMA = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("--python", metavar="INTERPRETER", help="the Python that has torch (default: the project's)")
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the list; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    resolver = SettingsResolver(command_line={"interpreter": located(arguments.python)}, environ=os.environ)
    found = resolver.accelerators.listed(resolver(os.path.join(os.getcwd(), "untitled.py")).interpreter)
    output = Output(arguments.output, utf8=arguments.format != "text" or arguments.output is not None)
    if arguments.format == "json":
        output.write(json.dumps({"schema": SCHEMA, **to_wire(found)}, indent=2) + "\n")
    else:
        output.write("".join(f"{printable(line)}\n" for line in _lines(found)))
    output.commit()
    return 0


def _lines(found: AcceleratorList) -> Iterator[str]:
    places = FileNames(os.getcwd(), os.getcwd())
    width = max((len(entry.name) for entry in found.accelerators), default=0)
    for entry in found.accelerators:
        if entry.kind is AcceleratorKind.BUILT_IN:
            yield f"{entry.name:<{width}}  {entry.title}"
            continue
        yield f"{entry.name:<{width}}  {_origin(entry)}"
        about = [entry.title, f"found in {places.shown(entry.place)}" if entry.place else ""]
        about += [f"hooks of its own: {', '.join(entry.hooks)}" if entry.hooks else ""]
        about += [f"rules of its own: {', '.join(entry.rules)}" if entry.rules else "", entry.problem]
        yield from (f"{' ' * width}  {words}" for words in about if words)


def _origin(entry: AcceleratorEntry) -> str:
    package = f" with {entry.distribution} {entry.version}" if entry.distribution else ""
    return f"installed{package}" + (", BROKEN" if entry.problem else "")
