"""What `analyze --type guards` prints, from the document that a worker makes."""

from __future__ import annotations

from typing import Any

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.guards_text import GuardsText
from inductor_debug.rules.recording.guard_facts import (
    BreakFact,
    BrokenGuard,
    EagerFact,
    GraphFact,
    GuardFact,
    GuardReport,
    RecompileFact,
)
from inductor_debug_schema import Location, Position, Range, from_wire
from inductor_debug_schema.answers.guards_document import GuardsDocument

PLACE = Location("/work/model.py", Range(Position(9, 4), Position(9, 14)))
GUARDS = [
    GuardFact("TENSOR_MATCH", "x", PLACE, bookkeeping=False),
    GuardFact("TYPE_MATCH", "self", PLACE, bookkeeping=True),
    GuardFact("GRAD_MODE", "", None, bookkeeping=True),
]
REPORT = GuardReport(
    target="Net",
    sets=2,
    frames=2,
    calls=3,
    graphs=[GraphFact("0/0", "Net.forward", PLACE, 3, GUARDS)],
    breaks=[BreakFact("graph-break", "Graph break: print.", PLACE)],
    recompiles=[
        RecompileFact("Net.forward", "0/1", 2, [BrokenGuard("`x` has size 9 in dimension 0, not 8", "x", PLACE, "0/0")])
    ],
    eager=[EagerFact("mix", 2, PLACE)],
    notes=["something to know"],
)


def text(report: GuardReport, **keywords: Any) -> str:
    document = {**report.to_dict(**keywords), "path": "/work/model.py"}
    return GuardsText(FileNames("/work", "/work"), Styler(False)).text(from_wire(GuardsDocument, document))


def test_everything_is_told_with_its_place() -> None:
    assert text(REPORT) == (
        "model.py::Net: 1 graph, 3 operations captured, 1 break, 1 recompilation over 2 calls\n"
        "note: something to know\n"
        "graph 0/0 of Net.forward at model.py:10:5: 3 operations\n"
        "  TENSOR_MATCH on x at model.py:10:5\n"
        "  and 2 guards of torch's own\n"
        "graph-break at model.py:10:5: Graph break: print.\n"
        "recompilation 0/1 of Net.forward for call 2:\n"
        "  `x` has size 9 in dimension 0, not 8 (graph 0/0) at model.py:10:5\n"
        "eager: 2 operations of mix at model.py:10:5\n"
    )


def test_bookkeeping_is_shown_where_it_is_asked_for() -> None:
    shown = text(REPORT, bookkeeping=True)
    assert "  TYPE_MATCH on self at model.py:10:5\n" in shown
    assert "  GRAD_MODE on \n" not in shown
    assert "  GRAD_MODE\n" in shown
    assert "of torch's own" not in shown


def test_places_are_paths_and_ranges_as_in_every_document() -> None:
    document = REPORT.to_dict(bookkeeping=True)
    first, _, last = document["graphs"][0]["guards"]
    assert (first["path"], first["range"]["start"]) == ("/work/model.py", {"line": 9, "character": 4})
    assert (last["path"], last["range"]) == (None, None)
    assert "place" not in first
