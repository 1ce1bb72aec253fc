"""The commands that there are, and what is said of them: for the command line, its completion, and the manual page.

Imports nothing but the standard library: the page is made while a package is built.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from inductor_debug import __version__
from inductor_debug.cli.support import console


@dataclass(frozen=True, slots=True)
class Subcommand:
    """Where a subcommand lives, and what the overview says of it."""

    module: str
    summary: str


COMMANDS = {
    "check": Subcommand("inductor_debug.cli.commands.check", "analyse files or folders and print findings"),
    "diff": Subcommand("inductor_debug.cli.commands.diff", "does a backend compute what the model means?"),
    "compare-accelerators": Subcommand(
        "inductor_debug.cli.commands.compare_accelerators", "judge one capture for several accelerators, side by side"
    ),
    "accelerators": Subcommand(
        "inductor_debug.cli.commands.list_accelerators", "list the accelerators that there are, built in and installed"
    ),
    "list-backends": Subcommand(
        "inductor_debug.cli.commands.upkeep.list_backends",
        "list what models can be compiled and compared with, and what some of it lacks here",
    ),
    "explain": Subcommand("inductor_debug.cli.commands.explain", "say what a rule means and what to do about it"),
    "graph": Subcommand("inductor_debug.cli.commands.graph", "show the graphs that are captured of a target"),
    "tensors": Subcommand("inductor_debug.cli.commands.tensors", "list the tensors that are alive at a line"),
    "analyze": Subcommand(
        "inductor_debug.cli.commands.analyze", "sum up a target: statistics, guards, costs, memory, sizes, compile time"
    ),
    "profile": Subcommand(
        "inductor_debug.cli.commands.measured.profile_run",
        "time real steps by kernel and by expression, or read a recorded trace",
    ),
    "debug": Subcommand(
        "inductor_debug.cli.commands.measured.debug_run",
        "write what a debugger can stop in: graphs and Inductor's code, eager beside compiled",
    ),
    "report": Subcommand(
        "inductor_debug.cli.commands.report", "check, and put what was found into one page to pass on"
    ),
    "list": Subcommand("inductor_debug.cli.commands.upkeep.listing", "list the artifacts that were kept"),
    "clean": Subcommand("inductor_debug.cli.commands.upkeep.clean", "remove artifacts that were kept"),
    "serve": Subcommand("inductor_debug.cli.commands.serve", "run the language server that editors start"),
    "watch": Subcommand(
        "inductor_debug.cli.commands.watch", "run the daemon headless and show findings after every save"
    ),
    "ui": Subcommand(
        "inductor_debug.cli.commands.ui", "show the editor's pages in a browser, live while files are saved"
    ),
    "repro": Subcommand(
        "inductor_debug.cli.commands.repro", "make a minimal script that shows a finding, and prove it"
    ),
    "bisect": Subcommand("inductor_debug.cli.commands.bisect", "find the layer of the compiler that goes wrong"),
    "suggest": Subcommand("inductor_debug.cli.commands.suggest", "try what makes a model faster, or need less memory"),
    "transfers": Subcommand("inductor_debug.cli.commands.transfers", "log what crosses between host and accelerator"),
    "bug-report": Subcommand(
        "inductor_debug.cli.commands.bug_report", "put everything that an issue needs into one zip"
    ),
    "survey": Subcommand(
        "inductor_debug.cli.commands.survey", "look at many models and put a row for each into a table"
    ),
    "survey-compare": Subcommand(
        "inductor_debug.cli.commands.compare_surveys", "say what got worse between two surveys (also: survey compare)"
    ),
    "doctor": Subcommand(
        "inductor_debug.cli.commands.upkeep.doctor", "say what is found, what is missing, and what to do about it"
    ),
    "demo": Subcommand(
        "inductor_debug.cli.commands.upkeep.demo", "go from findings to a report with a small model, in six steps"
    ),
    "mcp": Subcommand("inductor_debug.cli.commands.mcp", "serve coding agents: check, diff, bisect … as their tools"),
    "completion": Subcommand(
        "inductor_debug.cli.commands.upkeep.completion", "print what completes commands and options in your shell"
    ),
    "bench": Subcommand("inductor_debug.cli.commands.bench", "measure the speed that we promise (in a checkout)"),
}

DESCRIPTION = "Says whether PyTorch models compile and run on an accelerator, and which expression is to blame if not."
EPILOG = """\
examples:
  inductor-debug check model.py                       findings with source lines
  inductor-debug check src --accelerator spyre        a folder, for another accelerator
  inductor-debug check src --format sarif -o out.sarif
  inductor-debug explain dtype

exit codes:
  0  nothing at or above the failing severity
  1  findings
  2  bad usage or configuration, an unreadable path, or a target that could not be analysed
"""


class CommandModule(Protocol):
    """What the module of a subcommand offers."""

    DESCRIPTION: str
    """What `--help` says first."""
    EPILOG: str
    """What it says last: examples, exit codes."""
    FAILURES: tuple[type[Exception], ...]
    """Errors of other rooms that end the command with their message, as a `CommandError` does."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds all arguments."""
        ...

    def run(self, arguments: argparse.Namespace) -> int:
        """Does it; returns the exit code."""
        ...


def module_of(name: str) -> CommandModule:
    """The module of a command, imported now."""
    return cast("CommandModule", importlib.import_module(COMMANDS[name].module))


def carry_out(name: str, words: Sequence[str]) -> int:
    """Runs the command `name` as these words, of which it is one, ask for; why it cannot goes to standard error.

    Returns:
        The exit code.

    Raises:
        InterruptedRunError: Ctrl-C or a polite kill.
        SystemExit: from argparse, after `--help` (code 0) and for bad usage (code 2).
    """
    module = module_of(name)
    arguments = parser_of({name: module}).parse_args(words)
    failures: tuple[type[Exception], ...] = (console.CommandError, *module.FAILURES)
    try:
        return module.run(arguments)
    except failures as error:
        return console.fail(str(error))


def parser_of(modules: Mapping[str, CommandModule]) -> argparse.ArgumentParser:
    """The parser of the command line, with the arguments of those commands whose modules there are."""
    parser = argparse.ArgumentParser(
        prog="inductor-debug",
        usage="inductor-debug [-h] [--version] COMMAND ...",
        description=f"{DESCRIPTION}\n\n{_overview()}",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"inductor-debug {__version__}")
    subparsers = parser.add_subparsers(dest="command", prog="inductor-debug", help=argparse.SUPPRESS)
    for command, known in COMMANDS.items():
        if (module := modules.get(command)) is None:
            subparsers.add_parser(command, add_help=False)
            continue
        module.add_arguments(
            subparsers.add_parser(
                command,
                help=known.summary,
                description=module.DESCRIPTION,
                epilog=module.EPILOG,
                formatter_class=argparse.RawDescriptionHelpFormatter,
                allow_abbrev=False,
            )
        )
    return parser


def _overview() -> str:
    """Every command in a line; argparse would break the lines of the longer names."""
    width = max(map(len, COMMANDS))
    return "\n".join(["commands:", *(f"    {name:{width}}  {known.summary}" for name, known in COMMANDS.items())])
