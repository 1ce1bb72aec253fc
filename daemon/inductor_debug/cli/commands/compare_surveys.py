"""`inductor-debug survey compare`: what got worse between two surveys, and what got better."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict

from inductor_debug.cli.support.output import Output, add_output, styler
from inductor_debug.engine.survey.comparing_surveys import SurveyChange, SurveyDifference, difference_of, row_name
from inductor_debug.engine.survey.results_file import ResultsError, SurveyResults, read_results
from inductor_debug.report.cells import one_line
from inductor_debug.report.styles import Role
from inductor_debug.report.survey.survey_columns import fields_of
from inductor_debug.report.survey.survey_page import PageChanges, survey_page
from inductor_debug.report.survey.survey_summary import versions_of
from inductor_debug.rules.amounts import counted

DESCRIPTION = """\
Compares the results of two surveys, model by model: two versions of torch, two revisions, two days. What is computed is
compared exactly; what was measured only by what its repeats are sure of.
"""
EPILOG = """\
examples:
  inductor-debug survey-compare survey/quick.previous.jsonl survey/quick.jsonl      (or: survey compare …)
  inductor-debug survey-compare main.jsonl branch.jsonl --format markdown --fail-on-regressions

exit codes:
  0  compared; with --fail-on-regressions: nothing got worse
  1  with --fail-on-regressions: something did
  2  results that cannot be read
"""
FAILURES = (ResultsError,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("old", metavar="OLD", help="the results of the earlier survey")
    parser.add_argument("new", metavar="NEW", help="those of the later one")
    parser.add_argument("--fail-on-regressions", action="store_true", help="exit with 1 where something got worse")
    add_output(parser, ("text", "json", "markdown", "html"))


def run(arguments: argparse.Namespace) -> int:
    """Compares and prints; returns the exit code."""
    return told(read_results(arguments.old), read_results(arguments.new), arguments, arguments.fail_on_regressions)


def told(old: SurveyResults, new: SurveyResults, arguments: argparse.Namespace, failing: bool) -> int:
    """Prints what differs, in the format that is asked for; 1 where something got worse and that is `failing`."""
    output = Output(arguments.output, utf8=arguments.format != "text")
    found = difference_of(old, new)
    if arguments.format == "json":
        output.write(json.dumps({"schema": 1, **asdict(found)}, indent=1, ensure_ascii=False) + "\n")
    elif arguments.format == "html":
        output.write(page_of_both(old, new))
    else:
        style, mark = styler(arguments), "- " if arguments.format == "markdown" else ""
        for change in found.changes:
            line = f"{mark}{'worse' if change.worse else 'otherwise'}: {one_line(f'{change.name}: {change.text}')}"
            output.write((style.paint(line, Role.ERROR) if change.worse and not mark else line) + "\n")
        output.write("".join(f"{mark}{line}\n" for line in _alone(found)))
        output.write(f"{mark}{sentence_of(found)}\n{mark}before: {versions_of(old.header)}\n")
        output.write(f"{mark}after: {versions_of(new.header)}\n")
    output.commit()
    return int(failing and bool(found.regressions))


def page_of_both(old: SurveyResults, new: SurveyResults) -> str:
    """The page of the later survey, with what has changed since the earlier one."""
    return survey_page(new, _page_changes(old, new, difference_of(old, new)))


def sentence_of(found: SurveyDifference) -> str:
    """What it comes to: `12 rows compared: 1 worse, 3 otherwise`."""
    worse = len(found.regressions)
    return f"{counted(found.compared, 'row')} compared: {worse:,} worse, {len(found.changes) - worse:,} otherwise"


def _alone(found: SurveyDifference) -> Iterator[str]:
    yield from (f"only before: {one_line(name)}" for name in found.gone)
    yield from (f"only after: {one_line(name)}" for name in found.new)


def _page_changes(old: SurveyResults, new: SurveyResults, found: SurveyDifference) -> PageChanges:
    rows: dict[str, list[tuple[str, bool]]] = {}
    for change in found.changes:
        rows.setdefault(change.name, []).append((change.text, change.worse))
    before = {row_name(row): row for row in old.rows}
    fields = []
    for field in fields_of(new.rows):
        if field.kind not in ("count", "thousands", "bytes", "seconds", "times"):
            continue
        pairs = {
            name: (float(then), float(now))
            for row in new.rows
            if (name := row_name(row)) in before
            and isinstance(then := field.value(before[name]), (int, float))
            and isinstance(now := field.value(row), (int, float))
        }
        fields.append((field.label, field.kind, pairs))
    lines = [*map(_line, found.regressions), *((line, False) for line in _alone(found))]
    return PageChanges(sentence_of(found), lines, rows, fields)


def _line(change: SurveyChange) -> tuple[str, bool]:
    return f"{change.name}: {change.text}", change.worse
