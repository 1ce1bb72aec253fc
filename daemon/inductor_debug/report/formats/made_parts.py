"""What a run made of a file beside findings, for the report's page: guards, KernelDiff, and the files that were kept.

The words are those of the terminal (`report/text`), which needs no script and no second way to say the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from inductor_debug_schema import ArtifactKind, ArtifactReference, DiffDocument, DiffVerdict
from inductor_debug_schema.answers.guards_document import GuardsDocument

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.markup import code, table, text, texts
from inductor_debug.report.run_report import MadeBeside
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.diff_text import diff_text
from inductor_debug.report.text.guards_text import GuardsText
from inductor_debug.rules.amounts import counted, in_bytes

_SEVERITIES = {DiffVerdict.PASS: "good", DiffVerdict.SUSPICIOUS: "warning"}
_KINDS = {
    ArtifactKind.FX_GRAPHS: "graphs that Dynamo captured",
    ArtifactKind.AOT_GRAPHS: "forward and backward graphs",
    ArtifactKind.INDUCTOR_IR: "Inductor's graphs",
    ArtifactKind.INDUCTOR_KERNELS: "kernels",
    ArtifactKind.STATISTICS: "statistics and guards",
    ArtifactKind.REPROS: "reproducers",
    ArtifactKind.VISUALIZATIONS: "pictures",
    ArtifactKind.REPORTS: "reports",
}


class MadeParts:
    """Parts of a file's section."""

    def __init__(self, places: FileNames, sources: ShownTexts) -> None:
        self._places, self._sources = places, sources

    def parts(self, made: MadeBeside) -> Iterator[str]:
        """What there is, one part after the other."""
        for document in made.compared:
            yield self._comparison(document)
        for guards in made.guards:
            yield self._guards(guards)
        if made.kept:
            yield self._kept(made.kept)
        for note in made.notes:
            yield f'<p class="lacking">{text(note)}</p>'

    def _comparison(self, document: DiffDocument) -> str:
        verdict = document.verdict or DiffVerdict.FAILED
        head = f"KernelDiff: {document.target}, {document.backend} against {document.reference}: {verdict.value}"
        words = diff_text(document, self._places, self._sources, Styler(False))
        opened = "" if verdict is DiffVerdict.PASS else " open"
        return (
            f'<article class="{_SEVERITIES.get(verdict, "error")}"><details{opened}><summary>{text(head)}</summary>\n'
            f"<pre>{_lines(words)}</pre></details></article>"
        )

    def _guards(self, document: GuardsDocument) -> str:
        first, _, rest = GuardsText(self._places, Styler(False)).text(document).partition("\n")
        return f"<details><summary>{text(f'Guards: {first}')}</summary>\n<pre>{_lines(rest)}</pre></details>"

    def _kept(self, kept: tuple[ArtifactReference, ...]) -> str:
        rows = [
            (text(_KINDS[reference.kind]), self._file(reference.path), text(in_bytes(reference.bytes)))
            for reference in kept
        ]
        head = f"{counted(len(kept), 'file')} of this run (inductor-debug list names all that are kept)"
        return f"<details><summary>{text(head)}</summary>{table(('What', 'File', 'Size'), rows, numeric=2)}</details>"

    def _file(self, path: str) -> str:
        """A link where it lies in the project; elsewhere its name, for the page is passed on."""
        inside = self._places.in_repository(path)
        name = text(os.path.basename(path))
        return (
            f'<a href="{text(self._places.uri(path))}">{name}</a>'
            if inside is not None
            else code(os.path.basename(path))
        )


def _lines(words: str) -> str:
    return "\n".join(texts(words.rstrip("\n").split("\n")))
