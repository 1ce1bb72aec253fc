"""The texts of open documents, kept as the protocol says they are counted.

The protocol ends a line at LF, CR LF or CR and nowhere else, and counts characters in UTF-16 code units. Python's
`str.splitlines`, which pygls' own documents use, also ends lines at form feeds and U+2028, both legal in Python
source; one of them in a file would misplace every later edit. Hence this store. It runs nothing and knows no client.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from inductor_debug_schema import Position, Range, RunCost
from lsprotocol import types

from inductor_debug.server.state.text_outline import DocumentOutline, outline_of
from inductor_debug.source.text_changes import difference
from inductor_debug.source.text_lines import line_starts, offset_of


@dataclass(frozen=True, slots=True)
class Told:
    """What a hint says of a name at `place` that is assigned, or of a value there that is `returned`."""

    place: Range
    label: str
    returned: bool


@dataclass(slots=True)
class EditorDocument:
    """One open document: `text` as the client sees it, at the client's `version`.

    `told` are the hints of the last text whose analysis ended, and that text; `costs` what its targets cost, by name.
    `saved` is the text that was opened or last saved, `saved_costs` what its targets cost, once that is known.
    """

    uri: str
    path: str
    version: int
    text: str
    told: tuple[str, dict[Position, Told]] = ("", {})
    saved: str = ""
    costs: tuple[str, dict[str, RunCost]] = ("", {})
    saved_costs: dict[str, RunCost] = field(default_factory=dict)
    _parsed: str = ""

    def cost(self, costs: dict[str, RunCost]) -> None:
        """Takes note of what the targets of the present text cost."""
        self.costs = (self.text, costs)
        if self.text == self.saved:
            self.saved_costs = costs

    def save(self) -> None:
        """The present text was saved."""
        self.saved = self.text
        self.saved_costs = self.costs[1] if self.costs[0] == self.text else {}

    @property
    def outline(self) -> DocumentOutline:
        """The outline of the text; where it does not parse, that of the last text asked about that did, moved along."""
        outline = outline_of(self.text)
        if outline is not None:
            self._parsed = self.text
            return outline
        before = outline_of(self._parsed)
        return before.moved(difference(self._parsed, self.text)) if before is not None else DocumentOutline()


def well_formed(text: str) -> str:
    """Replaces halves of surrogate pairs, which JSON may carry but no file can, by U+FFFD of the same UTF-16 length."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def edited(text: str, changes: Sequence[types.TextDocumentContentChangeEvent]) -> str:
    """The text after the content changes of one `didChange`, applied in order.

    Args:
        text: The text before.
        changes: Changes of a part or of the whole. Positions beyond the end of a line or of the document mean that end,
            as the protocol has it.
    """
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            starts = line_starts(text)
            start = offset_of(text, starts, change.range.start.line, change.range.start.character)
            end = max(start, offset_of(text, starts, change.range.end.line, change.range.end.character))
            text = text[:start] + change.text + text[end:]
        else:
            text = change.text
    return well_formed(text)
