"""What the last analysis did not check, as hints, with the comment that would have it checked.

A hint is beside the findings: it says nothing of the model and fails no build. Of a class that was not checked to its
end it stands at the class's name; of one whose run left code out, at that code, which editors dim. It stays in the
present text until the next analysis has ended. Severity and ignore comments are the engine's policy, asked anew each
time. Nothing here analyses or sends anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inductor_debug_schema import Checked, Finding, Position, Range, Severity, Stage, TargetReport, UntakenBlock

from inductor_debug.engine.fixes.edits import TextEdit
from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.results.merge import moved_targets
from inductor_debug.engine.results.target_coverage import ENDING_RULES, remark
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.rules.words.untaken_words import reason_of
from inductor_debug.server.state.text_outline import Definition
from inductor_debug.source.directives import directive_comments
from inductor_debug.source.text_lines import line_range, split_lines, utf16_length

if TYPE_CHECKING:
    from inductor_debug.server.state.editor_texts import EditorDocument
    from inductor_debug.server.state.server import Server

RULE = "not-checked"
NOT_RUN = "not-run"


@dataclass(frozen=True, slots=True)
class _Known:
    """Targets that were not checked whole, with places in `text`."""

    text: str
    targets: list[TargetReport]


class Unchecked:
    """The targets of every open document that were not checked whole, and no finding says why."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, _Known] = {}

    def hear(self, update: AnalysisUpdate) -> None:
        """Takes in how an analysis has ended; while one runs, what was known before stays."""
        document = self._server.documents.get(update.uri)
        if document is not None and update.state in (AnalysisState.DONE, AnalysisState.FAILED):
            told = {finding.target for finding in update.report.findings if finding.rule in ENDING_RULES}
            targets = [
                target
                for target in update.report.targets
                if target.checked is not Checked.YES and target.name not in told
            ]
            self._known[update.uri] = _Known(document.text, targets)

    def forget(self, uri: str) -> None:
        """The document is closed."""
        self._known.pop(uri, None)

    def findings(self, uri: str) -> list[Finding]:
        """The hints, as policy has them."""
        document = self._server.documents.get(uri)
        found = [hint for hint, _ in self._hints(uri)]
        if document is None or not found:
            return []
        try:
            return self._server.engine.judged(document.path, found, document.text)
        except ConfigurationError:
            return found

    def directives(self, uri: str, hints: list[Finding]) -> Iterator[tuple[Finding, TextEdit | None]]:
        """For each hint that other inputs would mend the edit that puts a directive above its class.

        The directive has the inputs that came furthest, or that ran, to be changed. The edit is None where nothing is
        known to begin with, or the class has a directive already.
        """
        document = self._server.documents[uri]
        settable = {(hint.target, hint.range): target for hint, target in self._hints(uri) if target is not None}
        for hint in hints:
            target = settable.get((hint.target, hint.range))
            if target is not None:
                yield hint, _insertion(target, document)

    def _hints(self, uri: str) -> Iterator[tuple[Finding, TargetReport | None]]:
        """Each hint, and the target for which other inputs would mend it, where some would."""
        document, known = self._server.documents.get(uri), self._known.get(uri)
        if document is None or known is None:
            return
        # To an editor that cannot dim code a hint on every branch would be a nuisance.
        dims = self._server.client.unnecessary_tag and self._server.configuration.shows("notRun", document.path)
        told = set[Range]()
        for target in moved_targets(known.targets, known.text, document.text):
            if not target.untaken:
                yield _hint(target, document), target
            for block in target.untaken if dims else ():
                if block.range not in told:
                    told.add(block.range)
                    yield _not_run(target, block, document), target if block.parameter else None


def _not_run(target: TargetReport, block: UntakenBlock, document: EditorDocument) -> Finding:
    advice = f" Give `{block.subject}` in the inputs of {target.name} to have it checked." if block.parameter else ""
    return Finding(
        rule=NOT_RUN,
        severity=Severity.HINT,
        message=f"This did not run: {reason_of(block)}.{advice}",
        path=document.path,
        range=block.range,
        stage=Stage.LOAD,
        target=target.name,
    )


def _hint(target: TargetReport, document: EditorDocument) -> Finding:
    return Finding(
        rule=RULE,
        severity=Severity.HINT,
        message=f"{target.name}: {remark(target)}",
        path=document.path,
        range=_place(target, document),
        stage=Stage.LOAD,
        target=target.name,
    )


def _place(target: TargetReport, document: EditorDocument) -> Range:
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


def _insertion(target: TargetReport, document: EditorDocument) -> TextEdit | None:
    definition = _definition(target, document)
    directive = target.inferred.directive if target.inferred is not None else ""
    if definition is None or not directive:
        return None
    if definition.top in directive_comments(document.text):
        return None
    text = split_lines(document.text)[definition.top]
    indent = text[: len(text) - len(text.lstrip())]
    start = Position(definition.top, 0)
    return TextEdit(Range(start, start), f"{indent}{directive}\n")


def _definition(target: TargetReport, document: EditorDocument) -> Definition | None:
    return document.outline.definition(target.name)
