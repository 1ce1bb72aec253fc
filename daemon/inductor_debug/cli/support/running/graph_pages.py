"""Pages with the graphs of a survey's models: one for each row, in a folder beside the file of results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inductor_debug_schema import SurveyRow

from inductor_debug.engine.survey.survey_rows import ModelOutcome
from inductor_debug.report.file_names import FileNames

_UNFIT = re.compile(r"[^A-Za-z0-9]+")


class GraphPages:
    """Writes pages beside the file of `results`. Files have names that are relative to `folder`."""

    def __init__(self, results: Path, folder: str) -> None:
        self._home = results.with_suffix(".graphs")
        self._shown = FileNames(folder, folder).shown

    def linked(self, rows: Sequence[SurveyRow], outcome: ModelOutcome) -> list[SurveyRow]:
        """The rows of a model, each with the page that was written of its graphs, where there are any.

        Raises:
            OSError: a page cannot be written.
            PageError: this installation has no page for graphs.
        """
        return [replace(row, graph_page=self._written(row, outcome)) for row in rows]

    def _written(self, row: SurveyRow, outcome: ModelOutcome) -> str:
        documents = [one for one in outcome.drawn.get(row.target, ()) if one.graphs]
        if not documents:
            return ""
        from inductor_debug.report.graphs.graph_html import graph_html, sources_of

        title = row.model if row.of == 1 else f"{row.model}, {row.target}"
        sources = sources_of(documents)
        page = graph_html(title, documents, outcome.findings(row.target), [], sources, self._shown)
        self._home.mkdir(parents=True, exist_ok=True)
        slug = _UNFIT.sub("-", title).strip("-").lower()[:60]
        path = self._home / f"{row.index + 1:04}-{row.number + 1}-{slug}.html"
        path.write_text(page, encoding="utf-8")
        return path.relative_to(self._home.parent).as_posix()
