"""`textDocument/codeLens`: how the analysis of each target went, what it costs, and how a module class becomes one.

Answered from memory at once. A click on a state checks the file again; what needs a dialogue is the client's command
and only offered to clients that have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inductor_debug_schema import (
    Checked,
    FileStatus,
    Position,
    Range,
    RunCost,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
)
from lsprotocol import types

from inductor_debug.engine.results.analysis import AnalysisState, AnalysisUpdate
from inductor_debug.engine.results.target_costs import cost_of, costs_in
from inductor_debug.engine.results.target_coverage import remark, sizes_of
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.words.compile_time_words import headline_of
from inductor_debug.rules.words.cost_words import bound_of, part_of
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.server.state.editor_texts import EditorDocument
from inductor_debug.server.state.known_comparisons import MeasuredError
from inductor_debug.server.state.notebook_cells import OpenNotebook
from inductor_debug.server.state.refreshing import Refresher
from inductor_debug.server.state.text_outline import DocumentOutline
from inductor_debug.source.parsing import unparsed

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

SET_INPUTS = "inductorDebug.setExampleInputs"
"""The client's command that asks for a class's inputs and writes the directive; arguments: URI, class name."""
SHOW_GRAPH = "inductorDebug.showGraph"
"""The client's command that shows a target's graphs; arguments: URI, target."""
COMPARE = "inductorDebug.compare"
"""The client's command that compares a backend and shows what came of it; arguments: URI, target."""
SHOW_COMPILE_TIME = "inductorDebug.showCompileTime"
"""The client's command that shows where compiling a target goes; arguments: URI, target."""
SHOW_SIZES = "inductorDebug.showSizes"
"""The client's command that lets the user change the free sizes of a target; arguments: URI, target."""
CHECK = "inductorDebug.check"
MOST_LENSES = 200
_LONGEST = 120
_BROKEN = (FileStatus.FAILED, FileStatus.TIMEOUT, FileStatus.CRASHED)


def lenses_of(server: Server, uri: str) -> list[types.CodeLens]:
    """The lenses of a document, in the order of the text."""
    document = server.documents.get(uri)
    if document is None or not server.ready.is_set() or not server.configuration.shows("codeLens", document.path):
        return []
    update = server.engine.latest(uri)
    if update is None:
        return []
    outline = document.outline
    last_line = document.text.count("\n")
    lenses = []
    for target in update.report.targets:
        line = outline.line_of(target.name)
        line = min(target.line, last_line) if line is None else line
        lenses.append(_lens(line, target_title(target, update), uri))
        if target.inferred is not None and target.inferred.reason:
            continue  # without inputs there is nothing to run
        if (run := cost_of(target)) is not None and (title := _bound(server, document, target.name, run)):
            lenses.append(_lens(line, title, uri, *_graph_of(server, uri, target.name)))
        if target.sizes and SHOW_SIZES in server.client.commands:
            lenses.append(_lens(line, _shortened(sizes_of(target)), uri, SHOW_SIZES, [uri, target.name]))
        if SHOW_GRAPH in server.client.commands:
            lenses.append(_lens(line, "graph", uri, SHOW_GRAPH, [uri, target.name]))
        if COMPARE in server.client.commands:
            title = _compare_title(server.numerics.of(document.path, target.name))
            lenses.append(_lens(line, title, uri, COMPARE, [uri, target.name]))
        timed = server.compile_times.of(uri, target.name)
        if timed is not None and SHOW_COMPILE_TIME in server.client.commands:
            earlier = "" if timed.text == document.text else ", before the last edit"
            title = f"compile: {headline_of(timed.document)}{earlier}"
            lenses.append(_lens(line, title, uri, SHOW_COMPILE_TIME, [uri, target.name]))
    lenses += _parts(server, update, outline, uri)
    if not lenses and update.report.status in _BROKEN:
        first = outline.modules[0].line if outline.modules else 0
        lenses.append(_lens(first, _prefixed(update, _failure(update, "")), uri))
    if SET_INPUTS in server.client.commands and update.state.settled:
        lenses += _invitations(update, outline, uri)
    lenses.sort(key=lambda lens: lens.range.start.line)
    return lenses[:MOST_LENSES]


def _bound(server: Server, document: EditorDocument, target: str, run: RunCost) -> str:
    """What a target costs at least, and by how much that has changed."""
    return bound_of(run, document.saved_costs.get(target), server.committed.of(document.path).get(target))


def _graph_of(server: Server, uri: str, target: str) -> tuple[str, list[str]]:
    """The command that shows a target's graphs, or checks the file where the client shows none."""
    return (SHOW_GRAPH, [uri, target]) if SHOW_GRAPH in server.client.commands else (CHECK, [uri])


def _parts(server: Server, update: AnalysisUpdate, outline: DocumentOutline, uri: str) -> list[types.CodeLens]:
    """Over each module class that is no target: its part in the bound of the target that takes longest in it."""
    targets = {target.name for target in update.report.targets}
    found: dict[str, tuple[float, str, str]] = {}
    for target in update.report.targets:
        run = cost_of(target)
        for part in run.classes if run is not None else ():
            seconds = part.cost.seconds or 0.0
            if run is not None and part.path == update.path and seconds > found.get(part.name, (0.0,))[0]:
                found[part.name] = (seconds, part_of(part, target.name, run), target.name)
    return [
        _lens(module.line, found[module.name][1], uri, *_graph_of(server, uri, found[module.name][2]))
        for module in outline.modules
        if module.name in found and module.name not in targets
    ]


def _compare_title(measured: MeasuredError | None) -> str:
    """`compare`, or what the last comparison said."""
    return "compare" if measured is None else _shortened(f"compare ({measured.backend}: {measured.verdict})")


def _invitations(update: AnalysisUpdate, outline: DocumentOutline, uri: str) -> list[types.CodeLens]:
    """An offer to set example inputs over each module class for which nobody has."""
    given = {target.name for target in update.report.targets if target.inferred is None}
    return [
        _lens(module.line, "set example inputs", uri, SET_INPUTS, [uri, module.name])
        for module in outline.modules
        if module.name not in given
    ]


def target_title(target: TargetReport, update: AnalysisUpdate) -> str:
    """`capture: 3 findings · 46 ops · 1 graph break · 0.11 s`, or how far it has come, or why it failed."""
    return _prefixed(update, _summary(target, update))


def _prefixed(update: AnalysisUpdate, summary: str) -> str:
    if update.state is AnalysisState.RUNNING:
        progress = f"analysing… {stage_name(update.stage) if update.stage else ''}".rstrip()
    elif update.state is AnalysisState.QUEUED:
        progress = "queued"
    elif update.state is AnalysisState.CANCELLED:
        progress = "cancelled"
    elif update.state is AnalysisState.STALE or unparsed(update.report.findings, update.path):
        progress = "not up to date"
    else:
        progress = ""
    return " · ".join(filter(None, (progress, summary)))


def _summary(target: TargetReport, update: AnalysisUpdate) -> str:
    seen = [report for report in target.stages if report.state is StageState.DONE]
    failed = any(report.state is StageState.FAILED for report in target.stages)
    if failed and not update.state.settled and not _is_told(target, update):
        failed = False  # why is held back while somebody types, or was so of a text that is gone
    lacking = remark(target) if update.state.settled or target.stages else ""
    if target.checked is Checked.NO and lacking and not _is_told(target, update):
        return _shortened(lacking)
    if failed or (update.report.status in _BROKEN and update.state.settled):
        return _failure(update, target.name)
    parts = [_numbers(seen[-1], target.name, update)] if seen else []
    if lacking:
        parts.append(_shortened(lacking))
    if target.inferred is not None and target.inferred.signature and not target.inferred.reason:
        parts.append(_shortened(f"inputs inferred: {target.inferred.signature}"))
    return " · ".join(parts)


def _is_told(target: TargetReport, update: AnalysisUpdate) -> bool:
    """Whether a finding says why the target was not checked."""
    ours = (finding for finding in update.report.findings if finding.target in (target.name, ""))
    return any(finding.severity is Severity.ERROR for finding in ours)


def _numbers(report: StageReport, name: str, update: AnalysisUpdate) -> str:
    count = sum(finding.target == name for finding in update.report.findings)
    parts = [counted(count, "finding") if count else "no findings", counted(report.ops, "op")]
    if report.graph_breaks:
        parts.append(counted(report.graph_breaks, "graph break"))
    elif report.stage is Stage.MOCK and report.graphs > 1:
        parts.append(counted(report.graphs, "graph"))
    parts.append(f"{report.seconds:.2f} s")
    return f"{stage_name(report.stage)}: {' · '.join(parts)}"


def _failure(update: AnalysisUpdate, name: str) -> str:
    """The most severe thing that was found of the target, or of the file where that is what failed."""
    ours = [finding for finding in update.report.findings if finding.target in (name, "")]
    worst = min(ours, key=lambda finding: (finding.severity.rank, bool(finding.op)), default=None)
    if worst is None or worst.severity is Severity.HINT:
        return "failed"
    return _shortened(f"failed: {worst.headline or worst.rule}")


def cell_lenses(server: Server, notebook: OpenNotebook, cell: str) -> list[types.CodeLens]:
    """The lenses of a cell of a notebook; over the first cell that waits to be run, that it does."""
    if not server.configuration.shows("codeLens", notebook.path):
        return []
    lenses = []
    for lens in lenses_of(server, notebook.uri):
        line = Position(lens.range.start.line, 0)
        shown = notebook.outside(Range(line, line))
        if shown is None or shown[0] != cell or lens.command is None:
            continue
        title, command = lens.command.title, lens.command.command
        arguments = [str(each) for each in lens.command.arguments or ()]
        if command == SET_INPUTS:
            arguments[0] = cell  # whose text gets them
        elif command == CHECK and notebook.is_edited(cell):
            title = f"edited since it ran: run the cell to have it checked · {title}"
        lenses.append(_lens(shown[1].start.line, title, notebook.uri, command, arguments))
    waiting = notebook.waiting()
    if waiting is not None and waiting[0] == cell:
        lenses.append(_lens(waiting[1], "run this cell to have it checked", cell, ""))
    return lenses


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _lens(line: int, title: str, uri: str, command: str = CHECK, arguments: list[str] | None = None) -> types.CodeLens:
    place = types.Position(line=line, character=0)
    return types.CodeLens(
        range=types.Range(start=place, end=place),
        command=types.Command(title=title, command=command, arguments=list(arguments or [uri])),
    )


def register(server: Server) -> None:
    """Answers `textDocument/codeLens`, and asks the client to ask again after every update."""
    refresher = Refresher(server, types.WORKSPACE_CODE_LENS_REFRESH)

    def refresh() -> None:
        if server.client.refreshes_code_lenses:
            refresher.refresh()

    async def seek(document: EditorDocument) -> None:
        if await server.committed.seek(document):
            refresh()

    def hear(update: AnalysisUpdate) -> None:
        document = server.documents.get(update.uri)
        if document is not None and update.state is AnalysisState.DONE and update.version == document.version:
            document.cost(costs_in(update.report))
            server.spawn(seek(document))
        refresh()
        if update.state is AnalysisState.DONE and SHOW_SIZES in server.client.commands:
            server.spawn(server.engine.seek_sizes(update.uri))

    server.listeners.append(hear)
    server.settings_listeners.append(refresh)
    server.numerics.listeners.append(lambda paths: refresh())
    server.compile_times.listeners.append(refresh)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        notebook = server.cells.notebook_of(uri)
        return lenses_of(server, uri) if notebook is None else cell_lenses(server, notebook, uri)
