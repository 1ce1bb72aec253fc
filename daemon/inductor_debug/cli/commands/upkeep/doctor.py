"""`inductor-debug doctor`: what is found, what is missing, and what to do about it, in ten lines."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict

from inductor_debug.cli.support.health import Doctor, Health, HealthLine
from inductor_debug.cli.support.output import Output, add_output, styler
from inductor_debug.cli.support.running.run_arguments import located
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, SettingsResolver
from inductor_debug.report.cells import printable
from inductor_debug.report.styles import Role, Styler

DESCRIPTION = """\
Looks at all that a check needs: the settings, the interpreter, torch, and whether a small model can in fact be
checked; and at what else there may be: an accelerator, Triton, a C++ compiler, libraries, the cache, editors. Nothing
is changed.
"""
EPILOG = """\
examples:
  inductor-debug doctor                               for the project of this folder
  inductor-debug doctor --python .venv/bin/python     with another interpreter
  inductor-debug doctor --format json -o doctor.json  to send along

exit codes: 0 where models can be checked; 2 where not
"""
FAILURES = (ConfigurationError,)
SCHEMA = 1
_ROLES = {Health.GOOD: Role.GOOD, Health.ABSENT: Role.WARNING, Health.BROKEN: Role.ERROR}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("--python", metavar="INTERPRETER", help="the Python that has torch (default: the project's)")
    parser.add_argument("--config", metavar="FILE", help="a TOML file in place of the nearest pyproject.toml")
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Looks, and says it line by line; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    said = {"interpreter": located(arguments.python), "config": arguments.config}
    doctor = Doctor(SettingsResolver(command_line=said, environ=os.environ), os.getcwd())
    output = Output(arguments.output, utf8=arguments.format != "text" or arguments.output is not None)
    colours = styler(arguments)
    lines = []
    for line in doctor.lines():
        lines.append(line)
        if arguments.format == "text":
            output.write(_text(line, colours))
    if arguments.format == "json":
        output.write(json.dumps({"schema": SCHEMA, "lines": [asdict(line) for line in lines]}, indent=2) + "\n")
    output.commit()
    return 2 if any(line.health is Health.BROKEN for line in lines) else 0


def _text(line: HealthLine, colours: Styler) -> str:
    """`ok      torch        2.13.0+cpu`; what to do stands below."""
    head = f"{colours.paint(f'{line.health.value:<7}', _ROLES[line.health])} {line.name:<12} {printable(line.found)}\n"
    return head + (f"{'':21}→ {printable(line.do)}\n" if line.do else "")
