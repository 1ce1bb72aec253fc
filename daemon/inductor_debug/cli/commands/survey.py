"""`inductor-debug survey`: many models in one table, in a file of results that grows while it runs."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from inductor_debug_schema import Severity

from inductor_debug.cli.support import console
from inductor_debug.cli.support.check_arguments import STAGES
from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.file_arguments import collect
from inductor_debug.cli.support.output import Output, add_output, styler, write_whole
from inductor_debug.cli.support.running.cluster_arguments import add_cluster, cluster_of
from inductor_debug.cli.support.running.run_arguments import add_jobs, add_python, count, jobs_of, located, seconds
from inductor_debug.cli.support.survey_running import SurveyPlan, settings_like
from inductor_debug.cli.support.survey_running import run as run_survey
from inductor_debug.cluster.cluster_errors import ClusterError
from inductor_debug.engine.pool import supervisor
from inductor_debug.engine.pool.asking_libraries import LibraryError, ask_library
from inductor_debug.engine.selection.folder import choose
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, SettingsResolver
from inductor_debug.engine.survey.model_survey import Measuring, SurveyOptions
from inductor_debug.engine.survey.results_file import ResultsError, ResultsFile, SurveyResults, read_results
from inductor_debug.engine.survey.suites import SuiteError, built_in_suites, read_suite
from inductor_debug.engine.survey.survey_models import SurveyModel, models_of_suite, narrowed
from inductor_debug.report.data_pages import PageError
from inductor_debug.report.survey.survey_columns import failed

DESCRIPTION = """\
Looks at many models, each in a process of its own, without weights and without the accelerator, and puts one row for
each into a table: what was found by rule, graphs, breaks and what compiles again, operations, bytes, parameters, peak
memory, and what accelerators make of them. On request it also measures and compares: in columns of their own.
"""
EPILOG = """\
examples:
  inductor-debug survey --suite quick                            four models, a table and a page
  inductor-debug survey models --accelerators h100,spyre         a folder, judged for two accelerators
  inductor-debug survey KernelBench/level1 --limit 50            problems of KernelBench as they are
  inductor-debug survey --suite transformers --resume            go on where the last one ended
  inductor-debug survey --suite transformers --cluster tcp://head:8786    on a Dask cluster
  inductor-debug survey --suite quick --measure --diff --backends inductor
  inductor-debug survey survey/quick.jsonl --format csv          results that were kept, in another form
  inductor-debug survey compare old.jsonl new.jsonl              what got worse
  inductor-debug survey --suite quick --against ../torch-2.12/bin/python    the same from one torch to another

Rows go to FOLDER/NAME.jsonl as they come; Ctrl-C and models that crash lose nothing that was done. What was there
before is kept beside it as NAME.previous.jsonl. At the end a page is written beside it, NAME.html.

A suite is a TOML file that names files, or architectures of transformers, timm or torchvision, which are built from
their configurations. With --measure one model runs at a time, on a cluster one on each worker.

exit codes:
  0    every model was analysed, with no finding at or above the failing severity (warning; error with --warn)
  1    findings; with --against: something got worse from that interpreter to this one
  2    bad usage or configuration, or a model that could not be analysed
  130  interrupted
"""
FAILURES = (ConfigurationError, ClusterError, SuiteError, LibraryError, ResultsError, PageError, OSError)
FORMATS = ("text", "json", "csv", "markdown", "html")
SUFFIX = ".jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, folders, or one file of results")
    group = parser.add_argument_group("which models")
    group.add_argument(
        "--suite",
        metavar="NAME|FILE.toml",
        help=f"models that belong together: {', '.join(built_in_suites())}, or yours",
    )
    group.add_argument(
        "--filter", metavar="REGEX", type=_pattern, default="", help="only models whose name or tag it is found in"
    )
    group.add_argument("--limit", metavar="N", type=count, default=0, help="at most so many")
    group.add_argument("--resume", action="store_true", help="go on with the file of results that is there")
    group = parser.add_argument_group("what to look at")
    group.add_argument(
        "--stages", metavar="STAGE,...", type=_stages, help=f"how deep: {', '.join(STAGES)} (default: preview,mock)"
    )
    group.add_argument(
        "--accelerators",
        metavar="NAME|FILE.toml,...",
        type=_names,
        default=[],
        help="a column each (default: the chosen one)",
    )
    group.add_argument("--train", action="store_true", help="with the backward pass (adds the stage aot)")
    group.add_argument(
        "--measure", action="store_true", help="compile and run each model on this machine, beside eager"
    )
    group.add_argument(
        "--graphs", action="store_true", help="a page with the graphs of each model, which its row opens"
    )
    group.add_argument("--diff", action="store_true", help="compare each model's numbers with eager's (KernelDiff)")
    group.add_argument(
        "--backends",
        metavar="NAME,...",
        type=_names,
        default=["inductor"],
        help="what --measure and --diff are about (default: inductor)",
    )
    group.add_argument(
        "--repeats", metavar="N", type=count, default=20, help="runs that are timed at least (default: %(default)s)"
    )
    group.add_argument(
        "--compiles",
        metavar="N",
        type=count,
        default=1,
        help="cold compilations that are timed (default: %(default)s)",
    )
    group = parser.add_argument_group("how it is run")
    add_python(group)
    group.add_argument(
        "--against",
        metavar="INTERPRETER",
        help="survey the same with this one first, and say what differs: two torches",
    )
    add_jobs(group, "models")
    group.add_argument("--timeout", metavar="S", type=seconds, help="seconds that one model may take")
    group.add_argument("--config", metavar="FILE", help="a TOML file in place of the nearest pyproject.toml")
    add_cluster(parser.add_argument_group("where"))
    group = parser.add_argument_group("output")
    group.add_argument("--folder", metavar="FOLDER", default="survey", help="where results go (default: %(default)s)")
    group.add_argument("--name", metavar="NAME", help="what the survey and its files are called (default: the suite)")
    group.add_argument("--no-page", action="store_true", help="write no page beside the results")
    group.add_argument("--plots", metavar="FOLDER", help="write the page's charts there, as SVG and PNG")
    group.add_argument("--warn", action="store_true", help="only errors fail the command")
    add_output(group, FORMATS)
    amount = group.add_mutually_exclusive_group()
    amount.add_argument("-v", "--verbose", action="store_true", help="name everything that was not checked")
    amount.add_argument("-q", "--quiet", action="store_true", help="no progress and no remarks")


def run(arguments: argparse.Namespace) -> int:
    """Surveys, or shows results that were kept; returns the exit code."""
    kept = [path for path in arguments.paths if path.endswith(SUFFIX)]
    if kept and (len(arguments.paths) > 1 or arguments.suite):
        raise CommandError(f"{kept[0]}: results that were kept are shown by themselves")
    if arguments.against:
        return _in_both(arguments, kept)
    output = Output(arguments.output, utf8=arguments.format != "text")
    if kept:
        path = Path(kept[0])
        results = read_results(path)
    else:
        path = _surveyed(arguments)
        results = read_results(path)
    if not kept and not arguments.no_page:
        page = path.with_suffix(".html")
        write_whole(str(page), rendered(results, "html", arguments))
        if not arguments.quiet:
            console.say(f"the page is {page}")
    if arguments.plots:
        _plot(results, arguments.plots)
    output.write(rendered(results, arguments.format, arguments))
    output.commit()
    return exit_code(results, Severity.ERROR if arguments.warn else Severity.WARNING)


def _in_both(arguments: argparse.Namespace, kept: Sequence[str]) -> int:
    """Surveys the same with two interpreters, and tells what got worse from the first to the second."""
    from inductor_debug.cli.commands.compare_surveys import page_of_both, told

    if kept or arguments.format == "csv" or arguments.plots:
        raise CommandError("--against surveys and compares: without kept results, --plots and --format csv")
    name = arguments.name or _name(arguments)
    first = argparse.Namespace(**{**vars(arguments), "python": arguments.against, "name": f"{name}.against"})
    before, path = read_results(_surveyed(first)), _surveyed(arguments)
    after = read_results(path)
    if not arguments.no_page:
        page = path.with_suffix(".html")
        write_whole(str(page), page_of_both(before, after))
        if not arguments.quiet:
            console.say(f"the page is {page}")
    return told(before, after, arguments, failing=True)


def exit_code(results: SurveyResults, failing: Severity) -> int:
    """As that of `check`."""
    if any(map(failed, results.rows)):
        return 2
    return int(any(found.severity.rank <= failing.rank for row in results.rows for found in row.findings))


def rendered(results: SurveyResults, form: str, arguments: argparse.Namespace) -> str:
    """The results in one of the formats, whose module is imported only where it is asked for."""
    if form == "json":
        from inductor_debug.report.survey.survey_documents import survey_json

        return survey_json(results)
    if form == "csv":
        from inductor_debug.report.survey.survey_documents import survey_csv

        return survey_csv(results)
    if form == "html":
        from inductor_debug.report.survey.survey_page import survey_page

        return survey_page(results)
    from inductor_debug.report.survey.survey_text import survey_markdown, survey_text

    if form == "markdown":
        return survey_markdown(results)
    return survey_text(results, styler(arguments), verbose=arguments.verbose)


def _plot(results: SurveyResults, folder: str) -> None:
    from inductor_debug.report.survey.survey_charts import survey_charts

    for name, content in survey_charts(results):
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _surveyed(arguments: argparse.Namespace) -> Path:
    """Runs the survey; the file of its results."""
    if not arguments.paths and not arguments.suite:
        raise CommandError(f"name files or folders, or --suite: {', '.join(built_in_suites())}, or a file of yours")
    options = _options(arguments)
    settings = SettingsResolver(command_line=_said(arguments), environ=os.environ)
    models = narrowed(_models(arguments, settings), arguments.filter, arguments.limit)
    if not models:
        raise CommandError("no models" + (f" fit --filter {arguments.filter}" if arguments.filter else " were found"))
    chosen = (settings.name_of(models[0].paths[0], said, folder=os.getcwd()) for said in options.accelerators)
    options = replace(options, accelerators=tuple(dict.fromkeys(chosen)))
    name = arguments.name or _name(arguments)
    named = [path for model in models for path in model.paths]
    place = cluster_of(arguments, settings, named, options, settings_like(settings))
    file = ResultsFile(Path(arguments.folder) / f"{name}{SUFFIX}", resume=arguments.resume)
    if file.previous is not None and not arguments.quiet:
        console.say(f"the results that were there are kept as {file.previous}")
    jobs = 1 if options.measuring is not None else jobs_of(arguments)
    plan = SurveyPlan(name, models, options, settings, file, jobs, supervisor.WorkerPool, arguments.quiet, place)
    try:
        run_survey(plan)
    finally:
        if not arguments.quiet:
            console.say(f"results are in {file.path}")
    return file.path


def _models(arguments: argparse.Namespace, settings: SettingsResolver) -> Iterator[SurveyModel]:
    if arguments.suite:
        suite = read_suite(arguments.suite)
        interpreter = settings(os.getcwd()).interpreter
        if not arguments.quiet:
            console.say(f"suite {suite.name}: {suite.title}")
        folder = Path(arguments.folder).resolve()
        ask = partial(ask_library, interpreter)
        yield from models_of_suite(suite, folder, ask, arguments.filter)
    if arguments.paths:
        found = collect(arguments.paths, lambda path: settings(path).excludes(path))
        for candidate, skip in choose(found, settings):
            if skip is None:
                problem = candidate.problem or ""
                yield SurveyModel(candidate.shown.replace(os.sep, "/"), (candidate.path,), problem=problem)


def _options(arguments: argparse.Namespace) -> SurveyOptions:
    asked = {
        "stages": ",".join(arguments.stages or ()),
        "accelerators": ",".join(arguments.accelerators),
        "train": "yes" if arguments.train else "",
        "measure": f"{arguments.repeats} repeats, {arguments.compiles} compiles" if arguments.measure else "",
        "diff": "yes" if arguments.diff else "",
        "graphs": "yes" if arguments.graphs else "",
        "backends": ",".join(arguments.backends) if arguments.measure or arguments.diff else "",
    }
    return SurveyOptions(
        asked={name: value for name, value in asked.items() if value},
        accelerators=tuple(arguments.accelerators),
        backends=tuple(arguments.backends) if arguments.measure or arguments.diff else (),
        measuring=Measuring(arguments.repeats, compiles=arguments.compiles) if arguments.measure else None,
        compares=arguments.diff,
        training=arguments.train,
        draws=arguments.graphs,
        timeout=arguments.timeout,
    )


def _said(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the command line says of settings; None where it is silent."""
    stages = arguments.stages
    if arguments.train and "aot" not in (stages or ()):
        stages = [*(stages or ("preview", "mock")), "aot"]
    return {
        "stages": stages,
        "timeout": arguments.timeout,
        "interpreter": located(arguments.python),
        "config": arguments.config,
        "artifacts": "off",
    }


def _name(arguments: argparse.Namespace) -> str:
    said = Path(arguments.suite).stem if arguments.suite else Path(os.path.abspath(arguments.paths[0])).stem
    return re.sub(r"[^\w.-]+", "_", said) or "survey"


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text} is no regular expression: {error}") from None
    return text


def _stages(text: str) -> list[str]:
    stages = _names(text)
    for stage in stages:
        if stage not in STAGES:
            raise argparse.ArgumentTypeError(f"unknown stage {stage!r}; there are {', '.join(STAGES)}")
    return stages


def _names(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("nothing is named")
    return names
