"""What the last analysis did not check, as hints at the classes' names, with the comment that would have them checked.

A hint is beside the findings: it says nothing of the model, fails no build and is in no report. It stands at the
class's name in the present text, until the next analysis has ended. Severity and ignore comments are the engine's
policy, asked anew each time. Nothing here analyses or sends anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inductor_debug_schema import Checked, Finding, Position, Range, Severity, Stage, TargetReport

from inductor_debug.engine.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.coverage import ENDING_RULES, remark
from inductor_debug.engine.fixes.edits import TextEdit
from inductor_debug.engine.settings import ConfigurationError
from inductor_debug.engine.texts import line_range, split_lines, utf16_length
from inductor_debug.server.outline import Definition

if TYPE_CHECKING:
    from inductor_debug.server.documents import Document
    from inductor_debug.server.server import Server

RULE = "not-checked"
_DIRECTIVE = "# inductor-debug:"


class Unchecked:
    """The targets of every open document that were not checked to their end, and no finding says why."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, list[TargetReport]] = {}

    def hear(self, update: AnalysisUpdate) -> None:
        """Takes in how an analysis has ended; while one runs, what was known before stays."""
        if update.state in (AnalysisState.DONE, AnalysisState.FAILED):
            told = {finding.target for finding in update.report.findings if finding.rule in ENDING_RULES}
            self._known[update.uri] = [
                target
                for target in update.report.targets
                if target.checked is not Checked.YES and target.name not in told
            ]

    def forget(self, uri: str) -> None:
        """The document is closed."""
        self._known.pop(uri, None)

    def findings(self, uri: str) -> list[Finding]:
        """A hint for each such target, as policy has it."""
        document = self._server.documents.get(uri)
        targets = self._known.get(uri)
        if document is None or not targets:
            return []
        found = [_hint(target, document) for target in targets]
        try:
            return self._server.engine.judged(document.path, found, document.text)
        except ConfigurationError:
            return found

    def directives(self, uri: str, hints: list[Finding]) -> Iterator[tuple[Finding, TextEdit | None]]:
        """For each hint the edit that puts a directive above its class: the inputs that came furthest, to be mended.

        The edit is None where nothing is known to begin with, or the class has a directive already.
        """
        document = self._server.documents[uri]
        targets = {target.name: target for target in self._known.get(uri, ())}
        for hint in hints:
            target = targets.get(hint.target)
            if target is not None:
                yield hint, _insertion(target, document)


def _hint(target: TargetReport, document: Document) -> Finding:
    return Finding(
        rule=RULE,
        severity=Severity.HINT,
        message=f"{target.name}: {remark(target)}",
        path=document.path,
        range=_place(target, document),
        stage=Stage.LOAD,
        target=target.name,
    )


def _place(target: TargetReport, document: Document) -> Range:
    """The target's name where the text defines it, else the line that offers it."""
    definition = _definition(target, document)
    line = target.line if definition is None else definition.line
    whole = line_range(document.text, line)
    text = split_lines(document.text)[whole.start.line]
    at = text.find(target.name, text.find(" ", whole.start.character))
    if definition is None or at < 0:
        return whole
    start = utf16_length(text[:at])
    return Range(Position(line, start), Position(line, start + utf16_length(target.name)))


def _insertion(target: TargetReport, document: Document) -> TextEdit | None:
    definition = _definition(target, document)
    directive = target.inferred.directive if target.inferred is not None else ""
    if definition is None or not directive:
        return None
    lines = split_lines(document.text)
    if definition.top and lines[definition.top - 1].lstrip().startswith(_DIRECTIVE):
        return None
    text = lines[definition.top]
    indent = text[: len(text) - len(text.lstrip())]
    start = Position(definition.top, 0)
    return TextEdit(Range(start, start), f"{indent}{directive}\n")


def _definition(target: TargetReport, document: Document) -> Definition | None:
    return document.outline.definition(target.name)
