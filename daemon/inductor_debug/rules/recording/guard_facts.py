"""What is known of a target's guards and recompilations, as plain data for findings, JSON and people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Union

from inductor_debug_schema import Location, from_wire
from inductor_debug_schema.answers.guards_document import (
    EagerCode,
    FailedGuard,
    GraphEnd,
    GraphGuard,
    GuardedGraph,
    GuardsDocument,
)

from inductor_debug.artifacts.savable_report import SavableReport
from inductor_debug.rules.amounts import counted
from inductor_debug.source.notebooks.reading import place_in_words

SCHEMA = 1
Placed = Union[GuardedGraph, GraphGuard, GraphEnd, FailedGuard, EagerCode]
"""What has a place in the user's source."""


@dataclass(frozen=True, slots=True)
class GuardFact:
    """Something that a graph relies on. `place` is the user's expression that made it rely on it, where there is one.

    `kind` is torch's name for it (`TENSOR_MATCH`), `source` what it is about as the user would write it (`self.flag`);
    for conditions on symbolic sizes the kind is `SHAPE` and the source the condition (`2 <= x.size()[0]`).
    `bookkeeping` guards hold as long as nobody meddles with modules, hooks or torch's own state.
    """

    kind: str
    source: str
    place: Location | None
    bookkeeping: bool


@dataclass(slots=True)
class GraphFact:
    """One captured graph: `number` as torch counts compilations (`0/1`), the function it begins in, and its guards."""

    number: str
    function: str
    place: Location | None
    calls: int
    guards: list[GuardFact] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BrokenGuard:
    """A guard of the version `graph` that a call broke, in words, and the expression that made the guard."""

    text: str
    source: str
    place: Location | None
    graph: str


@dataclass(slots=True)
class RecompileFact:
    """A function that was compiled again, for the call `inputs` (from 1); `broken` has all failing guards."""

    function: str
    number: str
    inputs: int
    broken: list[BrokenGuard]


@dataclass(frozen=True, slots=True)
class BreakFact:
    """A graph break (or a function given up), in words."""

    rule: str
    text: str
    place: Location | None


@dataclass(frozen=True, slots=True)
class EagerFact:
    """A function whose operations ran outside of any graph: how many, the first, and the calls leading there."""

    function: str
    operations: int
    place: Location | None
    called_from: tuple[Location, ...] = ()


@dataclass(slots=True)
class GuardReport(SavableReport):
    """All of it for one target.

    `frames` counts compilations, `calls` the calls that all graphs captured, `sets` the sets of inputs that were run.
    """

    target: str
    sets: int = 0
    frames: int = 0
    calls: int = 0
    graphs: list[GraphFact] = field(default_factory=list)
    breaks: list[BreakFact] = field(default_factory=list)
    recompiles: list[RecompileFact] = field(default_factory=list)
    eager: list[EagerFact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_dict(self, *, bookkeeping: bool = False) -> dict[str, Any]:
        """The report as a `GuardsDocument` in JSON; bookkeeping guards are only counted, unless they are asked for."""
        document = {"schema": SCHEMA, **_plain(asdict(self))}
        for code in document["eager"]:
            del code["called_from"]
        for graph in document["graphs"]:
            hidden = [guard for guard in graph["guards"] if guard["bookkeeping"]]
            graph["bookkeeping_guards"] = len(hidden)
            if not bookkeeping:
                graph["guards"] = [guard for guard in graph["guards"] if not guard["bookkeeping"]]
        return document

    def summary(self, *, bookkeeping: bool = False) -> str:
        """The report for people; with `bookkeeping`, guards that keep torch's own books are listed, too."""
        return "\n".join(lines_of(from_wire(GuardsDocument, self.to_dict(bookkeeping=bookkeeping))))


def lines_of(document: GuardsDocument, shown: Callable[[str], str] = str) -> list[str]:
    """A document as lines of text; `shown` says how a path is written."""
    graphs, breaks = counted(len(document.graphs), "graph"), counted(len(document.breaks), "break")
    again = counted(len(document.recompiles), "recompilation")
    lines = [
        f"{document.target}: {graphs}, {counted(document.calls, 'operation')} captured, {breaks}, {again} "
        f"over {counted(document.sets, 'call')}"
    ]
    lines += [f"note: {note}" for note in document.notes]
    for graph in document.graphs:
        lines.append(
            f"graph {graph.number} of {graph.function}{_at(graph, shown)}: {counted(graph.calls, 'operation')}"
        )
        for guard in graph.guards:
            subject = f" on {guard.source}" if guard.source else ""
            lines.append(f"  {guard.kind}{subject}{_at(guard, shown)}")
        hidden = graph.bookkeeping_guards - sum(guard.bookkeeping for guard in graph.guards)
        lines += [f"  and {counted(hidden, 'guard')} of torch's own"] if hidden else []
    lines += [f"{end.rule}{_at(end, shown)}: {end.text}" for end in document.breaks]
    for made in document.recompiles:
        lines.append(f"recompilation {made.number} of {made.function} for call {made.inputs}:")
        lines += [f"  {broken.text} (graph {broken.graph}){_at(broken, shown)}" for broken in made.broken]
    for code in document.eager:
        lines.append(f"eager: {counted(code.operations, 'operation')} of {code.function}{_at(code, shown)}")
    return lines


def _at(item: Placed, shown: Callable[[str], str]) -> str:
    if item.path is None or item.range is None:
        return ""
    start = item.range.start
    return f" at {place_in_words(shown(item.path), item.path, start.line, start.character)}"


def _plain(value: Any) -> Any:
    """Places become `path` and `range`, as in every document; both are null where there is no source."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = {key: _plain(item) for key, item in value.items() if key != "place"}
    if "place" in value:
        place = value["place"] or {"path": None, "range": None}
        plain |= {"path": place["path"], "range": place["range"]}
    return plain
