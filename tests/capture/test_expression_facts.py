"""What a user learns of an expression: the shapes it gave, the ops and modules under it, how often it ran."""

from __future__ import annotations

from textwrap import dedent

import pytest
from forked import analyze, excerpt
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug.rules.costing.run_costs import RunCosts
from inductor_debug.rules.expressions.expression_facts import MOST_FACTS, ExpressionReader
from inductor_debug.rules.recording.ops import Frame, Op, Recording, SymbolicSize, TensorMeta
from inductor_debug.source.flow import flow_of
from inductor_debug.source.source_text import SourceText
from inductor_debug_schema import ExpressionFact, ExpressionsSeen, Location, Position, Range, Stage

PATH = "/project/model.py"
LIBRARY = "/env/lib/python3.11/site-packages/einops/einops.py"

MODEL = """
    import torch
    from torch import nn


    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm = nn.LayerNorm(width)
            self.up = nn.Linear(width, 2 * width)

        def forward(self, x):
            h = self.up(self.norm(x))
            a, b = h.chunk(2, dim=-1)
            y = a * b.sigmoid()
            y += a
            return x + y, h


    def helper(x):
        out = x * 2
        print(out.mean())
        return out


    def pair(z):
        y, _ = helper(z).topk(2)
        return y


    # inductor-debug: inputs=(torch.randn(8, 64),), init=(64,)
    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.blocks = nn.ModuleList([Block(width) for _ in range(3)])
            self.seq = nn.Sequential(nn.Linear(width, width), nn.Linear(width, 10))

        def forward(self, x):
            for block in self.blocks:
                x, hidden = block(x)
            for n in range(3):
                x = helper(x)
            for n in range(3):
                x = x + 1
            parts = [x[:, : 2 ** k] for k in range(3)]
            best = pair(x)
            return self.seq(x) + parts[0].sum() + best.sum()
"""


def shapes(fact: ExpressionFact) -> list[list[int | str]]:
    return [tensor.shape for tensor in fact.outputs]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[Stage, str], ExpressionFact]:
    job = analyze(
        tmp_path_factory.mktemp("facts") / "model.py",
        dedent(MODEL),
        stages=(Stage.PREVIEW, Stage.MOCK),
        accelerator="spyre",
    )
    told = [event for event in job.events if isinstance(event, ExpressionsSeen)]
    assert [(event.target, event.stage) for event in told] == [("Net", Stage.PREVIEW), ("Net", Stage.MOCK)]
    return {(event.stage, excerpt(job.text, fact)): fact for event in told for fact in event.expressions}


@pytest.mark.torch
@pytest.mark.parametrize("stage", [Stage.PREVIEW, Stage.MOCK])
@pytest.mark.parametrize(
    ("expression", "wanted", "runs"),
    [
        ("self.norm(x)", [[8, 64]], 3),
        ("h.chunk(2, dim=-1)", [[8, 64], [8, 64]], 3),
        ("y += a", [[8, 64]], 3),
        ("block(x)", [[8, 64], [8, 128]], 3),
        ("helper(x)", [[8, 64]], 3),
        ("x * 2", [[8, 64]], 4),
        ("x + 1", [[8, 64]], 3),
        ("pair(x)", [[8, 2]], 1),
        ("self.seq(x)", [[8, 10]], 1),
        ("x[:, : 2 ** k]", [[8, 4]], 3),
    ],
)
def test_every_expression_tells_what_it_gave_and_how_often_it_ran(
    seen: dict[tuple[Stage, str], ExpressionFact], stage: Stage, expression: str, wanted: list[list[int]], runs: int
) -> None:
    fact = seen[stage, expression]
    assert shapes(fact) == wanted
    assert fact.exact
    assert fact.runs == runs


@pytest.mark.torch
def test_a_call_tells_ops_modules_strides_bytes_and_the_layout_on_the_accelerator(
    seen: dict[tuple[Stage, str], ExpressionFact],
) -> None:
    block = seen[Stage.PREVIEW, "block(x)"]
    assert block.modules == ["blocks.0", "blocks.1", "blocks.2"]
    assert block.ops["aten.addmm.default"] == 3
    assert block.op_count >= sum(block.ops.values())
    up = seen[Stage.PREVIEW, "self.up(self.norm(x))"]
    (tensor,) = up.outputs
    assert (tensor.dtype, tensor.stride, tensor.bytes) == ("float32", [128, 1], 4096)
    assert tensor.layout is not None
    assert tensor.layout.stride_map == [32, 128, 1]
    assert up.modules == ["blocks.0.up", "blocks.1.up", "blocks.2.up"]
    slices = seen[Stage.PREVIEW, "x[:, : 2 ** k]"]
    assert [tensors[0].shape for tensors in slices.variants] == [[8, 1], [8, 2], [8, 4]]
    (narrow,) = slices.outputs
    assert narrow.layout is not None
    assert narrow.layout.waste > 0.8


def location(start: int, end: int, path: str = PATH, line: int = 0) -> Location:
    return Location(path, Range(Position(line, start), Position(line, end)))


def tensor(*shape: int | SymbolicSize, dtype: str = "float32", value: int = 0) -> TensorMeta:
    return TensorMeta(value, 0, value, shape, (1,) * len(shape), dtype, "cpu", 4, 4, True)


def op(
    name: str,
    *frames: Location,
    inputs: tuple[TensorMeta, ...] = (),
    outputs: tuple[TensorMeta, ...] = (),
    **more: object,
) -> Op:
    stack = tuple(Frame(place, "f", place.path == PATH) for place in frames)
    return Op(0, f"aten.{name}", {}, inputs, outputs, stack, **more)  # type: ignore[arg-type]


class Texts:
    def __init__(self, text: str = "") -> None:
        self._source = SourceText(text)

    def text(self, path: str) -> SourceText | None:
        return self._source if path == PATH else None


def facts_of(*ops: Op, accelerator: str = "mock", text: str = "") -> list[ExpressionFact]:
    profile = read_profile(load_document(accelerator))
    reader = ExpressionReader(profile, Texts(text), RunCosts(profile))
    return reader.facts([Recording(list(ops))])


def test_sizes_that_are_not_known_are_told_as_torch_prints_them() -> None:
    made = tensor(SymbolicSize("8*s0", 8), 64)
    (fact,) = facts_of(op("mul.Tensor", location(0, 5), outputs=(made,)), accelerator="spyre")
    assert shapes(fact) == [["8*s0", 64]]
    assert fact.outputs[0].bytes is None
    assert fact.outputs[0].layout is None


@pytest.mark.parametrize(
    ("last", "wanted"),
    [
        (op("native_dropout.default", location(0, 5), outputs=(tensor(8), tensor(8, dtype="bool"))), [[8]]),
        (op("topk.default", location(0, 5), outputs=(tensor(2), tensor(2, dtype="int64"))), [[2], [2]]),
        (op("detach.default", location(0, 5), outputs=(tensor(8),)), [[3]]),
        (op("_local_scalar_dense.default", location(0, 5)), []),
        (op("mul.Tensor", location(0, 5), outputs=(tensor(8),), autograd_node="MulBackward0"), []),
    ],
    ids=["notes for the backward pass", "several outputs", "a note", "a number", "a backward pass"],
)
def test_an_expression_gives_what_its_caller_gets(last: Op, wanted: list[list[int]]) -> None:
    (fact,) = facts_of(op("mm.default", location(0, 5), outputs=(tensor(3),)), last)
    assert shapes(fact) == wanted


def test_indices_that_only_the_backward_pass_wants_are_not_what_pooling_gives() -> None:
    pooled, indices = tensor(4, value=1), tensor(4, value=2, dtype="int64")
    (fact,) = facts_of(
        op("max_pool2d_with_indices.default", location(0, 5), outputs=(pooled, indices)),
        op("squeeze.dim", location(0, 5), inputs=(pooled,), outputs=(tensor(5),), is_view=True),
        op("squeeze.dim", location(0, 5), inputs=(indices,), outputs=(tensor(6),), is_view=True),
    )
    assert shapes(fact) == [[5]]


def test_what_a_recurrent_module_gives_besides_its_output_is_not_known() -> None:
    rnn = op("mkldnn_rnn_layer.default", location(0, 5), outputs=(tensor(8),))
    (fact,) = facts_of(rnn, op("transpose.int", location(0, 5), outputs=(tensor(8),), is_view=True))
    assert not fact.exact


def test_what_a_library_makes_of_its_last_op_is_not_told_as_sure() -> None:
    inside = op("mul.Tensor", location(0, 9, LIBRARY), location(0, 5), outputs=(tensor(8),))
    (fact,) = facts_of(inside)
    assert not fact.exact
    assert fact.path == PATH


def test_a_function_that_returns_something_else_than_its_last_op_is_not_told_as_sure() -> None:
    text = "f(x)\ndef f(x):\n  y = a(x)\n  b(y)\n  return y\ndef g(x):\n  b(x)\n  return self.kept\n"
    first = op("mm.default", location(6, 10, line=2), location(0, 4), outputs=(tensor(3),))
    second = op("mean.default", location(2, 6, line=3), location(0, 4), outputs=(tensor(),))
    caller = facts_of(first, second, text=text)[0]
    assert (shapes(caller), caller.exact) == ([[3]], True)
    third = op("mean.default", location(2, 6, line=6), location(0, 4), outputs=(tensor(),))
    caller = facts_of(third, text=text)[0]
    assert (shapes(caller), caller.exact) == ([[]], False)


def test_recursive_code_and_long_recordings_stay_within_bounds() -> None:
    deep = tuple(location(0, 5, line=line) for line in range(500))
    assert len(facts_of(op("mul.Tensor", *deep, outputs=(tensor(8),)))) == 64
    many = [op("mul.Tensor", location(0, 5, line=line), outputs=(tensor(8),)) for line in range(MOST_FACTS + 5)]
    assert len(facts_of(*many)) == MOST_FACTS


def test_loops_and_results_are_read_off_the_source() -> None:
    text = "for x in y:\n  f(x)\ng([h(z) for z in y])\n'😀'; k()\n"
    text += "def f():\n  a = 1\n  if a:\n    a = b()\n  return a, c()\n"
    flow = flow_of(SourceText(text))
    assert flow.loops_around(Range(Position(1, 2), Position(1, 6)))
    assert flow.loops_around(Range(Position(2, 3), Position(2, 7)))
    assert not flow.loops_around(Range(Position(3, 6), Position(3, 9)))
    results = {(span.start.line, span.start.character): found for span, (found,) in flow.results.items()}
    assert {place: (found.slot, found.slots) for place, found in results.items()} == {(7, 8): (0, 2), (8, 12): (1, 2)}
    assert flow_of(SourceText("def f(:")).results == {}
