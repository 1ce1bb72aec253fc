"""A bisection as a page: what goes wrong, the ladder, the guilty part, and the commands for both sides.

Works on the documents alone. While the ladder is climbed, `Climb` has the page as far as it has come.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from inductor_debug_schema import (
    BisectDocument,
    BisectGuilty,
    BisectPiece,
    BisectRung,
    BisectStep,
    BisectVerdict,
    RungState,
)

from inductor_debug.report.bisect_words import VERDICTS, typed, versions_told
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.markup import Links, bullets, code, command, page, table, text
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.amounts import in_seconds
from inductor_debug.source.notebooks.reading import line_in_words

_COLUMNS = ("Backend", "Adds", "Result", "Why", "Time", "Versions")
_RUNNING = '<span class="going"><span class="state-spinner" aria-hidden="true"></span>running…</span>'
_WAITING = '<span class="going">waiting</span>'
_NOT_RUN = '<span class="ended">not run</span>'


def bisect_page(documents: Sequence[BisectDocument], places: FileNames, sources: ShownTexts) -> str:
    """The page of one bisection, or of those of several targets."""
    links = Links(places, sources)
    title = _title(documents[0].target) if len(documents) == 1 else "Bisections"
    bodies = ("\n".join(_body(document, places, links)) for document in documents)
    return page(title, ["\n<hr>\n".join(bodies)])


class Climb:
    """A ladder that is being climbed, from the pieces of an answer that have come.

    Of a rung that is ahead the page says both, that it waits or runs (`class="going"`) and that it was not run
    (`"ended"`): whoever shows the page knows whether the order goes on.
    """

    def __init__(self) -> None:
        self._planned: list[BisectStep] = []
        self._ladder: list[BisectRung] = []

    def hear(self, target: str, piece: BisectPiece) -> str:
        """Takes in a piece; returns the page as it is now."""
        self._planned += piece.planned
        self._ladder += piece.ladder
        ahead = self._planned[len(self._ladder) :]
        rows = [*map(_rung, self._ladder), *(_rung_ahead(rung, first=rung is ahead[0]) for rung in ahead)]
        return page(_title(target), [f"<h1>{text(_title(target))}</h1>", table(_COLUMNS, rows, named=True)])


def _title(target: str) -> str:
    return f"Bisection of {target}"


def _body(document: BisectDocument, places: FileNames, links: Links) -> Iterator[str]:
    words = VERDICTS[document.verdict]
    sentence = text(f"{words[:1].upper()}{words[1:]}.")
    yield f"<h1>{text(_title(document.target))}</h1>"
    yield f"<p>{sentence if document.verdict is BisectVerdict.NONE else f'<strong>{sentence}</strong>'}</p>"
    yield table(_COLUMNS, map(_rung, document.ladder), named=True)
    if document.guilty is not None:
        yield "<h2>Where</h2>"
        yield table((), _guilty(document.guilty, links), named=True)
    if document.commands:
        yield "<h2>To see both sides</h2>"
        yield "<p>The last that is right, and the first that is not:</p>"
        yield from (command(typed(line, places)) for line in document.commands)
    if document.notes:
        yield "<h2>Notes</h2>"
        yield bullets(map(text, document.notes))


def _rung(rung: BisectRung) -> tuple[str, ...]:
    state = "pass" if rung.state is RungState.OK else f"<strong>{text(rung.state.value)}</strong>"
    time = text(in_seconds(rung.seconds)).replace(" ", "&nbsp;")
    return code(rung.backend), text(rung.adds), state, text(rung.why), time, text(versions_told(rung))


def _rung_ahead(rung: BisectStep, *, first: bool) -> tuple[str, ...]:
    return code(rung.backend), text(rung.adds), (_RUNNING if first else _WAITING) + _NOT_RUN, "", "", ""


def _guilty(guilty: BisectGuilty, links: Links) -> Iterable[tuple[str, str]]:
    direction = "" if guilty.direction is None else text(guilty.direction.value)
    rows = (
        ("Backend", code(guilty.backend)),
        ("Part", text(guilty.part or "")),
        ("Direction", direction),
        ("Graph", code(guilty.graph or "")),
        ("Pass or lowering", code(guilty.pass_ or "")),
        ("Operation", code(guilty.op or "")),
        ("Node", code(guilty.node or "")),
    )
    yield from (row for row in rows if row[1])
    if guilty.path is not None and guilty.range is not None:
        shown = f"{os.path.basename(guilty.path)}, {line_in_words(guilty.path, guilty.range.start.line)}"
        yield "Expression", links.to(text(shown), guilty.path, guilty.range)
    elif guilty.path is not None:
        yield "Expression", text(os.path.basename(guilty.path))
