"""What guards tell of a target (`rules.recording.guard_facts`) as text: `analyze --type guards`."""

from __future__ import annotations

from inductor_debug_schema.answers.guards_document import GuardsDocument

from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.styles import Role, Styler
from inductor_debug.rules.recording.guard_facts import lines_of


class GuardsText:
    """Writes reports on guards for people."""

    def __init__(self, places: FileNames, styler: Styler) -> None:
        self._places = places
        self._paint = styler.paint

    def text(self, document: GuardsDocument) -> str:
        """One report, with a line break at its end."""
        first, *others = (printable(line) for line in lines_of(document, self._places.shown))
        return "\n".join([self._paint(f"{self._places.shown(document.path)}::{first}", Role.HEADING), *others]) + "\n"
