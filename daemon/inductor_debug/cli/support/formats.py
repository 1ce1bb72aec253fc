"""The output formats of `check` by name. A renderer's module is imported only when its format is asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.run_report import Renderer
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler

FORMATS = ("text", "json", "html", "sarif", "github", "junit", "llm")


@dataclass(frozen=True, slots=True)
class ReportView:
    """How the user wants to see results."""

    format: str
    styler: Styler
    verbose: bool
    quiet: bool


def renderer(view: ReportView, places: FileNames) -> Renderer:
    """The renderer for a format in `FORMATS`."""
    sources = ShownTexts()
    if view.format == "json":
        from inductor_debug.report.formats.json_report import JsonReport

        return JsonReport(places)
    if view.format == "html":
        from inductor_debug.report.formats.html_report import HtmlReport
        from inductor_debug.rules.registry import known_page

        return HtmlReport(places, sources, known_page)
    if view.format == "sarif":
        from inductor_debug.report.formats.sarif import SarifReport
        from inductor_debug.rules.registry import known_page

        return SarifReport(places, sources, known_page)
    if view.format == "github":
        from inductor_debug.report.formats.github import GithubReport

        return GithubReport(places, sources, os.environ)
    if view.format == "junit":
        from inductor_debug.report.formats.junit import JunitReport

        return JunitReport(places, sources)
    if view.format == "llm":
        from inductor_debug.report.formats.brief import LlmReport

        return LlmReport(places, sources)
    from inductor_debug.report.text.text import TextReport

    return TextReport(places, sources, view.styler, verbose=view.verbose, quiet=view.quiet)
