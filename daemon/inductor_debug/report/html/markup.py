"""What all pages are made of: text, tables, places, and the page around them.

Cells and items are HTML already, made by `text` or `code` of whatever came from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from inductor_debug_schema import Range

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts

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
tbody th { font-weight: normal; white-space: nowrap; }
@media (max-width: 40rem) {
  .stacked thead { position: absolute; clip-path: inset(50%); }
  .stacked tr, .stacked th, .stacked td { display: block; } .stacked tr { margin: 0.9rem 0; }
  .stacked tbody th { font-weight: 600; white-space: normal; overflow-wrap: anywhere; }
  .stacked td { display: flex; gap: 0.9rem; } .stacked td:empty { display: none; }
  .stacked td::before { content: attr(data-column); flex: 0 0 8rem; color: var(--pale); text-align: left; }
}
td.number { text-align: right; font-variant-numeric: tabular-nums; }
article { border-left: 3px solid var(--line); padding-left: 0.9rem; margin: 1.3rem 0; }
.lacking { border-left: 3px solid var(--odd); padding-left: 0.9rem; }
article { content-visibility: auto; contain-intrinsic-size: auto 9rem; }
article.error { border-color: var(--bad); } article.warning { border-color: var(--odd); }
strong { color: var(--bad); } h1 + p strong { font-weight: 600; }
pre { overflow-x: auto; margin: 0.4rem 0; padding: 0.5rem 0.7rem; border: 1px solid var(--line); border-radius: 4px; }
pre, code { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.about, .place { color: var(--pale); } p { margin: 0.35rem 0; overflow-wrap: anywhere; }
.related { margin: 0.5rem 0 0 1rem; } summary { cursor: pointer; }
"""


def text(value: str) -> str:
    """Text that shows as it is."""
    return escape(printable(value))


def texts(values: Iterable[str]) -> tuple[str, ...]:
    """The cells of a row that are all text."""
    return tuple(map(text, values))


def code(value: str) -> str:
    """The same as code; nothing of nothing."""
    return f"<code>{text(value)}</code>" if value else ""


def section(identifier: str, words: str) -> str:
    """A heading that links on the same page lead to."""
    return f'<h2 id="{text(identifier)}" tabindex="-1">{text(words)}</h2>'


def link_within(html: str, identifier: str) -> str:
    """A link to what has this identifier on the same page."""
    return f'<a href="#{text(identifier)}">{html}</a>'


def chooses_accelerator(html: str, accelerator: str) -> str:
    """What an editor turns into a link that makes this the accelerator that models are checked for."""
    return f'<span data-accelerator="{text(accelerator)}">{html}</span>'


def chooses_values(html: str, chosen: int) -> str:
    """What an editor turns into a choice of how many values of each tensor are shown; `chosen` are shown now."""
    return f'<span data-values="{chosen}">{html}</span>'


def bullets(items: Iterable[str]) -> str:
    """A list of items that are HTML already."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def command(line: str) -> str:
    """A command line, which whoever shows the page may offer to copy."""
    return f'<pre class="command">{text(line)}</pre>'


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    numeric: int = 99,
    *,
    named: bool = False,
    stacked: bool = False,
) -> str:
    """A table of cells that are HTML already.

    Args:
        headers: the first row; there is none where this is empty.
        rows: the others.
        numeric: from this column on, cells are numbers.
        named: whether the first cell of each row says what the row is about.
        stacked: whether a page too narrow for columns shows each row as a list of its cells, with what they are.
    """
    head = "".join(f'<th scope="col">{header}</th>' for header in headers)
    above = f"<thead><tr>{head}</tr></thead>" if headers else ""
    names = headers if stacked else ()
    lines = ["<tr>" + "".join(_cells(row, numeric, named, names)) + "</tr>" for row in rows]
    kind = ' class="stacked"' if stacked else ""
    return f'<div class="wide"><table{kind}>{above}<tbody>{"".join(lines)}</tbody></table></div>'


def _cells(row: Sequence[str], numeric: int, named: bool, names: Sequence[str]) -> Iterable[str]:
    for column, cell in enumerate(row):
        if named and column == 0:
            yield f'<th scope="row">{cell}</th>'
        else:
            kind = ' class="number"' if column >= numeric else ""
            name = f' data-column="{names[column]}"' if names else ""
            yield f"<td{kind}{name}>{cell}</td>"


class Links:
    """Links to places in the user's files."""

    def __init__(self, places: FileNames, sources: ShownTexts) -> None:
        self._places, self._sources = places, sources

    def location(self, path: str, area: Range) -> str:
        """A link that reads `model.py:13:9`."""
        shown = self._sources.location(self._places.shown(path), path, area.start)
        return self.to(text(shown), path, area)

    def to(self, html: str, path: str, area: Range) -> str:
        """A link to the file, from the root of the project where it lies in that; an editor goes to `data-range`."""
        span = f"{area.start.line}:{area.start.character}-{area.end.line}:{area.end.character}"
        address = f"{self._places.uri(path)}#L{area.start.line + 1}"
        return f'<a href="{text(address)}" data-range="{span}">{html}</a>'


def page(title: str, body: Iterable[str], style: str = "") -> str:
    """The whole document; `style` is for what it has beside text and tables."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )
