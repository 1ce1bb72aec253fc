"""A captured graph as Python with one statement for each node, and behind it what a debugger is to show of the value.

The text is torch's own code of the graph, without the deletions at the ends of its lines: whoever stops there wants to
see all values so far. It runs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch
from inductor_debug_schema import Location
from inductor_debug_schema.answers.debug_document import DebugStop
from torch.fx import GraphModule, Node

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.kerneldiff.execution.node_graphs import NodePlaces
from inductor_debug.source.notebooks.reading import place_in_words

VALUE = "at_"
"""What the variable begins with that holds the eager value of a node, the compiled one, and how far they are apart."""
COMPARE = "compared"
"""The name by which the text calls what makes such a variable."""
_DELETED = re.compile(r";  (?:\w+ = )+None$")
_STATEMENT = re.compile(r"    (\w+)(?: : [^=]+)? = ")
_HEAD = '''\
"""{title}

Written by `inductor-debug debug`; run.py runs it, before the compiled code of the same graph and on the same values.
Behind each statement `{value}NAME` holds the value here (`eager`), the one that the compiled graph has there
(`compiled`), and how far they are apart (`apart`).
"""

import torch
from math import inf, nan
from torch import device


'''


@dataclass(frozen=True)
class GraphSource:
    """The text, what its names mean beside those that it imports, and where each value can be looked at."""

    text: str
    names: dict[str, Any]
    stops: list[DebugStop]


def graph_source(name: str, title: str, module: GraphModule, places: NodePlaces, sources: SourceMap) -> GraphSource:
    """The graph as the file `name`; `title` says what it is."""
    code = module.graph.python_code("self", verbose=False)
    nodes = {node.name: node for node in module.graph.nodes if node.op.startswith("call_")}
    lines: list[str] = _HEAD.format(title=title, value=VALUE).splitlines()
    stops: list[DebugStop] = []
    waiting: list[tuple[Node, Location | None]] = []
    for line in code.src.strip("\n").splitlines():
        statement = _DELETED.sub("", line.rstrip())
        if not statement:
            continue
        found = _STATEMENT.match(statement)
        node = nodes.get(found.group(1)) if found else None
        place = places.place(node) if node is not None else None
        if place is not None:
            lines.append(f"    # {_where(place)}  {' '.join(sources.excerpt(place).split())}")
        # A value is there to be looked at when the statement behind it is about to run.
        stops += [DebugStop(file=name, line=len(lines), name=held.name, place=known) for held, known in waiting]
        waiting = []
        lines.append(statement)
        if node is not None and has_value(node):
            lines.append(f'    {VALUE}{node.name} = {COMPARE}("{node.name}", {node.name})')
            waiting = [(node, place)]
    return GraphSource("\n".join(lines) + "\n", dict(code.globals), stops)


def has_value(node: Node) -> bool:
    """Whether the node makes a tensor."""
    return isinstance(node.meta.get("example_value"), torch.Tensor)


def _where(place: Location) -> str:
    start = place.range.start
    return place_in_words(place.path, place.path, start.line, start.character)
