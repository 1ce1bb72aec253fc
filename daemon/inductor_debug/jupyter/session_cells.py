"""The cells that were run in a session, as the one text that is checked: in the order in which they ran, then the next.

Nothing that the user did not run is in it, and the number of a cell is that of its prompt (`In [3]`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from inductor_debug_schema import FileReport, Finding, GraphDocument, GraphNode, Location, Range

from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.file_targets import FileTarget
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.report.source_characters import ShownText, ShownTexts
from inductor_debug.scripting.check_report import CheckReport, check_order, checked_by
from inductor_debug.scripting.engine_thread import EngineThread
from inductor_debug.scripting.subjects import Subject
from inductor_debug.source.notebooks.reading import SUFFIX, Notebook, notebook_of, open_as

_NAME = "session" + SUFFIX
"""What the text is called: no file of this name is read or written."""


def check_cell(
    opened: EngineThread,
    ran: Sequence[tuple[int, str]],
    number: int,
    cell: str,
    *,
    accelerator: str | None = None,
    stages: Sequence[str] = (),
    entry: str | None = None,
) -> CheckReport:
    """What a check finds in a cell, after those that `ran`.

    Args:
        opened: whose workers check it.
        ran: the numbers and texts of the cells before it.
        number: its own number.
        cell: its text.
        accelerator: what it is checked for; None for what the settings of the folder say.
        stages: looked at beside the run and the capture.
        entry: an expression that gives what is to be checked, a model or a pair of it and its inputs.

    Raises:
        OrderFailedError: nothing in the cells can be compiled.
        ConfigurationError: settings cannot be used.
        ValueError: there is no such stage.
    """
    path = os.path.join(os.getcwd(), _NAME)
    notebook = notebook_of([*ran, (number, cell)])
    subject = Subject(FileTarget("session", path), notebook.text)
    order = check_order(stages)
    said = {"accelerator": accelerator, "artifacts": "off", "entry": [f"{path}::{entry}"] if entry else None}
    resolver = SettingsResolver(command_line=said)
    settings = resolver(path)
    open_as(path, notebook)
    sources = ShownTexts({path: ShownText(notebook.text, notebook)})

    async def work(engine: Engine) -> CheckReport:
        return await checked_by(engine, subject, order, settings, sources=sources)

    report = opened.run(resolver, work)
    [file] = report.result.files
    about = _of_cell(file.report, notebook.starts[-1], entry)
    names = {target.name for target in about.targets}
    return replace(
        report,
        result=replace(report.result, files=(replace(file, report=about),)),
        guards=[document for document in report.guards if document.target in names],
        statistics=[document for document in report.statistics if document.target in names],
        captured=[_in_cells(document, path, notebook) for document in report.captured if document.target in names],
    )


def _in_cells(document: GraphDocument, path: str, notebook: Notebook) -> GraphDocument:
    """The graphs with places in cells, not in the text that these are together."""

    def placed(node: GraphNode) -> GraphNode:
        if node.place is None or node.place.path != path:
            return node
        area = node.place.range
        cell = notebook.place(area.start.line)
        if cell is None:
            return replace(node, place=None)
        up = area.start.line - cell.line
        start, end = (replace(at, line=at.line - up) for at in (area.start, area.end))
        return replace(node, place=Location(f"cell {cell.cell}", Range(start, end)))

    graphs = [replace(graph, nodes=list(map(placed, graph.nodes))) for graph in document.graphs]
    return replace(document, graphs=graphs)


def _of_cell(report: FileReport, start: int, entry: str | None) -> FileReport:
    """What is about the cell that begins at a line: its targets, or the entry, and what was found there or of them."""
    targets = [target for target in report.targets if (target.line >= start if entry is None else target.name == entry)]
    names = {target.name for target in targets}

    def concerns(finding: Finding) -> bool:
        there = finding.path == report.path and finding.range.start.line >= start
        return finding.target in names or there

    return replace(report, targets=targets, findings=list(filter(concerns, report.findings)))
