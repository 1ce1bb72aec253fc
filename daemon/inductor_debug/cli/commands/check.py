"""`inductor-debug check`: files in, a report and an exit code out.

The second face of the engine, beside the language server: it reads the command line, runs the engine over the files and
hands what comes back to a report. What is analysed and how severe a finding is, the engine decides.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from typing import Any

from inductor_debug_schema import DiffOptions, FileStatus, Severity

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.cli.support import baseline as baselines
from inductor_debug.cli.support import console
from inductor_debug.cli.support.batch_runner import BatchPlan, remark_on
from inductor_debug.cli.support.batch_runner import run as run_files
from inductor_debug.cli.support.check_arguments import DESCRIPTION, EPILOG, add_arguments, said_of_entries
from inductor_debug.cli.support.file_arguments import FolderFile, PathError, collect
from inductor_debug.cli.support.fixing import Differences, asked_for, say, sum_up
from inductor_debug.cli.support.formats import ReportView, renderer
from inductor_debug.cli.support.output import Output, require_writable, styler, write_whole
from inductor_debug.cli.support.running.beside import COMPARISON_SECONDS, Beside
from inductor_debug.cli.support.running.cluster_arguments import cluster_of
from inductor_debug.cli.support.running.run_arguments import jobs_of, located
from inductor_debug.cli.support.size_arguments import require_sizes
from inductor_debug.cluster.cluster_errors import ClusterError
from inductor_debug.engine.orders.comparing import diff_order
from inductor_debug.engine.orders.outcomes import NO_TARGET
from inductor_debug.engine.pool import supervisor
from inductor_debug.engine.results.target_coverage import shared
from inductor_debug.engine.selection.folder import choose
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, SettingsResolver
from inductor_debug.report.file_names import FileNames, repository_root
from inductor_debug.report.run_report import (
    BaselineUse,
    CheckedFile,
    CheckResult,
    ExitCode,
    SkippedFile,
    Tool,
    summary,
)
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.unchecked_classes import coverage_lines

__all__ = ["DESCRIPTION", "EPILOG", "FAILURES", "add_arguments", "run"]

FAILURES = (ConfigurationError, ClusterError, ProfileError)
_TORCH_LOGS = "TORCH_LOGS"
_NO_COSTS = (
    "--max-growth compares with a baseline that has costs: --baseline FILE, written by check --write-baseline FILE "
    "with an accelerator whose speed is known (--accelerator h100)"
)


def run(arguments: argparse.Namespace) -> int:
    """Checks what the command line names; returns the exit code.

    Raises:
        BrokenPipeError: the reader of standard output went away.
    """
    return _Check(arguments).run()


class _Check:
    """One run of the command."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        logs = os.environ.get(_TORCH_LOGS, "") if _shows_logs(arguments) else ""
        self._settings_for = SettingsResolver(
            command_line=_said(arguments), environ=os.environ, sizes=arguments.sizes, torch_logs=logs
        )
        self._files: list[CheckedFile] = []
        self._skipped: list[SkippedFile] = []
        self._started = time.perf_counter()
        self._moment = datetime.now(timezone.utc)

    def run(self) -> int:
        arguments = self._arguments
        working_folder = _working_folder()
        known, renewed = self._baselines()
        candidates = self._candidates()
        output = Output(arguments.output, utf8=arguments.format != "text")
        given = {candidate.path: candidate.shown for candidate in candidates}
        places = FileNames(working_folder, repository_root(working_folder), given)
        report = Differences() if arguments.diff else renderer(self._view(), places)
        # A new baseline knows everything, so its files can only be shown after the last one.
        # So must a size be known to be one before anything is said of it.
        streaming = arguments.write_baseline is None and not arguments.sizes

        def on_file(file: CheckedFile) -> None:
            shown = known.apply(file) if known is not None else file
            if known is not None and arguments.max_growth is not None:
                shown = known.grown(shown, arguments.max_growth)
            self._files.append(shown)
            self._remark(shown)
            if streaming:
                output.write(report.file(shown))

        tool = self._analyse(candidates, on_file)
        reports = shared([file.report for file in self._files])
        self._files = [replace(file, report=report) for file, report in zip(self._files, reports, strict=True)]
        require_sizes(arguments.sizes, [file.report for file in self._files])
        if known is not None and arguments.max_growth is not None:
            known.require_compared(self._files)
        use = self._use(known, renewed)
        if not streaming:
            for file in self._files:
                output.write(report.file(file))
        result = self._result(tool, use)
        output.write(report.end(result))
        output.commit()
        if not arguments.quiet:
            remark_on(tool)
        fixed = [file.fixed for file in self._files if file.fixed is not None]
        if fixed and not arguments.quiet and (left_out := sum_up(fixed)):
            console.say(left_out)
        if arguments.diff:
            return int(ExitCode.FINDINGS if any(file.fixes for file in fixed) else ExitCode.CLEAN)
        if not arguments.quiet and (arguments.output or arguments.format not in ("text", "github", "llm")):
            for line in (summary(result), *coverage_lines(result.files, ShownTexts())):
                console.say(line)
        return int(result.exit_code())

    def _candidates(self) -> list[FolderFile]:
        """The files to check. Their settings are resolved here, so that a mistake in one is told before any work."""
        found = collect(self._arguments.paths, lambda path: self._settings_for(path).excludes(path))
        if self._arguments.models_only:
            found = [replace(file, folder=file.folder or _working_folder()) for file in found]
        candidates = []
        for candidate, skip in choose(found, self._settings_for):
            if skip is None:
                candidates.append(candidate)
            else:
                self._skipped.append(SkippedFile(candidate.shown, candidate.path, skip))
        if not found and not self._arguments.quiet:
            console.say("no Python files in " + ", ".join(self._arguments.paths))
        return candidates

    def _baselines(self) -> tuple[baselines.Baseline | None, baselines.Baseline | None]:
        """The baseline to heed, and what the one to write holds today; read first, so that mistakes cost no time."""
        heeded, written = self._arguments.baseline, self._arguments.write_baseline
        known = baselines.read(heeded) if heeded is not None else None
        if self._arguments.max_growth is not None and (known is None or not known.costs):
            raise baselines.BaselineError(_NO_COSTS)
        if written is None:
            return known, None
        require_writable(written)
        exists = os.path.isfile(written) and os.path.getsize(written) > 0
        return known, baselines.read(written) if exists else known

    def _analyse(self, candidates: list[FolderFile], on_file: Callable[[CheckedFile], None]) -> Tool:
        arguments = self._arguments
        keeps, cached = self._keeps_graphs(), not arguments.no_cache
        named = [candidate.path for candidate in candidates]
        place = cluster_of(arguments, self._settings_for, named)
        fixing = asked_for(arguments)
        beside = _beside(arguments, keeps)
        if place is not None:
            _require_possible(arguments, keeps)
        jobs = jobs_of(arguments)
        pool = partial(supervisor.WorkerPool, one_job=len(candidates) == 1 and fixing is None)
        plan = BatchPlan(candidates, self._settings_for, jobs, pool, keeps, fixing, cached, place, beside)
        progress = console.Progress(len(candidates), enabled=not self._arguments.quiet)
        return run_files(plan, progress, on_file)

    def _keeps_graphs(self) -> bool:
        """Plain checks leave no artifacts behind, whatever the project's settings say."""
        return self._arguments.artifacts not in (None, "off")

    def _use(self, known: baselines.Baseline | None, renewed: baselines.Baseline | None) -> BaselineUse | None:
        """Writes the new baseline, if one is wanted, and says what baselines did."""
        target = self._arguments.write_baseline
        fixed = known.fixed(self._files) if known is not None else 0
        if target is not None:
            new = baselines.build(target, self._files, renewed)
            write_whole(target, baselines.dump(new))
            self._files = [new.apply(baselines.reveal(file)) for file in self._files]
            return BaselineUse(target, len(new.entries), fixed, written=len(new.entries))
        if known is None:
            return None
        return BaselineUse(known.path, sum(len(file.hidden) for file in self._files), fixed)

    def _result(self, tool: Tool, use: BaselineUse | None) -> CheckResult:
        return CheckResult(
            files=tuple(self._files),
            tool=tool,
            seconds=time.perf_counter() - self._started,
            failing=Severity.ERROR if self._arguments.strict is False else Severity.WARNING,
            started=self._moment,
            baseline=use,
            skipped=tuple(self._skipped),
        )

    def _remark(self, file: CheckedFile) -> None:
        if file.fixed is not None and not self._arguments.quiet:
            say(file.shown, file.fixed, written=self._arguments.fix)
        empty = file.report.status is FileStatus.NO_TARGET and not file.report.targets
        if file.explicit and empty and not self._arguments.quiet:
            console.say(f"{file.shown}: {NO_TARGET}")

    def _view(self) -> ReportView:
        arguments = self._arguments
        return ReportView(arguments.format, styler(arguments), arguments.verbose, arguments.quiet)


def _beside(arguments: argparse.Namespace, keeps_graphs: bool) -> Beside | None:
    """What the page has beside findings; None where that is nothing."""
    if arguments.format != "html":
        if arguments.compare:
            raise console.CommandError("--compare goes into the page: --format html, or inductor-debug diff")
        return None
    if not (keeps_graphs or arguments.compare):
        return None
    for backend in arguments.compare:
        diff_order(DiffOptions(backend=backend))  # so that a profile that is wrong is told before any work
    return Beside(keeps_graphs, tuple(arguments.compare), arguments.timeout or COMPARISON_SECONDS)


def _require_possible(arguments: argparse.Namespace, keeps_graphs: bool) -> None:
    """What a cluster cannot do."""
    if asked_for(arguments) is not None:
        raise console.CommandError("--fix and --diff try their edits on this machine: leave --cluster out")
    if arguments.compare:
        raise console.CommandError("--compare runs models on this machine: leave --cluster out, or survey --diff there")
    if keeps_graphs and not arguments.shared and not arguments.cluster.startswith("local"):
        raise console.CommandError("graphs are kept where all machines can write: --artifacts needs --shared FOLDER")


def _shows_logs(arguments: argparse.Namespace) -> bool:
    """Whether what torch logs has a place in the report."""
    return bool(arguments.verbose) or arguments.format == "json"


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise PathError("the folder you are in does not exist any more") from None


def _said(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the command line says of settings; None where it is silent."""
    return {
        "accelerator": arguments.accelerator,
        "stages": arguments.stages,
        "strict": arguments.strict,
        "exclude": arguments.exclude,
        "include": arguments.include,
        "allow": arguments.allow,
        "timeout": arguments.timeout,
        "interpreter": located(arguments.python),
        "config": arguments.config,
        "artifacts": arguments.artifacts,
        "require_targets": arguments.require_targets,
        **said_of_entries(arguments, arguments.paths),
    }
