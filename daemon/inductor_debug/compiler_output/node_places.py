"""The expression of each node of a graph's text, as exactly as what was written allows.

A text knows lines. On its line a node is one expression where its name, or that of the node that it was made of, fits
one alone; where nothing fits and one call there runs code of its own, it is that call; else it is the statement.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from inductor_debug_schema import Location, NodeRole, Position

from inductor_debug.compiler_output.files.node_mappings import StackFrame
from inductor_debug.compiler_output.files.readable_graphs import SourceLine, TextNode
from inductor_debug.compiler_output.source_places import FoundLine, SourcePlaces, is_library, position_of
from inductor_debug.source.line_expressions import OPERATOR_NAMES

_NUMBER = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class KnownOrigins:
    """What is known of the nodes of a graph beside its text.

    `before` names, for a node, those before AOTAutograd that it comes from, `lowered` the way back; `places` has the
    expressions of the former, `stacks` what called the kernels that compute the node. Nodes of a `backward` graph
    are named after nothing in the source, those of a `captured` graph are the very functions that were called.
    """

    before: Mapping[str, list[str]] = field(default_factory=dict)
    lowered: Mapping[str, list[str]] = field(default_factory=dict)
    places: Mapping[str, Location] = field(default_factory=dict)
    stacks: Mapping[str, list[list[StackFrame]]] = field(default_factory=dict)
    backward: bool = False
    captured: bool = False


def places_of(nodes: Iterable[TextNode], origins: KnownOrigins, sources: SourcePlaces) -> dict[str, Location]:
    """The places of those nodes that have one, by name."""
    by_line: dict[SourceLine, list[TextNode]] = {}
    found: dict[str, Location] = {}
    for node in nodes:
        if node.role is not NodeRole.OP or node.source is None:
            continue
        if not is_library(node.source.path):
            by_line.setdefault(node.source, []).append(node)
        elif (place := _caller(node.name, node.source, origins, sources)) is not None:
            found[node.name] = place
    for source, group in by_line.items():
        line = sources.line(source.path, source.line, source.code)
        if line is not None:
            found.update(_on_line(line, group, origins))
    return found


def _caller(name: str, source: SourceLine, origins: KnownOrigins, sources: SourcePlaces) -> Location | None:
    """Where the user calls the library that a node stands in, if all stacks that lead there agree."""
    leading = [
        stack
        for stack in origins.stacks.get(name, ())
        if (stack[-1].path, stack[-1].line) == (source.path, source.line)
    ]
    callers = {next((frame for frame in reversed(stack) if not is_library(frame.path)), None) for stack in leading}
    frame = callers.pop() if len(callers) == 1 else None
    line = sources.line(frame.path, frame.line, frame.code) if frame is not None else None
    if frame is None or line is None:
        return None
    expression = line.line.starting_at(_start(line, frame)) if frame.column is not None else None
    return Location(line.file.path, expression.range) if expression is not None else line.statement


def _on_line(line: FoundLine, nodes: list[TextNode], origins: KnownOrigins) -> dict[str, Location]:
    path = line.file.path
    counts = Counter(_base(node.op) for node in nodes)
    found = {node.name: place for node in nodes if (place := _known(node, line, origins)) is not None}
    if origins.backward:
        return {node.name: found.get(node.name, line.statement) for node in nodes}
    for node in nodes:
        expression = line.line.named(_names(node, origins, counts)) if node.name not in found else None
        if expression is not None:
            found[node.name] = Location(path, expression.range)
    taken = {place.range for place in found.values()}
    opaque = [each for each in line.line.expressions if each.opaque and each.range not in taken]
    rest = Location(path, opaque[0].range) if len(opaque) == 1 else line.statement
    return {node.name: found.get(node.name, line.statement if _is_operator(node) else rest) for node in nodes}


def _is_operator(node: TextNode) -> bool:
    """Whether it is what the user's own operators make, so that no module's code can stand behind it."""
    return _base(node.op) in OPERATOR_NAMES


def _known(node: TextNode, line: FoundLine, origins: KnownOrigins) -> Location | None:
    """What the node that it comes from, or a traceback with columns, says of this line."""
    for name in origins.before.get(node.name, ()):
        place = origins.places.get(name)
        if (
            place is not None
            and place.path == line.file.path
            and place.range.start.line <= line.number <= place.range.end.line
        ):
            return place
    starts = {
        expression.range
        for frame in (stack[-1] for stack in origins.stacks.get(node.name, ()))
        if frame.column is not None
        and node.source is not None
        and (frame.path, frame.line) == (node.source.path, node.source.line)
        and (expression := line.line.starting_at(_start(line, frame))) is not None
    }
    return Location(line.file.path, starts.pop()) if len(starts) == 1 else None


def _start(line: FoundLine, frame: StackFrame) -> Position:
    """Where the carets of a traceback begin, which has no indentation, on the line as it is now."""
    text = line.file.lines.text(line.number) or ""
    return position_of(line.file.lines, line.number, len(text) - len(text.lstrip()) + (frame.column or 0))


def _names(node: TextNode, origins: KnownOrigins, counts: Mapping[str, int]) -> set[str]:
    """Names that an expression may have that this node comes from.

    What one node became many of has no part that could be told by the names of its parts.
    """
    before = origins.before.get(node.name, ())
    names = {_NUMBER.sub("", name) for name in before}
    if origins.captured:
        return {*names, _base(node.op)}
    alone = all(len(origins.lowered.get(name, ())) <= 1 for name in before) if before else counts[_base(node.op)] == 1
    return names | {_base(node.op)} if alone else names


def _base(op: str) -> str:
    """`add` of `aten.add.Tensor`, `torch.add` and `operator.add`."""
    parts = op.split(".")
    return parts[1] if parts[0] in ("aten", "prims", "inductor") and len(parts) > 1 else parts[-1]
