"""`graph --format svg`: a picture of graphs, laid out in layers in time proportional to nodes and edges.

A node stands below all of its inputs, near the middle of them; inputs, parameters and constants are lines of text in
the nodes that use them, because their edges would hide the rest. Graphs stand below each other. The picture has no
scripts and loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from inductor_debug_schema import Graph, GraphDocument, GraphNode, NodeRole

from inductor_debug.report.graphs.graph_dot import value_of
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.source.notebooks.reading import place_in_words

_STUBS = frozenset({NodeRole.INPUT, NodeRole.PARAMETER, NodeRole.BUFFER, NodeRole.CONSTANT})
_WIDTH, _LINE, _PAD, _GAP_X, _GAP_Y = 220, 14, 6, 24, 40
_MOST_LETTERS = 36
_MOST_STUBS = 3
_STYLE = (
    "text{font:11px sans-serif;fill:#1f2328}.title{font-weight:bold;font-size:13px}.faint{fill:#59636e}"
    ".box{fill:#f6f8fa;stroke:#818b98}.edge{fill:none;stroke:#818b98;stroke-opacity:.6}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.faint{fill:#9198a1}.box{fill:#151b23;stroke:#656c76}}"
)


@dataclass(slots=True)
class _Box:
    """A node in the picture: its lines of text, its layer and the left upper corner."""

    node: GraphNode
    lines: list[str]
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    sources: list[_Box] = field(default_factory=list)

    @property
    def height(self) -> float:
        return _LINE * len(self.lines) + 2 * _PAD


def graph_svg(document: GraphDocument) -> str:
    """All graphs of the document, with a line break at its end."""
    parts: list[str] = []
    top, widest = 0.0, float(_WIDTH)
    for graph in document.graphs:
        boxes = _boxes(graph)
        width, bottom = _place(boxes, top + 2 * _LINE + _PAD)
        title = f"{graph.name} ({graph.kind.value}, {len(graph.nodes)} nodes)"
        parts.append(f'<text class="title" x="0" y="{top + _LINE:.0f}">{_escaped(title)}</text>')
        parts += _edges(boxes)
        parts += map(_drawn, boxes)
        top, widest = bottom + _GAP_Y, max(widest, width)
    box = f"{-_PAD} {-_PAD} {widest + 2 * _PAD:.0f} {top + 2 * _PAD:.0f}"
    size = f'width="{widest + 2 * _PAD:.0f}" height="{top + 2 * _PAD:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {size}>\n<style>{_STYLE}</style>'
    title = f"<title>{_escaped(f'{document.target}, stage {stage_name(document.stage)}')}</title>"
    return "\n".join([head, title, *parts, "</svg>"]) + "\n"


def _boxes(graph: Graph) -> list[_Box]:
    """The boxes in the order of the graph, which is topological, each a layer below the last of its inputs."""
    stubs = {node.name: node for node in graph.nodes if node.role in _STUBS}
    known: dict[str, _Box] = {}
    for node in graph.nodes:
        if node.name in stubs:
            continue
        given = [stubs[name] for name in node.inputs if name in stubs]
        box = _Box(node, _lines(node, given))
        box.sources = [known[name] for name in dict.fromkeys(node.inputs) if name in known]
        box.layer = max((source.layer + 1 for source in box.sources), default=0)
        known[node.name] = box
    return list(known.values())


def _lines(node: GraphNode, given: list[GraphNode]) -> list[str]:
    lines = [node.name, node.op, value_of(node)]
    lines += [f"← {stub.detail or stub.name} {value_of(stub)}" for stub in given[:_MOST_STUBS]]
    if len(given) > _MOST_STUBS:
        lines.append(f"← {len(given) - _MOST_STUBS} more")
    return [_cut(line) for line in lines if line]


def _place(boxes: list[_Box], top: float) -> tuple[float, float]:
    """Gives every box its corner; returns the width and the bottom of all of them."""
    layers: dict[int, list[_Box]] = {}
    for box in boxes:
        layers.setdefault(box.layer, []).append(box)
    widest = 0.0
    for number in range(len(layers)):
        right = 0.0
        row = layers[number]
        wanted = {id(box): _middle(box) for box in row}
        for box in sorted(row, key=lambda box: wanted[id(box)]):
            box.x, box.y = max(right, wanted[id(box)]), top
            right = box.x + _WIDTH + _GAP_X
        widest = max(widest, right - _GAP_X)
        top += max(box.height for box in row) + _GAP_Y
    return widest, top - _GAP_Y if boxes else top


def _middle(box: _Box) -> float:
    return sum(source.x for source in box.sources) / len(box.sources) if box.sources else 0.0


def _edges(boxes: list[_Box]) -> Iterator[str]:
    for box in boxes:
        for source in box.sources:
            x, y = source.x + _WIDTH / 2, source.y + source.height
            to_x, to_y = box.x + _WIDTH / 2, box.y
            half = (y + to_y) / 2
            curve = f"M{x:.0f} {y:.0f}C{x:.0f} {half:.0f} {to_x:.0f} {half:.0f} {to_x:.0f} {to_y:.0f}"
            yield f'<path class="edge" d="{curve}"/>'


def _drawn(box: _Box) -> str:
    place = box.node.place
    where = place_in_words(place.path, place.path, place.range.start.line) if place is not None else box.node.module
    texts = "".join(
        f'<text{"" if number == 0 else _FAINT} x="{box.x + _PAD:.0f}" y="{box.y + _LINE * (number + 1):.0f}">'
        f"{_escaped(line)}</text>"
        for number, line in enumerate(box.lines)
    )
    corner = f'x="{box.x:.0f}" y="{box.y:.0f}" width="{_WIDTH}" height="{box.height:.0f}"'
    return f'<g><title>{_escaped(where or box.node.name)}</title><rect class="box" rx="4" {corner}/>{texts}</g>'


_FAINT = ' class="faint"'


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _escaped(text: str) -> str:
    """Text that can only be text, without the characters that XML cannot hold."""
    return escape("".join(c if c.isprintable() else "�" for c in text))
