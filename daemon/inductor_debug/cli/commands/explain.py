"""`inductor-debug explain`: a rule's page, a kind of graph break, an accelerator's page, or the list of all rules.

On a terminal the page is laid out for reading; into a pipe or a file it goes as the Markdown it is written in.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys

from inductor_debug.accelerators.constraints import RULE_MARK
from inductor_debug.accelerators.profile import ProfileError, read_profile
from inductor_debug.cli.support.output import Output, add_colour, styler
from inductor_debug.engine.settings.accelerator_registry import Accelerators
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, SettingsResolver
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.markdown import render
from inductor_debug.report.text.profile_page import profile_page
from inductor_debug.rules.registry import UnknownRuleError, all_rules, find
from inductor_debug.rules.words.break_kinds import page_of
from inductor_debug.rules.words.break_words import explanation_of

_WIDEST = 100
DESCRIPTION = (
    "Prints a rule's page: what it means, why, an example, how to fix it and how to silence it; or what is known of an "
    "accelerator."
)
EPILOG = """\
examples:
  inductor-debug explain                 all rules, one a line
  inductor-debug explain alignment       what it means, why, how to fix it, how to silence it
  inductor-debug explain GB0264          what a graph break of torch's registry is
  inductor-debug explain --accelerator spyre
                                         its dtypes, memory and operators, and what they were read in

exit codes: 0, or 2 if there is no such rule or accelerator
"""


_KIND = re.compile(r"gb\d+", re.IGNORECASE)
"""An id of torch's registry."""
FAILURES = (UnknownRuleError, ProfileError, ConfigurationError)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument(
        "rule", metavar="RULE", nargs="?", help="a rule's id, as in warning[dtype], or that of a kind of graph break"
    )
    parser.add_argument("--accelerator", metavar="NAME", help="what is known of an accelerator, by name or TOML file")
    add_colour(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the page or the list; returns the exit code."""
    colours = styler(arguments)
    pages = [] if arguments.rule is None else [_of_rule(arguments.rule.strip())]
    if arguments.accelerator is not None:
        registry, interpreter = _registry()
        pages.append(profile_page(read_profile(registry.document(arguments.accelerator, interpreter))))
    shown = "\n".join(_page(text, colours) for text in pages) if pages else _overview(colours)
    Output(None, utf8=False).write(shown)
    return 0


def _page(text: str, styler: Styler) -> str:
    plain = not styler.enabled and not sys.stdout.isatty()
    return text if plain else render(text, styler, _width())


def _of_rule(rule: str) -> str:
    """The page of a rule, ours or one that an installed adapter brings along, or what a kind of graph break is.

    Raises:
        UnknownRuleError: there is none.
    """
    if said := explanation_of(rule.upper()):
        kind = rule.upper()
        return f"# {kind}: a kind of graph break\n\n{said}\n\n[torch on {kind}]({page_of(kind)})\n"
    if _KIND.fullmatch(rule):
        raise UnknownRuleError(f"no {rule.upper()} is known here among the graph breaks of torch's registry")
    if RULE_MARK not in rule:
        return find(rule.lower()).page.text
    registry, interpreter = _registry()
    page = registry.rule_page(rule, interpreter)
    if page is None:
        raise UnknownRuleError(f"no installed accelerator has a rule {rule!r}; `inductor-debug accelerators` lists all")
    return page


def _registry() -> tuple[Accelerators, str]:
    """The accelerators, and the interpreter that runs the models of the project here."""
    resolver = SettingsResolver(environ=os.environ)
    return resolver.accelerators, resolver(os.path.join(os.getcwd(), "untitled.py")).interpreter


def _overview(styler: Styler) -> str:
    rules = all_rules()
    widest = max(len(rule.id) for rule in rules)
    return "".join(f"{styler.paint(rule.id.ljust(widest), Role.PLACE)}  {rule.summary}\n" for rule in rules)


def _width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDEST)
