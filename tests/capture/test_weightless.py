"""What tensors without values are given beyond torch's own: products that torch refuses them, and plausible values."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
import torch
from forked import analyze
from hypothesis import given, settings
from hypothesis import strategies as st
from inductor_debug.capture.weightless.grouped_products import GROUPED_PRODUCT
from inductor_debug.capture.weightless.invented_values import Inventor
from inductor_debug.capture.weightless.mode import WeightlessMode
from inductor_debug_schema import Stage, StageState
from torch import nn
from torch.nn import functional

pytestmark = pytest.mark.torch

_SIZES = st.sampled_from((8, 16, 24))

COPYING = """\
import copy
import pickle

import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(2, 8),)
class Copying(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = torch.tensor(3)

    def forward(self, x):
        kept = copy.deepcopy(x)
        seen = copy.deepcopy(self.seen)
        return x * 2 + kept + seen
"""
MIXTURE = """\
import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, width=4096, experts=64, chosen=2):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.chosen = chosen

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weights, picked = self.gate(flat).softmax(-1).topk(self.chosen, dim=-1)
        out = torch.zeros_like(flat)
        mask = nn.functional.one_hot(picked, len(self.experts)).permute(2, 1, 0)
        for number in mask.sum((-1, -2)).nonzero().flatten().tolist():
            place, token = torch.where(mask[number])
            out.index_add_(0, token, self.experts[number](flat[token]) * weights[token, place, None])
        return out.reshape(x.shape)
"""


@pytest.mark.skipif(GROUPED_PRODUCT is None, reason="this torch has no grouped product")
@given(ranks=st.sampled_from(((2, 3), (3, 3), (2, 2))), m=_SIZES, k=_SIZES, n=_SIZES, groups=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_a_grouped_product_has_the_shape_and_dtype_that_the_cpu_gives(
    ranks: tuple[int, int], m: int, k: int, n: int, groups: int
) -> None:
    def product() -> torch.Tensor:
        first = torch.ones(m, k) if ranks[0] == 2 else torch.ones(groups, m, k)
        second = torch.ones(k, n) if ranks[1] == 2 else torch.ones(groups, k, n)
        total = k if ranks == (2, 2) else m
        ends = [total * (index + 1) // groups for index in range(groups)]
        offs = None if ranks == (3, 3) else torch.tensor(ends, dtype=torch.int32)
        return torch._grouped_mm(first, second, offs=offs)

    real = product()
    with WeightlessMode():
        fake = product()
    assert (fake.shape, fake.dtype) == (real.shape, real.dtype)


def test_what_the_cpu_refuses_is_refused_without_values_too() -> None:
    with WeightlessMode(), pytest.raises(RuntimeError):
        torch._grouped_mm(torch.ones(8, 16), torch.ones(2, 24, 8), offs=torch.ones(2, dtype=torch.int32))


@given(tokens=st.integers(1, 9), experts=st.integers(2, 9), chosen=st.integers(1, 2), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_no_expert_is_chosen_twice_for_a_token_and_all_are_in_range(
    tokens: int, experts: int, chosen: int, seed: int
) -> None:
    with WeightlessMode(Inventor(seed)):
        _, picked = torch.randn(8, tokens).t().matmul(torch.empty(8, experts)).topk(chosen, dim=-1)
        rows = picked.tolist()
    assert all(0 <= expert < experts for row in rows for expert in row)
    assert all(len(set(row)) == chosen for row in rows)


def test_the_same_code_gets_the_same_values() -> None:
    def chosen() -> list[list[int]]:
        with WeightlessMode(Inventor(7)):
            found: list[list[int]] = torch.empty(32, 8).softmax(-1).topk(2)[1].tolist()
        return found

    assert chosen() == chosen()


def test_a_mask_that_was_computed_selects_and_is_written_through() -> None:
    with WeightlessMode(Inventor(0)):
        x = torch.empty(64, 8)
        mask = x.sum(-1) > 0
        picked = x[mask]
        x[mask] = 0.0
        count = int(mask.sum())
        experts = functional.one_hot(x.argmax(-1), 8).sum(0)
    assert 0 < count < 64
    assert picked.shape == (count, 8)
    assert experts.shape == (8,)


def test_a_number_with_a_fraction_is_never_made_up() -> None:
    with WeightlessMode(Inventor(0)), pytest.raises(Exception, match="_local_scalar_dense"):
        torch.empty(8).mean().item()


@pytest.mark.parametrize("inventor", [None, Inventor(7)])
def test_a_deep_copy_has_the_mode_of_what_is_copied_and_a_value_of_its_own(inventor: Inventor | None) -> None:
    with WeightlessMode(inventor):
        first = {"seen": torch.tensor(3), "kept": torch.empty(2)}
        second = copy.deepcopy(first)
        first["seen"].add_(1)
        assert (first["kept"] + second["kept"]).shape == (2,)
        assert int(second["seen"]) == 3
        assert second["kept"].requires_grad == first["kept"].requires_grad


def test_a_model_without_weights_can_be_saved_and_read_again() -> None:
    """As by constructors that see whether they can be, and copies that are made by way of a file."""
    with WeightlessMode(None):
        model = nn.Linear(3, 2, bias=False)
        model.register_buffer("seen", torch.zeros(4, 2).t())
        again = pickle.loads(pickle.dumps(model))
        assert isinstance(again.weight, nn.Parameter)
        assert again.weight.requires_grad
        assert again.seen.stride() == (1, 2)
        assert not again.seen.requires_grad
        assert (again(torch.empty(5, 3)) + model(torch.empty(5, 3))).shape == (5, 2)


def test_where_dynamo_stops_in_a_deep_copy_nothing_of_ours_is_told(tmp_path: Path) -> None:
    job = analyze(tmp_path / "copying.py", COPYING, stages=(Stage.PREVIEW, Stage.MOCK))
    assert [stage.report.state for stage in job.stages] == [StageState.DONE, StageState.DONE]
    found = [finding for stage in job.stages for finding in stage.findings]
    assert {finding.rule for finding in found} == {"graph-break"}
    assert not [finding for finding in found if "inductor_debug" in finding.message or "_copied" in finding.message]


def test_a_mixture_of_experts_too_large_for_memory_is_checked_with_a_made_up_routing(tmp_path: Path) -> None:
    """4.3 GB of weights; its loop over the experts that were chosen looks at values."""
    job = analyze(tmp_path / "mixture.py", MIXTURE, stages=(Stage.PREVIEW, Stage.MOCK))
    assert [(stage.report.stage, stage.report.state) for stage in job.stages] == [
        (Stage.PREVIEW, StageState.DONE),
        (Stage.MOCK, StageState.DONE),
    ]
    assert all("were made up from a seed" in " ".join(stage.report.notes) for stage in job.stages)


def test_so_is_one_that_the_file_itself_builds(tmp_path: Path) -> None:
    job = analyze(tmp_path / "built.py", f"{MIXTURE}\n\nmodel = torch.compile(Mixture())\n")
    assert [stage.report.state for stage in job.stages] == [StageState.DONE]


MEMOISING = """\
import functools
import torch


@functools.lru_cache
def positions(length):
    return torch.arange(length, dtype=torch.float32)
"""


def test_what_a_library_remembers_of_weightless_tensors_meets_no_real_ones(tmp_path: Path) -> None:
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "tables.py").write_text(MEMOISING)
    text = (
        f"import sys\nsys.path.insert(0, {str(tmp_path / 'site-packages')!r})\n"
        "from tables import positions\nfrom torch import nn\n\n\n"
        "class Looks(nn.Module):\n    def forward(self, x):\n        x = nn.functional.linear(x, positions(4)[None])\n"
        "        return x if x.mean().item() > 0 else -x\n"
    )
    job = analyze(tmp_path / "looks.py", text)
    assert [stage.report.state for stage in job.stages] == [StageState.DONE]
    assert [finding.message for finding in job.findings] == []


def test_the_body_of_a_nested_region_runs_without_values() -> None:
    """Its rule is one that torch's own mode looks up: asked as other operators are, it would ask ours for ever."""

    @torch.compiler.nested_compile_region
    def inner(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x @ y

    def outer(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return inner(x, y) + inner(x, y)

    with WeightlessMode():
        compiled = torch.compile(outer, backend=lambda graph, _: graph.forward)
        assert compiled(torch.randn(4, 8), torch.randn(8, 2)).shape == (4, 2)
