"""The `bisect` document as text for people. Works on the document alone; nothing here judges."""

from __future__ import annotations

from inductor_debug_schema import BisectDocument, BisectGuilty, BisectRung, BisectVerdict, RungState

from inductor_debug.report.bisect_words import VERDICTS, typed
from inductor_debug.report.cells import printable, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import blamed
from inductor_debug.report.text.wrapping import wrapped

_STATES = {
    RungState.OK: ("pass", Role.GOOD),
    RungState.WRONG: ("wrong", Role.ERROR),
    RungState.FAILED: ("failed", Role.ERROR),
}


def bisect_text(document: BisectDocument, places: FileNames, sources: ShownTexts, styler: Styler) -> str:
    """The ladder, the verdict, the guilty part with its source, and the commands for both sides."""
    head = f"{printable(document.target)}: "
    role = Role.GOOD if document.verdict is BisectVerdict.NONE else Role.ERROR
    lines = [head + styler.paint(VERDICTS[document.verdict], role), ""]
    lines += _ladder(document.ladder, styler)
    if document.guilty is not None:
        lines += ["", *_guilty(document.guilty, places, sources, styler)]
    if document.commands:
        lines += ["", "the last that is right, and the first that is not:"]
        lines += [f"  {printable(typed(command, places))}" for command in document.commands]
    for note in document.notes:
        lines += [styler.paint(line, Role.FAINT) for line in wrapped(f"note: {note}", "  ", "    ")]
    return "\n".join(lines) + "\n"


def _ladder(ladder: list[BisectRung], styler: Styler) -> list[str]:
    width = max((width_of(printable(rung.backend)) for rung in ladder), default=0)
    lines = []
    for rung in ladder:
        name = printable(rung.backend)
        padded = name + " " * (width - width_of(name))
        word, role = _STATES[rung.state]
        state = styler.paint(word.ljust(6), role)
        indent = " " * (width + 12)
        words = wrapped(rung.why, indent, indent)
        lines.append(f"  {padded}  {state}  " + (words[0].lstrip() if words else ""))
        lines += words[1:]
    return lines


def _guilty(guilty: BisectGuilty, places: FileNames, sources: ShownTexts, styler: Styler) -> list[str]:
    direction = guilty.direction.value if guilty.direction is not None else None
    part = guilty.part if guilty.part is not None and guilty.part.casefold() != guilty.backend.casefold() else None
    parts = {
        "part:": part,
        "in the": direction,
        "graph": guilty.graph,
        "pass:": guilty.pass_,
        "operation": guilty.op,
        "node": guilty.node,
    }
    words = [f"guilty: {guilty.backend}", *(f"{name} {part}" for name, part in parts.items() if part is not None)]
    lines = wrapped(", ".join(words), "", "  ")
    if guilty.path is None:
        return lines
    if guilty.range is None:
        return [*lines, styler.paint(f"  {printable(places.shown(guilty.path))}", Role.PLACE)]
    return lines + blamed(guilty.path, guilty.range, places, sources, styler)
