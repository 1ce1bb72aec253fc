"""`inductor-debug completion`: prints what completes commands, options and files in a shell."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.subcommands import COMMANDS, module_of, parser_of

DESCRIPTION = """\
Prints a script for your shell, which then completes commands, options, their values, and files. It is made of what the
commands take, by shtab: pip install "inductor-debug[completion]".
"""
EPILOG = """\
examples:
  inductor-debug completion bash > ~/.local/share/bash-completion/completions/inductor-debug
  inductor-debug completion zsh > ~/.zfunc/_inductor-debug       (and `fpath+=~/.zfunc` before `compinit`)
  inductor-debug completion fish > ~/.config/fish/completions/inductor-debug.fish
"""
FAILURES = ()
SHELLS = ("bash", "zsh", "fish", "tcsh")
_FILES = ("FILE", "PATH", "DIR", "INTERPRETER")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("shell", choices=SHELLS)


def run(arguments: argparse.Namespace) -> int:
    """Prints it; returns the exit code.

    Raises:
        CommandError: shtab is not installed.
    """
    try:
        shtab: Any = importlib.import_module("shtab")
    except ImportError:
        raise CommandError('completion is made by shtab: pip install "inductor-debug[completion]"') from None
    parser = parser_of({name: module_of(name) for name in COMMANDS})
    _complete_files(parser, shtab.FILE)
    print(shtab.complete(parser, arguments.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser, files: Any) -> None:
    """Tells shtab which arguments are files: those that are called so."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.help = "command"  # what is suppressed is not completed
            for command in action.choices.values():
                _complete_files(command, files)
        elif action.choices is None and any(name in str(action.metavar) for name in _FILES):
            action.complete = files  # type: ignore[attr-defined] # shtab's own way
