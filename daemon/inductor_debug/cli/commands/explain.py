"""`inductor-debug explain`: a rule's page, or the list of all rules.

On a terminal the page is laid out for reading; into a pipe or a file it goes as the Markdown it is written in.
"""

from __future__ import annotations

import argparse
import shutil
import sys

from inductor_debug.cli.support.output import Output, add_colour, styler
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.markdown import render
from inductor_debug.rules.registry import UnknownRuleError, all_rules, find

_WIDEST = 100
DESCRIPTION = "Prints a rule's page: what it means, why, an example, how to fix it and how to silence it."
EPILOG = """\
examples:
  inductor-debug explain                 all rules, one a line
  inductor-debug explain alignment       what it means, why, how to fix it, how to silence it

exit codes: 0, or 2 if there is no such rule
"""


FAILURES = (UnknownRuleError,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("rule", metavar="RULE", nargs="?", help="a rule's id, as in warning[dtype]")
    add_colour(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the page or the list; returns the exit code."""
    colours = styler(arguments)
    Output(None, utf8=False).write(_overview(colours) if arguments.rule is None else _page(arguments.rule, colours))
    return 0


def _page(rule: str, styler: Styler) -> str:
    text = find(rule.strip().lower()).page.text
    plain = not styler.enabled and not sys.stdout.isatty()
    return text if plain else render(text, styler, _width())


def _overview(styler: Styler) -> str:
    rules = all_rules()
    widest = max(len(rule.id) for rule in rules)
    return "".join(f"{styler.paint(rule.id.ljust(widest), Role.PLACE)}  {rule.summary}\n" for rule in rules)


def _width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDEST)
