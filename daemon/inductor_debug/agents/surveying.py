"""A survey for an agent: which files below the allowed folders are looked at, and what comes of them in brief.

It writes no file of results and builds no model of a library: suites would do both. The whole table is a text.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone

from inductor_debug_schema import SurveyHeader, SurveyRow

from inductor_debug import __version__
from inductor_debug.agents.allowed_folders import AllowedFolders, OutsideError
from inductor_debug.agents.short_answers import ModelRow, RuleTotal, ShortSurvey
from inductor_debug.engine.results.kept_runs import Versions
from inductor_debug.engine.selection.folder import FolderFile, choose, python_files
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.survey.results_file import SCHEMA, SurveyResults
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug.report.survey.survey_columns import failed, name_of, rules_of
from inductor_debug.report.survey.survey_summary import summary_of

MOST_MODELS = 200
"""Files of one survey: each is run."""


def models_below(
    paths: Sequence[str], folders: AllowedFolders, settings_for: Callable[[str], Settings]
) -> list[SurveyModel]:
    """The models that files and folders come to, named from the first allowed folder.

    Raises:
        OutsideError: one that is named leads elsewhere.
        ValueError: one that is named is not there.
        ConfigurationError: the settings for one cannot be used.
    """
    found: dict[str, FolderFile] = {}
    for words in paths:
        for candidate in _files(folders.path(words), words, settings_for):
            if _is_below(candidate.path, folders):
                found.setdefault(os.path.realpath(candidate.path), candidate)
    kept = [candidate for candidate, skip in choose(found.values(), settings_for) if skip is None]
    return [
        SurveyModel(
            folders.shown(candidate.path).replace(os.sep, "/"),
            (candidate.path,),
            problem=candidate.problem or "",
            index=index,
        )
        for index, candidate in enumerate(kept)
    ]


def _files(path: str, words: str, settings_for: Callable[[str], Settings]) -> Iterator[FolderFile]:
    if os.path.isdir(path):
        yield from python_files(path, lambda inner: settings_for(inner).excludes(inner))
    elif os.path.isfile(path):
        yield FolderFile(path, path)
    else:
        raise ValueError(f"{words} does not exist")


def _is_below(path: str, folders: AllowedFolders) -> bool:
    """Whether a file of a folder is where the folder is: a link may lead elsewhere."""
    try:
        folders.path(path)
    except OutsideError:
        return False
    return True


def results_of(rows: Sequence[SurveyRow], versions: Versions, models: int) -> SurveyResults:
    """The rows with a header, as a file of results has one."""
    header = SurveyHeader(
        kind="survey",
        schema=SCHEMA,
        name="survey",
        version=__version__,
        torch=versions.torch or "",
        python=versions.python or "",
        machine=f"{os.cpu_count() or 1} × {platform.machine()}",
        started=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        asked={},
        models=models,
    )
    return SurveyResults(header, list(rows))


def short_survey(results: SurveyResults, not_run: int, text: str) -> ShortSurvey:
    """The survey in brief."""
    summary = summary_of(results.header, results.rows)
    most = sorted(results.rows, key=lambda row: (-failed(row), -len(row.findings)))
    return ShortSurvey(
        summary=summary.sentence,
        rows=[_row(row) for row in most],
        rules=[RuleTotal(rule, findings, targets) for rule, targets, findings in summary.rules],
        unchecked=[f"{name}: {why}" for name, why in summary.unchecked],
        not_run=not_run,
        text=text,
    )


def _row(row: SurveyRow) -> ModelRow:
    return ModelRow(
        name=name_of(row),
        status=row.status.value,
        checked=row.checked.value,
        findings=rules_of(row),
        graph_breaks=row.breaks,
        recompilations=row.recompiles,
        parameters=row.parameters,
        peak_bytes=next((column.peak_bytes for column in row.columns), None),
        why=row.why,
    )
