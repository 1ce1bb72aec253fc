"""Specs of real kernels: which operations they have, tied to scheduler nodes, sources and findings."""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze, excerpt
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug_schema import ArtifactMade, DeviceSpecs, GraphDocument, GraphKind, InsertedKind, Stage

MODEL = """
import torch

# inductor-debug: inputs=(torch.randn(50, 65).half(), torch.randn(65, 50).half(), torch.randn(2, 3, 9, 9).half())
def model(x, y, images):
    z = x + y.t()
    weights = torch.softmax(z, -1)
    scaled = weights * weights.mean(0) + z.sum()
    weight = y[:27].reshape(50, 3, 3, 3)
    return scaled, (x * 2).t() @ x, torch.conv2d(images, weight).relu()
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, GraphDocument]:
    path = tmp_path_factory.mktemp("specs") / "model.py"
    stages = (Stage.INDUCTOR,)
    job = analyze(path, dedent(MODEL), stages=stages, accelerator="spyre", keep_graphs=True)
    made = [event for event in job.events if isinstance(event, ArtifactMade)]
    graphs = [event for event in made if event.suffix == ".graph"]
    assert graphs, job.output
    return job, decode(graphs[0].content)


def specs_of(document: GraphDocument) -> DeviceSpecs:
    assert document.specs is not None
    return document.specs


def test_every_kernel_has_specs_or_a_note(run: tuple[Job, GraphDocument]) -> None:
    _, document = run
    specs = specs_of(document)
    told = {(spec.graph, spec.kernel) for spec in specs.specs}

    assert len(document.kernels) > 3
    for kernel in document.kernels:
        assert (kernel.graph, kernel.name) in told or any(note.startswith(kernel.name) for note in specs.notes)


def test_loops_are_as_long_as_those_of_the_scheduler_nodes(run: tuple[Job, GraphDocument]) -> None:
    """An operation with a buffer of its own runs over what Inductor runs over, whatever the order of the loops."""
    _, document = run
    specs = specs_of(document)
    softmax = {spec.op: spec for spec in specs.specs if "softmax" in spec.kernel}
    extents = {op: math.prod(int(loop.extent) for loop in spec.loops) for op, spec in softmax.items()}

    assert {extents[f"aten.{op}"] for op in ("amax.default", "sum.dim_IntList", "exp.default")} == {50 * 65}
    ir = next(graph for graph in document.graphs if graph.kind is GraphKind.IR)
    rows = {row.name: row for row in ir.nodes}
    assert "[50, 1, 65 reduced]" in rows[softmax["aten.amax.default"].step].detail
    for spec in specs.specs:
        assert spec.kernel in rows[spec.step].kernels


def test_a_product_names_its_expression_and_what_is_inserted(run: tuple[Job, GraphDocument]) -> None:
    job, document = run
    (product,) = [spec for spec in specs_of(document).specs if spec.op == "aten.mm.default"]

    assert product.place is not None
    assert excerpt(job.text, product.place) == "(x * 2).t() @ x"
    assert [(loop.extent, loop.padded, loop.reduced) for loop in product.loops] == [
        (65, 65, False),
        (65, 128, False),
        (50, 64, True),
    ]
    assert [(each.kind, product.arguments[each.argument].name) for each in product.inserted] == [
        (InsertedKind.RESTICKIFY, "permute_1"),
        (InsertedKind.PADDING, "x"),
    ]


def test_a_convolution_stands_at_the_librarys_kernel_without_loops(run: tuple[Job, GraphDocument]) -> None:
    _, document = run
    specs = specs_of(document)
    (convolution,) = [spec for spec in specs.specs if spec.op == "aten.convolution.default"]

    assert convolution.kernel == "extern_kernels.convolution"
    assert not convolution.loops
    assert any("loops are its own" in remark for remark in convolution.remarks)
    assert any("host" in remark for remark in convolution.remarks), "of im2col"


def test_the_text_of_the_specs_is_kept_and_points_at_the_source(run: tuple[Job, GraphDocument]) -> None:
    job, document = run
    (listing,) = [listing for listing in document.listings if listing.title.startswith("kernel specs")]
    lines = listing.text.split("\n")
    kept = [event.content.decode() for event in job.events if isinstance(event, ArtifactMade)
            and event.suffix == ".txt" and "kernel specs" in event.title]  # fmt: skip

    assert kept == [listing.text]
    assert "d0 = 50, d1 = 65 (padded to 128)" in listing.text
    at = {excerpt(job.text, place.place): lines[place.line] for place in listing.places}
    assert "aten.mm.default" in at["(x * 2).t() @ x"]


def test_the_text_of_the_ir_has_the_loops(run: tuple[Job, GraphDocument]) -> None:
    _, document = run
    for title in ("IR before fusion", "IR after fusion"):
        text = next(listing.text for listing in document.listings if listing.title == title)
        assert ".loops = [50, 1, 65 reduced]" in text


def test_an_accelerator_without_layouts_has_no_specs(tmp_path: Path) -> None:
    text = "import torch\n# inductor-debug: inputs=(torch.randn(8),)\ndef f(x):\n    return x.relu()\n"
    job = analyze(tmp_path / "model.py", text, stages=(Stage.INDUCTOR,), accelerator="mock", keep_graphs=True)
    made = [event for event in job.events if isinstance(event, ArtifactMade)]

    assert decode(next(event for event in made if event.suffix == ".graph").content).specs is None
