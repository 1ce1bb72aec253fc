"""The report as one page for people who have neither the tool nor the files: charts, what was checked, found, and why.

It loads nothing and runs nothing; files have the names that `FileNames` gives them. Whatever comes from elsewhere is
text and never markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from inductor_debug_schema import Finding, Range, Related, StageReport

from inductor_debug.engine.results.target_coverage import WORDS, remark
from inductor_debug.engine.selection.selection import tally, words
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.formats.made_parts import MadeParts
from inductor_debug.report.html.card_pieces import pieces_style
from inductor_debug.report.html.check_charts import check_charts
from inductor_debug.report.html.markup import Links, link_within, page, section, table, text, texts
from inductor_debug.report.run_report import CheckedFile, CheckResult, summary
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import ShownSnippet
from inductor_debug.report.text.text import describe, split_message
from inductor_debug.report.unchecked_classes import coverage_line
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.registry import Page
from inductor_debug.rules.words.stage_names import stage_name

_TITLE = "inductor-debug"


class HtmlReport:
    """One HTML page for the whole run. `page_of` gives a rule's page, or None for an unknown rule."""

    def __init__(self, places: FileNames, sources: ShownTexts, page_of: Callable[[str], Page | None]) -> None:
        self._sources = sources
        self._links = Links(places, sources)
        self._page_of = page_of
        self._made = MadeParts(places, sources)
        self._identifiers: dict[str, str] = {}

    def file(self, file: CheckedFile) -> str:
        """Nothing: the page is written at the end."""
        return ""

    def end(self, result: CheckResult) -> str:
        """The page."""
        rules = sorted({finding.rule for _, finding in result.findings()})
        self._identifiers = {file.path: f"file-{number}" for number, file in enumerate(result.files, 1)}
        told = [file for file in result.files if file.findings or file.report.targets or file.problem or file.made]
        body = [
            f"<h1>{text(summary(result))}</h1>",
            f"<p>{text(coverage_line(result.files, self._sources))}</p>",
            f'<p class="about">{text(_versions(result))}</p>',
            check_charts(result, self._identifier),
            table(
                ("File", "Result", "Findings", "Targets"), [self._overview(file, file in told) for file in result.files]
            ),
            *(self._section(file) for file in told),
            *_not_opened(result),
            *self._rules(rules),
        ]
        return page(f"{_TITLE}: {summary(result)}", body, pieces_style())

    def _identifier(self, file: CheckedFile) -> str:
        return self._identifiers[file.path]

    def _overview(self, file: CheckedFile, told: bool) -> tuple[str, str, str, str]:
        name = link_within(text(file.shown), self._identifier(file)) if told else text(file.shown)
        state = "not analysed" if file.unanalysed() else file.report.status.value
        targets = ", ".join(target.name for target in file.report.targets)
        return name, text(state), counted(len(file.findings), "finding"), text(targets)

    def _section(self, file: CheckedFile) -> str:
        rows = [
            texts((target.name, WORDS[target.checked], *_cells(stage)))
            for target in file.report.targets
            for stage in target.stages
        ]
        lacking = [
            f'<p class="lacking">{text(f"{target.name}: {remark(target)}")}</p>'
            for target in file.report.targets
            if remark(target)
        ]
        notes = [
            f"<p>{text(f'{stage_name(stage.stage)}: {note}'.replace(file.path, file.shown))}</p>"
            for target in file.report.targets
            for stage in target.stages
            for note in stage.notes
        ]
        headers = ("Target", "Coverage", "Stage", "State", "Ops", "Graphs", "Graph breaks", "Seconds")
        return "\n".join(
            [
                f"<section>\n{section(self._identifier(file), file.shown)}",
                *([f"<p>{text(file.problem)}</p>"] if file.problem is not None else []),
                *([table(headers, rows, numeric=4)] if rows else []),
                *lacking,
                *notes,
                *(self._finding(finding) for finding in file.findings),
                *self._made.parts(file.made),
                "</section>",
            ]
        )

    def _finding(self, finding: Finding) -> str:
        headline, *more = split_message(finding.message)
        about = describe(finding)
        link = finding.link or ""
        return "\n".join(
            [
                f'<article class="{finding.severity.value}">',
                f"<h3>{text(f'{finding.severity.value}: {headline}')} "
                f'<a href="#{text(finding.rule)}"><code>{text(finding.rule)}</code></a></h3>',
                f'<p class="place">{self._links.location(finding.path, finding.range)}</p>',
                self._excerpt(finding.path, finding.range, "^"),
                *(f"<p>{text(line)}</p>" for line in more),
                *([f'<p class="about">{text(about)}</p>'] if about else []),
                *([f'<p><a href="{text(link)}">{text(link)}</a></p>'] if link.startswith("https://") else []),
                *(self._related(related) for related in finding.related),
                "</article>",
            ]
        )

    def _related(self, related: Related) -> str:
        place = self._links.location(related.path, related.range)
        return (
            f'<div class="related"><p>{text(related.message)} <span class="place">{place}</span></p>\n'
            f"{self._excerpt(related.path, related.range, '-')}</div>"
        )

    def _excerpt(self, path: str, area: Range, mark: str) -> str:
        gutter = len(str(area.end.line + 1)) + 1
        lines = ShownSnippet(Styler(False), mark, Role.INFORMATION).render(self._sources.of(path), area, gutter)
        return f"<pre>{text(chr(10).join(lines))}</pre>" if lines else ""

    def _rules(self, rules: Sequence[str]) -> Iterable[str]:
        """What each rule that was broken means, so that nobody needs the tool to read the page."""
        if rules:
            yield "<h2>Rules</h2>"
        for rule in rules:
            known = self._page_of(rule)
            about = f": {known.summary}" if known is not None else ""
            head = f"<summary><code>{text(rule)}</code>{text(about)}</summary>"
            more = f"<pre>{text(known.text)}</pre>" if known is not None else ""
            yield f'<details id="{text(rule)}">{head}{more}</details>'


def _versions(result: CheckResult) -> str:
    tool = result.tool
    parts = [
        f"accelerator {result.accelerator}" if result.accelerator else "",
        f"{tool.name} {tool.version}",
        f"torch {tool.torch}" if tool.torch else "",
        f"Python {tool.python}" if tool.python else "",
        result.started.strftime("%Y-%m-%d %H:%M UTC"),
    ]
    return ", ".join(part for part in parts if part)


def _cells(stage: StageReport) -> tuple[str, str, str, str, str, str]:
    amounts = (f"{stage.ops:,}", f"{stage.graphs:,}", f"{stage.graph_breaks:,}", f"{stage.seconds:.2f}")
    return stage_name(stage.stage), stage.state.value, *amounts


def _not_opened(result: CheckResult) -> list[str]:
    """What was passed over, and why; nothing where nothing was."""
    if not result.skipped:
        return []
    title = f"{counted(len(result.skipped), 'file')} not opened: {tally([file.skip for file in result.skipped])}"
    rows = [texts((file.shown, words(file.skip))) for file in result.skipped]
    return [f"<details><summary>{text(title)}</summary>{table(('File', 'Why'), rows)}</details>"]
