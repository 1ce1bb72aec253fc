"""Graphs of any size and name become readable text, pictures and JSON, and never markup."""

from __future__ import annotations

import base64
import json
import re
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.report import data_pages
from inductor_debug.report.data_pages import PageError
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.graphs import graph_html
from inductor_debug.report.graphs.graph_dot import graph_dot
from inductor_debug.report.graphs.graph_json import graph_document
from inductor_debug.report.graphs.graph_svg import graph_svg
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.graph_text import GraphText
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.statistics import statistics_of
from inductor_debug_schema import (
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    Kernel,
    KernelBuild,
    Location,
    Mark,
    NodeRole,
    Position,
    Range,
    Stage,
    to_wire,
)

GOLDEN = Path(__file__).resolve().parents[2] / "shared_schema" / "golden" / "GraphColumns.graph"
SVG = "{http://www.w3.org/2000/svg}"
PLACES = FileNames("/project", "/project")


def golden() -> GraphDocument:
    return decode(GOLDEN.read_bytes())


def document(nodes: list[GraphNode]) -> GraphDocument:
    return GraphDocument("M", Stage.MOCK, "/project/m.py", "", "mock", "2.13.0", [Graph("0", GraphKind.FX, nodes)])


def chain(count: int) -> list[GraphNode]:
    """One weight that every node uses, and every node uses the one before."""
    nodes = [GraphNode("w", "placeholder", NodeRole.PARAMETER, shape=[8, 8], dtype="float32", detail="weight")]
    for number in range(count):
        before = [f"n{number - 1}"] if number else []
        nodes.append(GraphNode(f"n{number}", "aten.mm.default", inputs=[*before, "w"], shape=[8, 8], dtype="float32"))
    return nodes


def boxes(svg: str) -> list[tuple[float, float, float]]:
    """Left, top and bottom of every box."""
    found = [element.attrib for element in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    return [(float(box["x"]), float(box["y"]), float(box["y"]) + float(box["height"])) for box in found]


def test_nodes_of_a_notebook_are_placed_in_its_cells_in_every_format(tmp_path: Path) -> None:
    path = str(tmp_path / "net.ipynb")
    cells = [{"cell_type": kind, "source": source} for kind, source in (("markdown", "#"), ("code", "x = 1\ny = x"))]
    Path(path).write_text(json.dumps({"cells": cells}), encoding="utf-8")
    place = Location(path, Range(Position(2, 4), Position(2, 5)))
    made = replace(document([GraphNode("y", "aten.neg.default", place=place)]), path=path)
    placed, names = "net.ipynb: cell 2, line 2", FileNames(str(tmp_path), str(tmp_path))
    for text in (graph_dot(made), graph_svg(made), GraphText(names, ShownTexts(), Styler(False)).text(made)):
        assert placed in text
    page = graph_html.graph_html("M", [made], [], [], graph_html.sources_of([made]), names.shown)
    data = json.loads(base64.b64decode(re.findall(r'id="data">([^<]*)<', page)[0]))
    assert data["cells"] == [{"path": "net.ipynb", "number": 2, "start": 1, "lines": 2}]
    assert data["sources"]["net.ipynb"].split("\n")[2] == "y = x"


def test_text_has_every_graph_node_and_kernel() -> None:
    text = GraphText(PLACES, ShownTexts({"/project/modèle.py": "\n" * 11 + "        y = relu(x)\n"}), Styler(False))
    said = text.text(golden())
    assert "modèle.py::Model, stage kernels" in said
    assert "note: Nothing here needs a gradient." in said
    assert "graph 0.forward (forward, 2 nodes, made from 0)" in said
    assert "  modèle.py:12  y = relu(x)" in said
    assert "%weight: float32[64, 63] = placeholder(layer.0.weight)  # parameter, layer.0, 15.75 KiB" in said
    assert "%mm: float32[2*s0 + 1, 63] = aten.mm.default()" in said
    assert "backward of %mm, %relu, in cpp_fused_relu_0" in said
    assert "  cpp_fused_relu_0 (cpp, 1 line, graph 0.forward): %relu" in said


def test_what_keeps_every_kernel_from_being_compiled_is_told_once() -> None:
    build = KernelBuild("sm_89", "", "", problem="Triton is not installed.")
    kernels = [Kernel(name, "triton", "", "0", [], [], build=build) for name in ("one", "two")]
    said = GraphText(PLACES, ShownTexts(), Styler(False)).text(replace(document([]), kernels=kernels))
    assert said.count("Triton is not installed.") == 1
    worked = replace(kernels[0], build=replace(build, problem="", registers=8))
    said = GraphText(PLACES, ShownTexts(), Styler(False)).text(replace(document([]), kernels=[worked, *kernels]))
    assert said.count("Triton is not installed.") == 2


def test_text_has_what_kernels_ask_of_the_accelerator() -> None:
    said = GraphText(PLACES, ShownTexts(), Styler(False)).text(golden())
    assert "kernel specs, derived from Inductor's IR and the profile of mock, whose compiler was not asked" in said
    assert "not known without that compiler: how work is divided over cores" in said
    assert "kernel extern_kernels.mm, graph 0.forward\n  aten.mm.default  # %mm, reduction  modèle.py:12\n" in said
    assert "d1 = s0 (padded to 64*ceil(s0/64)), d2 = 65 (padding not known, reduced, over 4 cores)" in said
    assert "input     <b>w</b>: float16[65, s0] -> sen169_fp16, device size not known, coordinates [d1//64]" in said
    assert "output    mm: float16[50, 65] -> sen169_fp16[2, 50, 64], stride map [64, 65, 1], sticks" in said
    assert "inserted  restickify of <b>w</b>, sticks along dimension 1: [2, 50, 64], 12.5 KiB" in said
    assert "  é  # op0, sdsc_0.json\n    remark    nobody knows" in said


def test_names_with_escape_sequences_reach_no_terminal() -> None:
    said = GraphText(PLACES, ShownTexts(), Styler(False)).text(document([GraphNode("\x1b[2J", "op\x07")]))
    assert "\x1b" not in said
    assert "\x07" not in said


def test_json_names_paths_as_reports_do() -> None:
    statistics = statistics_of(Recording(), target="Model", stage=Stage.MOCK, path="/project/modèle.py")
    said = graph_document(golden(), statistics, PLACES)
    node = said["graphs"][0]["nodes"][2]
    assert (node["name"], node["path"], node["inputs"]) == ("<b>y</b>", "modèle.py", ["l_x_", "weight", "l_x_"])
    assert said["graphs"][0]["nodes"][0]["shape"] == ["s0", 64]
    assert (said["statistics"], said["kernels"][0]["nodes"]) == (to_wire(statistics), ["relu"])
    json.dumps(said)
    spec = said["specs"]["specs"][0]
    assert (said["specs"]["origin"], spec["path"], spec["range"]["start"]["line"]) == ("derived", "modèle.py", 11)
    assert (spec["kernel"], spec["arguments"][1]["layout"]["size"]) == ("extern_kernels.mm", [2, 50, 64])


def test_dot_quotes_everything() -> None:
    nodes = [GraphNode('a"b\\', "op\n}"), GraphNode("c", "op", inputs=['a"b\\'])]
    said = graph_dot(document(nodes))
    assert '"0/a\\"b\\\\" -> "0/c";' in said
    assert said.count("\n") == len([line for line in said.splitlines() if line])


def test_dot_draws_a_weight_beside_each_of_its_users() -> None:
    said = graph_dot(document(chain(3)))
    assert said.count("weight\\nfloat32[8, 8]") == 3


@pytest.mark.parametrize("count", [1, 2, 50_000])
def test_svg_puts_every_node_below_its_inputs(count: int) -> None:
    svg = graph_svg(document(chain(count)))
    placed = boxes(svg)
    assert len(placed) == count
    assert all(below[1] > above[2] for above, below in pairwise(placed))


def test_svg_boxes_of_a_layer_do_not_overlap() -> None:
    nodes = [GraphNode("x", "op"), *(GraphNode(f"n{number}", "op", inputs=["x"]) for number in range(20))]
    lefts = sorted(left for left, top, _ in boxes(graph_svg(document(nodes))) if top > 60)
    assert len(lefts) == 20
    assert all(right - left >= 220 for left, right in pairwise(lefts))


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a&b", "\x00\x1b", "]]>", "\ud800", "é🙂" * 40])
def test_svg_holds_names_as_text(name: str) -> None:
    svg = graph_svg(document([GraphNode(name, name, detail=name)])).encode("utf-8")
    root = ElementTree.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {"svg", "style", "title", "text", "g", "rect"}


def test_an_empty_graph_is_still_a_picture() -> None:
    assert boxes(graph_svg(document([]))) == []
    assert graph_dot(document([])).startswith("digraph")


@pytest.mark.parametrize("page", [None, "<html></html>", f"{data_pages.PLACEHOLDER}{data_pages.PLACEHOLDER}"])
def test_a_page_that_takes_no_graph_is_refused(tmp_path: Path, monkeypatch: Any, page: str | None) -> None:
    path = tmp_path / "graph.html"
    if page is not None:
        path.write_text(page, encoding="utf-8")
    monkeypatch.setattr(data_pages, "PAGES", tmp_path)
    with pytest.raises(PageError):
        graph_html.graph_html("m.py::M", [document([])], [], [], {}, str)


def test_sources_are_the_files_that_nodes_come_from_as_far_as_there_is_room(tmp_path: Path) -> None:
    texts = {"much.py": "y = 1\r\nz = 2\n", "large.py": "#" * (1 << 20), "binary.py": "\0", "unused.py": "x = 1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
    start = Range(Position(0, 0), Position(0, 1))
    names = ["much.py", "much.py", "large.py", "binary.py", "gone.py"]
    places = [Location(str(tmp_path / name), start) for name in names]
    nodes = [GraphNode(f"n{number}", "aten.relu.default", place=place) for number, place in enumerate(places)]
    assert graph_html.sources_of([document(nodes)]) == {str(tmp_path / "much.py"): "y = 1\nz = 2\n"}


def test_no_renderer_recurses() -> None:
    deep = document(chain(sys.getrecursionlimit() * 2))
    assert graph_dot(deep)
    assert graph_svg(deep)
    assert GraphText(PLACES, ShownTexts(), Styler(False)).text(deep)


def test_what_findings_are_about_is_named_in_a_page_as_the_findings_are() -> None:
    """And nowhere stands the folder in which its maker works."""
    place = Location("/project/m.py", Range(Position(0, 0), Position(0, 5)))
    marked = GraphDocument(
        "M",
        Stage.MOCK,
        "/project/m.py",
        "",
        "mock",
        "2.13.0",
        [Graph("0", GraphKind.FX, chain(1))],
        marks=[Mark("dtype", place, "0", ["n0"])],
    )
    page = graph_html.graph_html("m.py::M", [marked], [], [], {}, PLACES.shown)
    payload = re.search(r'id="data"[^>]*>\s*([\w+/=]+)\s*<', page)
    assert payload is not None
    (encoded,) = json.loads(base64.b64decode(payload[1]))["documents"]
    content = base64.b64decode(encoded)
    assert [mark.place.path for mark in decode(content).marks] == ["m.py"]
    assert b"/project" not in content
