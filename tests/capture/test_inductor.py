"""The inductor stage: what a reader is told of IR, kernels and wrapper, and where in the source it comes from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from forked import Job, analyze, excerpt, in_child
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.capture.node_facts.record import OpFacts
from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    Graph,
    GraphDocument,
    GraphKind,
    JobRequest,
    Kernel,
    NodeRole,
    Stage,
    StageState,
)

pytestmark = pytest.mark.torch

MODEL = """
import torch
from torch import nn

# inductor-debug: inputs=(torch.randn(8, 64),), train
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(64, 64)
        self.norm = nn.LayerNorm(64)

    def forward(self, x):
        h = torch.nn.functional.gelu(self.inner(x)) + torch.sin(x) * torch.cos(x)
        return (self.norm(h) / 8).softmax(-1)
"""


def run(folder: Path, text: str) -> Job:
    return analyze(folder / "model.py", dedent(text), stages=(Stage.INDUCTOR,), keep_graphs=True)


def document_of(job: Job) -> GraphDocument:
    made = [event for event in job.events if isinstance(event, ArtifactMade) and event.suffix == ".graph"]
    assert made, job.output
    return decode(made[0].content)


def graph(document: GraphDocument, name: str) -> Graph:
    return next(graph for graph in document.graphs if graph.name == name)


def kernel(document: GraphDocument, word: str, graph_name: str) -> Kernel:
    return next(kernel for kernel in document.kernels if word in kernel.name and kernel.graph == graph_name)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, GraphDocument]:
    job = run(tmp_path_factory.mktemp("trained"), MODEL)
    return job, document_of(job)


def texts(job: Job, kernel: Kernel) -> set[str]:
    return {excerpt(job.text, place) for place in kernel.places}


def test_every_graph_names_the_one_it_was_made_of(trained: tuple[Job, GraphDocument]) -> None:
    _, document = trained
    assert [(graph.name, graph.kind, graph.made_from) for graph in document.graphs] == [
        ("0", GraphKind.FX, ""),
        ("0.forward", GraphKind.FORWARD, "0"),
        ("0.forward.post_grad", GraphKind.POST_GRAD, "0.forward"),
        ("0.forward.ir", GraphKind.IR, "0.forward.post_grad"),
        ("0.backward", GraphKind.BACKWARD, "0"),
        ("0.backward.post_grad", GraphKind.POST_GRAD, "0.backward"),
        ("0.backward.ir", GraphKind.IR, "0.backward.post_grad"),
    ]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_every_op_has_an_expression_and_can_be_followed_to_dynamos_graph(
    trained: tuple[Job, GraphDocument], direction: str
) -> None:
    _, document = trained
    known = {node.name for node in graph(document, "0").nodes}
    for name in (f"0.{direction}", f"0.{direction}.post_grad", f"0.{direction}.ir"):
        rows = graph(document, name)
        for node in rows.nodes:
            if node.role is NodeRole.OP:
                assert node.place is not None, (name, node.name)
                assert node.origins, (name, node.name)
                assert set(node.origins) <= known, (name, node.name)
        known = {node.name for node in rows.nodes}


def test_a_forward_kernel_names_the_expressions_that_it_fuses(trained: tuple[Job, GraphDocument]) -> None:
    job, document = trained
    fused = kernel(document, "gelu", "0.forward.post_grad")
    assert fused.language == "cpp"
    assert 'extern "C"' in fused.source
    assert {"torch.sin(x)", "torch.cos(x)", "torch.nn.functional.gelu(self.inner(x))"} <= texts(job, fused)


def test_a_backward_kernel_names_the_forward_expressions(trained: tuple[Job, GraphDocument]) -> None:
    job, document = trained
    fused = kernel(document, "softmax", "0.backward.post_grad")
    assert "(self.norm(h) / 8).softmax(-1)" in texts(job, fused)
    matrix = kernel(document, "mm", "0.backward.post_grad")
    assert matrix.language == "extern"
    assert "extern_kernels.mm(" in matrix.source
    assert "self.inner(x)" in texts(job, matrix)


def test_backward_nodes_name_their_forward_nodes(trained: tuple[Job, GraphDocument]) -> None:
    _, document = trained
    forward = {node.name: node for node in graph(document, "0.forward.post_grad").nodes}
    product = next(node for node in graph(document, "0.backward.post_grad").nodes if node.op == "aten.mm.default")
    assert {forward[name].op for name in product.forward} == {"aten.addmm.default"}


def test_nodes_and_steps_name_their_kernels(trained: tuple[Job, GraphDocument]) -> None:
    _, document = trained
    names = {kernel.name for kernel in document.kernels}
    for name in ("0.forward.ir", "0.backward.ir"):
        for step in graph(document, name).nodes:
            if step.role is NodeRole.OP:
                assert len(step.kernels) == 1, step.name
                assert step.kernels[0] in names
    sine = next(node for node in graph(document, "0.forward.post_grad").nodes if node.op == "aten.sin.default")
    assert sine.kernels == [kernel(document, "gelu", "0.forward.post_grad").name]


def test_listings_point_at_the_source(trained: tuple[Job, GraphDocument]) -> None:
    job, document = trained
    assert [(listing.title, listing.graph) for listing in document.listings] == [
        (title, f"0.{direction}.post_grad")
        for direction in ("forward", "backward")
        for title in ("IR before fusion", "IR after fusion", "wrapper")
    ]
    before, after, wrapper = document.listings[:3]
    assert len(after.places) < len(before.places)
    lines = wrapper.text.split("\n")
    called = {lines[item.line].strip(): excerpt(job.text, item.place) for item in wrapper.places}
    addmm = next(line for line in called if line.startswith("extern_kernels.addmm("))
    assert called[addmm] == "self.inner(x)"
    for item in before.places:
        assert before.text.split("\n")[item.line].startswith("op"), item


def test_parameters_keep_the_users_names(trained: tuple[Job, GraphDocument]) -> None:
    _, document = trained
    rows = graph(document, "0.forward.post_grad").nodes
    assert [row.detail for row in rows if row.role is NodeRole.PARAMETER] == [
        "inner.weight",
        "inner.bias",
        "norm.weight",
        "norm.bias",
    ]


def test_kernels_and_listings_become_files(trained: tuple[Job, GraphDocument]) -> None:
    job, document = trained
    made = [event for event in job.events if isinstance(event, ArtifactMade)]
    sources = [event for event in made if event.kind is ArtifactKind.INDUCTOR_KERNELS and event.suffix == ".cpp"]
    assert {event.title for event in sources} == {item.name for item in document.kernels if item.language == "cpp"}
    assert any("IR after fusion" in event.title for event in made if event.kind is ArtifactKind.INDUCTOR_IR)


def test_nothing_is_started_and_nothing_written(tmp_path: Path) -> None:
    """With no compiler in reach, and a cache folder that must stay as it is."""
    cache = tmp_path / "cache"

    def work() -> list[Any]:
        os.environ["PATH"] = ""
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
        with _no_processes():
            return run_stage(tmp_path, MODEL)

    (state, kernels), output = in_child(work)
    assert state is StageState.DONE, output
    assert kernels
    assert not list(cache.rglob("*"))


def run_stage(folder: Path, text: str, around: Callable[[], Any] | None = None) -> list[Any]:
    """The stage alone, in this process: its state and the names of its kernels."""
    from inductor_debug.capture.expressions.spans import SourceMap
    from inductor_debug.capture.inductor.inductor_stage import run_inductor
    from inductor_debug.capture.targets.target_builder import TargetBuilder

    path = str(folder / "model.py")
    text = dedent(text)
    sources = SourceMap(str(folder), {path: text})
    request = JobRequest(0, path, text, str(folder), [Stage.INDUCTOR], {})
    with TargetBuilder(request, sources, 1 << 30).open() as builder:
        load = builder.load()
        outcome = run_inductor(builder.build(load.discovered.candidates[0], load), sources)
        assert outcome.graphs is not None
        return [outcome.report.state, [kernel.name for kernel in outcome.graphs(OpFacts()).kernels]]


@contextmanager
def _no_processes() -> Iterator[None]:
    import subprocess

    def refuse(*arguments: Any, **_: Any) -> Any:
        raise AssertionError(f"a process was started: {arguments}")

    original = subprocess.Popen.__init__
    subprocess.Popen.__init__ = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        subprocess.Popen.__init__ = original  # type: ignore[method-assign]


def test_inductor_is_left_as_it_was(tmp_path: Path) -> None:
    def work() -> tuple[Any, Any]:
        import torch._functorch.config as functorch_config
        from torch._inductor import config, cpp_builder, cpu_vec_isa, debug
        from torch._inductor.virtualized import V

        def state() -> list[Any]:
            functions = [
                getattr(module, name)
                for module, names in (
                    (cpp_builder, ("get_cpp_compiler", "is_gcc", "is_clang", "is_msvc_cl")),
                    (cpu_vec_isa, ("valid_vec_isa_list", "pick_vec_isa")),
                )
                for name in names
            ]
            caches = [cpu_vec_isa.valid_vec_isa_list.cache_info(), cpp_builder.is_gcc.cache_info()]
            settings = [config.save_config(), functorch_config.save_config()]
            handlers = [type(V.debug).__name__, dict(debug._inductor_triton_kernel_to_post_grad_node_info)]
            return [list(map(id, functions)), list(map(str, caches)), settings, handlers]

        before = state()
        run_stage(tmp_path, MODEL)
        return before, state()

    (before, after), _ = in_child(work)
    assert before == after


def test_shifted_text_moves_every_place_though_torch_has_compiled_the_same_before(tmp_path: Path) -> None:
    """Inductor's caches would answer with the positions of the first text."""

    def lines(folder: Path, text: str) -> tuple[list[int], list[int]]:
        document = document_of(run(folder, text))
        places = [place.range.start.line for kernel in document.kernels for place in kernel.places]
        return places, [item.place.range.start.line for listing in document.listings for item in listing.places]

    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    for one, other in zip(
        lines(tmp_path / "first", MODEL), lines(tmp_path / "second", "\n" * 7 + dedent(MODEL)), strict=True
    ):
        assert one
        assert other == [line + 7 for line in one]
