"""The report as one page for people who have neither the tool nor the files: what was checked, what was found, and why.

It loads nothing and runs nothing; files have the names that `Places` gives them. Whatever comes from elsewhere is text
and never markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from inductor_debug_schema import Finding, Range, Related, StageReport

from inductor_debug.engine.results.target_coverage import WORDS, remark
from inductor_debug.engine.selection.selection import tally, words
from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import Places
from inductor_debug.report.run_report import CheckedFile, CheckResult, summary
from inductor_debug.report.source_characters import Sources
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import Snippet
from inductor_debug.report.text.text import describe, split_message
from inductor_debug.report.unchecked_classes import coverage_line
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.registry import Page
from inductor_debug.rules.words.stage_names import stage_name

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --pale: #808080; --bad: #c72e0f; --odd: #a66300; }
@media (prefers-color-scheme: dark) { :root { --bad: #f47067; --odd: #d7a14a; } }
:root:has(.vscode-light) { color-scheme: light; --bad: #c72e0f; --odd: #a66300; }
:root:has(.vscode-dark, .vscode-high-contrast) { color-scheme: dark; --bad: #f47067; --odd: #d7a14a; }
body { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.2rem 4rem; font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 0.6rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
table { border-collapse: collapse; } .wide { overflow-x: auto; }
th, td { text-align: left; padding: 0.2rem 0.9rem 0.2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
article { border-left: 3px solid var(--line); padding-left: 0.9rem; margin: 1.3rem 0; }
.lacking { border-left: 3px solid var(--odd); padding-left: 0.9rem; }
article.error { border-color: var(--bad); } article.warning { border-color: var(--odd); }
pre { overflow-x: auto; margin: 0.4rem 0; padding: 0.5rem 0.7rem; border: 1px solid var(--line); border-radius: 4px; }
pre, code { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.about, .place { color: var(--pale); } p { margin: 0.35rem 0; overflow-wrap: anywhere; }
.related { margin: 0.5rem 0 0 1rem; } summary { cursor: pointer; }
"""
_TITLE = "inductor-debug"


class HtmlReport:
    """One HTML page for the whole run. `page_of` gives a rule's page, or None for an unknown rule."""

    def __init__(self, places: Places, sources: Sources, page_of: Callable[[str], Page | None]) -> None:
        self._places = places
        self._sources = sources
        self._page_of = page_of

    def file(self, file: CheckedFile) -> str:
        """Nothing: the page is written at the end."""
        return ""

    def end(self, result: CheckResult) -> str:
        """The page."""
        rules = sorted({finding.rule for _, finding in result.findings()})
        body = [
            f"<h1>{_text(summary(result))}</h1>",
            f"<p>{_text(coverage_line(result.files, self._sources))}</p>",
            f'<p class="about">{_text(_versions(result))}</p>',
            _table(("File", "Result", "Findings", "Targets"), [self._overview(file) for file in result.files]),
            *(self._section(file) for file in result.files if file.findings or file.report.targets or file.problem),
            *_not_opened(result),
            *self._rules(rules),
        ]
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{_text(f'{_TITLE}: {summary(result)}')}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            + "\n".join(body)
            + "\n</body>\n</html>\n"
        )

    def _overview(self, file: CheckedFile) -> tuple[str, str, str, str]:
        state = "not analysed" if file.unanalysed() else file.report.status.value
        targets = ", ".join(target.name for target in file.report.targets)
        return file.shown, state, counted(len(file.findings), "finding"), targets

    def _section(self, file: CheckedFile) -> str:
        rows = [
            (target.name, WORDS[target.checked], *_cells(stage))
            for target in file.report.targets
            for stage in target.stages
        ]
        lacking = [
            f'<p class="lacking">{_text(f"{target.name}: {remark(target)}")}</p>'
            for target in file.report.targets
            if remark(target)
        ]
        notes = [
            f"<p>{_text(f'{stage_name(stage.stage)}: {note}'.replace(file.path, file.shown))}</p>"
            for target in file.report.targets
            for stage in target.stages
            for note in stage.notes
        ]
        headers = ("Target", "Coverage", "Stage", "State", "Ops", "Graphs", "Graph breaks", "Seconds")
        return "\n".join(
            [
                f"<section>\n<h2>{_text(file.shown)}</h2>",
                *([f"<p>{_text(file.problem)}</p>"] if file.problem is not None else []),
                *([_table(headers, rows, numeric=4)] if rows else []),
                *lacking,
                *notes,
                *(self._finding(finding) for finding in file.findings),
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
                f"<h3>{_text(f'{finding.severity.value}: {headline}')} "
                f'<a href="#{_text(finding.rule)}"><code>{_text(finding.rule)}</code></a></h3>',
                f'<p class="place">{self._place(finding.path, finding.range)}</p>',
                self._excerpt(finding.path, finding.range, "^"),
                *(f"<p>{_text(line)}</p>" for line in more),
                *([f'<p class="about">{_text(about)}</p>'] if about else []),
                *([f'<p><a href="{_text(link)}">{_text(link)}</a></p>'] if link.startswith("https://") else []),
                *(self._related(related) for related in finding.related),
                "</article>",
            ]
        )

    def _related(self, related: Related) -> str:
        place = self._place(related.path, related.range)
        return (
            f'<div class="related"><p>{_text(related.message)} <span class="place">{place}</span></p>\n'
            f"{self._excerpt(related.path, related.range, '-')}</div>"
        )

    def _place(self, path: str, area: Range) -> str:
        """A link to the file, from the root of the project where it lies in that; an editor goes to `data-range`."""
        location = self._sources.location(self._places.shown(path), path, area.start)
        span = f"{area.start.line}:{area.start.character}-{area.end.line}:{area.end.character}"
        address = f"{self._places.uri(path)}#L{area.start.line + 1}"
        return f'<a href="{_text(address)}" data-range="{span}">{_text(location)}</a>'

    def _excerpt(self, path: str, area: Range, mark: str) -> str:
        gutter = len(str(area.end.line + 1)) + 1
        lines = Snippet(Styler(False), mark, Role.INFORMATION).render(self._sources.of(path), area, gutter)
        return f"<pre>{_text(chr(10).join(lines))}</pre>" if lines else ""

    def _rules(self, rules: Sequence[str]) -> Iterable[str]:
        """What each rule that was broken means, so that nobody needs the tool to read the page."""
        if rules:
            yield "<h2>Rules</h2>"
        for rule in rules:
            page = self._page_of(rule)
            about = f": {page.summary}" if page is not None else ""
            head = f"<summary><code>{_text(rule)}</code>{_text(about)}</summary>"
            text = f"<pre>{_text(page.text)}</pre>" if page is not None else ""
            yield f'<details id="{_text(rule)}">{head}{text}</details>'


def _text(text: str) -> str:
    """Text that shows as it is."""
    return escape(printable(text))


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
    rows = [(file.shown, words(file.skip)) for file in result.skipped]
    return [f"<details><summary>{_text(title)}</summary>{_table(('File', 'Why'), rows)}</details>"]


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]], numeric: int = 99) -> str:
    """A table; from the column `numeric` on, cells are numbers."""
    head = "".join(f'<th scope="col">{_text(header)}</th>' for header in headers)
    lines = [
        "<tr>"
        + "".join(
            f'<td class="number">{_text(cell)}</td>' if column >= numeric else f"<td>{_text(cell)}</td>"
            for column, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    ]
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
