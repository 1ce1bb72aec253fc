"""An open document: its text, what of it is saved, and whether its unsaved text may run.

Unsaved top-level code never runs. A text that differs from the saved one only inside the bodies of functions may;
any other edit waits for the save. Decorators, defaults, annotations, class bodies, module-level lambdas and directive
comments all are top-level code, because loading the file evaluates them. A cell of a notebook is saved by being run.
Nothing here starts anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from inductor_debug.engine.text.source_files import read_source
from inductor_debug.engine.text.top_level import TopLevel
from inductor_debug.source.comments import comments, is_ignore, marked
from inductor_debug.source.notebooks.reading import is_notebook
from inductor_debug.source.parsing import LARGEST_PARSED, SyntaxFault
from inductor_debug.source.text_lines import split_lines


class Runnable(Enum):
    """Whether a document's present text may be analysed."""

    RUN = "run"
    """It is the saved text, or differs from it inside functions only."""
    WAIT = "wait"
    """Its top-level code is not the saved one, or nothing is saved, or it is too long to be parsed while one types."""


@dataclass
class Document:
    """One open document. `path` is "" for a document that is no file; `saved` is the text on disk, None without one."""

    uri: str
    path: str
    version: int
    text: str
    saved: str | None
    _saved_shape: tuple[str, TopLevel] | None = field(default=None, repr=False)

    @property
    def dirty(self) -> bool:
        """Whether the text is not the saved one."""
        return self.text != self.saved

    @property
    def ran(self) -> str | None:
        """What was run of an open notebook; None of a file, which is on disk."""
        return self.saved if is_notebook(self.path) else None

    def on_disk(self) -> str | None:
        """The text that is saved now, None without one; of an open notebook that is what was run."""
        if self.ran is not None:
            return self.ran
        text = read_source(self.path) if self.path else None
        return text if isinstance(text, str) else None

    def verdict(self) -> Runnable | SyntaxFault:
        """Whether the present text may run now; a fault if it does not parse and is not saved."""
        if not self.dirty:
            return Runnable.RUN
        if max(len(self.text), len(self.saved or "")) > LARGEST_PARSED:
            return Runnable.WAIT
        same = self._top_level().same_in(self.text)
        if isinstance(same, SyntaxFault):
            return same
        return Runnable.RUN if same and self.saved is not None and self._same_directives() else Runnable.WAIT

    def _top_level(self) -> TopLevel:
        saved = self.saved or ""
        if self._saved_shape is None or self._saved_shape[0] is not saved:
            self._saved_shape = (saved, TopLevel(saved))
        return self._saved_shape[1]

    def _same_directives(self) -> bool:
        return directive_texts(self.text) == directive_texts(self.saved or "")


def directive_texts(text: str) -> list[str]:
    """Each directive comment with the comment lines it may continue on and the line of code it stands above."""
    if "inductor-debug" not in text:
        return []
    lines = split_lines(text.removeprefix("\ufeff"))
    found = comments(text)
    alone = {comment.line for comment in found if comment.alone}
    blocks = []
    for comment, words in marked(found):
        if is_ignore(comment.text[words:]):
            continue
        line = comment.line + 1
        while line < len(lines) and (line in alone or not lines[line].strip()):
            line += 1
        blocks.append("\n".join(lines[comment.line : line + 1]))
    return blocks
