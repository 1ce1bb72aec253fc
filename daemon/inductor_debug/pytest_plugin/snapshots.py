"""Snapshots: what torch.compile made of a model when it was last looked at, as a text that shows what changed.

Lines of the source are quoted and never counted, so that edits elsewhere change nothing. Nothing here runs a model.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from inductor_debug_schema import Finding, Range
from inductor_debug_schema.answers.guards_document import GuardsDocument
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.amounts import counted
from inductor_debug.scripting.check_report import CheckReport

FOLDER = "__compile_reports__"
_UPDATE = "--inductor-debug-update"


class SnapshotFiles:
    """The snapshots of one test: files in a folder beside it."""

    def __init__(self, node: pytest.Item) -> None:
        self._updating = bool(node.config.getoption(_UPDATE))
        self._folder = node.path.parent / FOLDER / node.path.stem
        self._name = node.nodeid.partition("::")[2]
        self._root = node.config.rootpath

    def compare(self, text: str, name: str) -> None:
        """Compares with the snapshot of this name, or writes it where the user wants it anew.

        Raises:
            AssertionError: it differs, or there is none.
        """
        __tracebackhide__ = True
        path = self._folder / (_file_name(f"{self._name}-{name}" if name else self._name) + ".txt")
        if self._updating:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        shown = self._shown(path)
        if not path.exists():
            raise AssertionError(f"there is no snapshot {shown}: pytest {_UPDATE} writes it")
        known = path.read_text(encoding="utf-8")
        if text == known:
            return
        lines = difflib.unified_diff(known.splitlines(), text.splitlines(), shown, "now", lineterm="")
        raise AssertionError("\n".join([f"not as in its snapshot (pytest {_UPDATE} accepts it)", *lines]))

    def _shown(self, path: Path) -> str:
        return str(path.relative_to(self._root)) if path.is_relative_to(self._root) else str(path)


def snapshot_of(report: CheckReport) -> str:
    """A report as a text whose lines stay what they are while nothing of them changes.

    Raises:
        NotCheckedError: it was not seen to its end.
    """
    sources = ShownTexts()
    lines = [f"operations run: {report.operations}", f"graph breaks: {report.graph_breaks}"]
    for document in report.guards:
        lines += ["", f"target {document.target}", *_of_guards(document, sources)]
    for statistics in report.statistics:
        lines += ["", f"operations captured of {statistics.target}", *_of_statistics(statistics)]
    found = [f"  {_finding(finding, sources)}" for finding in report.findings]
    return "\n".join([*lines, "", "findings" if found else "no findings", *found]) + "\n"


def _file_name(words: str) -> str:
    return re.sub(r"[^\w.-]+", "_", words).strip("_")


def _of_guards(document: GuardsDocument, sources: ShownTexts) -> Iterator[str]:
    for graph in document.graphs:
        amounts = f"{counted(graph.calls, 'call')}, {counted(len(graph.guards), 'guard')}"
        yield f"  graph {graph.number} of {graph.function}: {amounts}"
    for end in document.breaks:
        yield f"  {end.rule}{_quoted(end.path, end.range, sources)}: {end.text}"
    for again in document.recompiles:
        because = "; ".join(guard.text for guard in again.broken)
        yield f"  compiled again: {again.function} for call {again.inputs}: {because}"
    for eager in document.eager:
        yield f"  eager: {eager.function}, {counted(eager.operations, 'operation')}"


def _of_statistics(document: StatisticsDocument) -> Iterator[str]:
    width = max(map(len, document.by_op), default=0)
    for op, number in sorted(document.by_op.items()):
        yield f"  {op:{width}}  {number}"


def _finding(finding: Finding, sources: ShownTexts) -> str:
    place = _quoted(finding.path, finding.range, sources)
    return f"{finding.severity.value}[{finding.rule}]{place}: {finding.headline}"


def _quoted(path: str | None, area: Range | None, sources: ShownTexts) -> str:
    """`` at `x.double()` ``; nothing where there is no such text."""
    if path is None or area is None:
        return ""
    text = " ".join(sources.of(path).excerpt(area).split())
    return f" at `{text}`" if text else ""
