"""Other ways to compile models of equal layers on real torch: what they take, and whether they compute the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from inductor_debug.measuring.compile_ways import compiled_in, equal_layers
from inductor_debug.rules.words.compile_time_words import code_of, is_offered, result_of
from inductor_debug_schema import CompileTrial, CompileTrials, CompileWay, SameOutputs
from test_compile_time import timed
from torch import nn

pytestmark = pytest.mark.torch

STACK = '''\
import torch
from torch import nn


class Block(nn.Module):
    """Attention and a network, as transformers have them."""

    def __init__(self, width, number):
        super().__init__()
        self.number = number
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 2, width // 2).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        {LAYER}
        return x + self.mlp(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, 8)
        self.layers = nn.ModuleList([Block(8, number) for number in range(4)])

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return x{MODEL}


def example_inputs():
    return (torch.zeros((2, 4), dtype=torch.int64),)
'''
FEW = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, number):
        super().__init__()
        self.number = number
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        x = x + self.second(self.first(x).relu())
        {LAYER}
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block(8, number) for number in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x{MODEL}


def example_inputs():
    return (torch.randn(2, 4, 8),)
"""
"""Where only what is wrong with a way is looked at: each layer of `STACK` takes a second to compile."""


def tried(folder: Path, text: str = FEW, *, layer: str = "pass", model: str = "") -> CompileTrials:
    found = timed(folder, text.replace("{LAYER}", layer).replace("{MODEL}", model), ways=True).document.tried
    assert found is not None
    return found


def by_way(found: CompileTrials) -> dict[CompileWay, CompileTrial]:
    return {trial.compile_way: trial for trial in found.trials}


def test_equal_layers_are_compiled_as_regions_and_by_themselves_and_both_compute_the_same(tmp_path: Path) -> None:
    found = tried(tmp_path, STACK)
    (row,) = found.layers
    assert (row.pattern, row.kind, row.count, found.why_not) == ("layers.*", "Block", 4, "")
    trials = by_way(found)
    assert list(trials) == [CompileWay.AS_IT_IS, CompileWay.NESTED_REGIONS, CompileWay.EACH_LAYER]
    assert {way: (trial.problem, trial.graphs) for way, trial in trials.items()} == dict.fromkeys(trials, ("", 1))
    before, nested, each = trials.values()
    # The embedding, four layers, and for regions their four calls and what Dynamo takes out of their results.
    assert before.operations > 2 * nested.operations > 2 * each.operations
    assert (nested.same, each.same) == (SameOutputs.YES, SameOutputs.YES)
    assert before.code == ""
    assert nested.code == "Block.forward = torch.compiler.nested_compile_region(Block.forward)"


def test_a_way_that_the_compiler_refuses_is_told_in_a_sentence_and_not_offered(tmp_path: Path) -> None:
    trials = by_way(tried(tmp_path, layer="print('layer')"))
    nested = trials[CompileWay.NESTED_REGIONS]
    assert nested.problem == (
        "a nested region has to be one graph, and Dynamo breaks it: Failed to trace builtin operator"
    )
    assert (nested.same, nested.offered) == (SameOutputs.NOT_COMPARED, False)
    assert CompileWay.EACH_LAYER_DYNAMIC not in trials, "graph breaks are no other sizes"


def test_layers_that_are_compiled_again_and_again_are_tried_with_dynamic_sizes(tmp_path: Path) -> None:
    found = by_way(tried(tmp_path, layer="x = x[:, : 4 - self.number // 2]"))
    each, dynamic = found[CompileWay.EACH_LAYER], found[CompileWay.EACH_LAYER_DYNAMIC]
    assert each.graphs > 1
    assert (dynamic.same, "layer.compile(dynamic=True)" in dynamic.code) == (SameOutputs.YES, True)


def test_a_model_that_computes_something_else_in_another_way_is_not_called_the_same(tmp_path: Path) -> None:
    trials = by_way(tried(tmp_path, model=" * (2 if torch.compiler.is_compiling() else 3)"))
    assert trials[CompileWay.NESTED_REGIONS].same is SameOutputs.YES
    each = trials[CompileWay.EACH_LAYER]
    assert (each.same, each.offered) == (SameOutputs.NO, False)
    assert each.difference.startswith("output differs by up to ")


def test_where_no_layers_are_equal_nothing_is_tried(tmp_path: Path) -> None:
    text = "import torch\n\n\n# inductor-debug: inputs=(torch.randn(4),)\ndef quick(x):\n    return x.sin()\n"
    found = timed(tmp_path, text, ways=True).document.tried
    assert found is not None
    assert (found.layers, found.trials) == ([], [])
    assert found.why_not.startswith("it has no equal layers")
    assert timed(tmp_path, text).document.tried is None


class Leaf(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


class Stage(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Leaf(width) for _ in range(4)])


def test_layers_are_the_outermost_that_are_equal_in_shape_and_more_than_an_operation() -> None:
    stages = nn.ModuleList([Stage(4), Stage(8)])
    (stack,) = equal_layers(stages)
    assert (stack.pattern, stack.kind, len(stack.layers)) == ("*.blocks.*", Leaf, 8)
    assert equal_layers(nn.Sequential(*[nn.Linear(4, 4) for _ in range(4)])) == []
    assert equal_layers(nn.ModuleList([Leaf(4), Leaf(8), Leaf(16)])) == []
    (outer,) = equal_layers(nn.ModuleList([Stage(4), Stage(4)]))
    assert (outer.pattern, outer.kind) == ("*", Stage)


@pytest.mark.parametrize("way", list(CompileWay))
def test_a_model_is_as_it_was_afterwards(way: CompileWay) -> None:
    class Derived(Leaf):
        """Inherits its `forward`."""

    model = nn.Sequential(Derived(4), Derived(4))
    target = type("Target", (), {"module": model, "function": model, "dynamic": None})()
    with compiled_in(way, target, "eager"):
        pass
    assert "forward" not in vars(Derived)
    assert all(layer._compiled_call_impl is None for layer in model)


def trial(**changed: object) -> CompileTrial:
    return CompileTrial(
        **{"compile_way": CompileWay.EACH_LAYER, "seconds": 1.0, "graphs": 1, "operations": 1, **changed}
    )


@pytest.mark.parametrize(
    ("row", "offered", "words"),
    [
        (trial(same=SameOutputs.YES), True, "computes the same"),
        (trial(same=SameOutputs.NOT_COMPARED, difference="no room"), True, "results not compared: no room"),
        (trial(same=SameOutputs.NO, difference="output differs"), False, "does not compute the same: output differs"),
        (trial(problem="no"), False, "ended early: no"),
        (trial(seconds=1.9, same=SameOutputs.YES), False, "computes the same"),
    ],
)
def test_only_what_saves_much_and_changes_nothing_is_offered(row: CompileTrial, offered: bool, words: str) -> None:
    before = trial(compile_way=CompileWay.AS_IT_IS, seconds=2.0)
    assert (is_offered(row, before), result_of(row)) == (offered, words)
    assert not is_offered(before, before)


def test_what_to_write_names_every_class_of_layers() -> None:
    assert code_of(CompileWay.EACH_LAYER, ["A", "B"]).splitlines()[1:] == [
        "    if isinstance(layer, (A, B)):",
        "        layer.compile()",
    ]
    assert code_of(CompileWay.NESTED_REGIONS, ["A", "B"]).count("\n") == 1
