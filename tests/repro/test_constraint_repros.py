"""A finding about a constraint becomes a few lines of plain torch that show it, until they are mended."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.accelerators.profile import load_document
from repro_jobs import reproduce

pytestmark = pytest.mark.torch


def profile(**changes: Any) -> dict[str, Any]:
    return {**load_document("mock"), **changes}


@dataclass(frozen=True)
class Case:
    """A model with one finding of `rule`; `lines` is the most that its script may have, `mend` makes it pass."""

    rule: str
    forward: str
    lines: int
    mend: tuple[str, str]
    init: str = "pass"
    inputs: str = "torch.randn(4, 64)"
    accelerator: Any = "mock"
    has: list[str] = field(default_factory=list)


HALF = "torch.randn(64, 64, dtype=torch.float16)"
CASES = {
    "dtype": Case("dtype", "x.relu().double().sum()", 1, ("float64)", "float32)"), has=["x.to(torch.float64)"]),
    "dtype of a parameter": Case(
        "dtype", "x @ self.w.to(x.dtype)", 1, ("dtype=torch.float64", "dtype=torch.float32"),
        init="self.w = nn.Parameter(torch.randn(64, 8, dtype=torch.float64))",
    ),
    "float64": Case("float64", "x.relu().double().sum()", 2, ("float64)", "float32)"), accelerator="none"),
    "layout": Case("layout", "torch.tanh(x.relu().transpose(0, 1))", 2, (".transpose(", ".clone().reshape(64, 4) #")),
    "alignment": Case(
        "alignment", "self.head(x)", 2, ("63", "64"), init="self.head = nn.Linear(64, 63)",
        accelerator=profile(alignment={"elements": 8, "dimensions": "all"}),
    ),
    "unsupported-op": Case("unsupported-op", "torch.kthvalue(x, 3).values", 1, ("torch.kthvalue(x", "torch.topk(x")),
    "in place": Case("unsupported-op", "F.relu(x, inplace=True)", 1, ("relu_(", "relu(")),
    "memory": Case("memory", "x.expand(1 << 26, 4, 64).contiguous().sum()", 1, ("67108864", "64"),
                   inputs="torch.randn(4, 64)"),
    "rank": Case("rank", "x.view(2, 2, 8, 8, 1, 1).exp()", 1, (".view(", ".reshape(4, 64) #"),
                 accelerator=profile(rank={"maximum": 5})),
    "padding": Case("padding", "x[:, :63] * 2", 2, ("63", "64"), accelerator="spyre", inputs=HALF),
    "cpu-fallback": Case("cpu-fallback", "x.tril()", 1, (".tril(", ".triu("), accelerator="spyre", inputs=HALF),
    "infinite-constant": Case("infinite-constant", "x + torch.full((64, 64), float('-inf'), dtype=torch.float16)", 1,
                              ('float("-inf")', "-1e4"), accelerator="spyre", inputs=HALF),
    "unknown-operator": Case("unknown-operator", "torch.special.i0(x)", 1, ("torch.i0(", "torch.exp("), inputs=HALF,
                             accelerator="spyre"),
    "core-span": Case("core-span", "x.expand(1 << 26, 64, 64).contiguous().sum()", 1, ("67108864", "64"),
                      accelerator="spyre", inputs=HALF),
    "mixed-dtypes": Case("mixed-dtypes", "x.half() @ torch.ones(64, 8)", 1, ("float16", "float32")),
}  # fmt: skip


def model(case: Case) -> str:
    return f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {case.init}

    def forward(self, x):
        return {case.forward}


def get_inputs():
    return [{case.inputs}]
"""


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_constraint_is_shown_by_a_few_lines_of_torch(case: Case, tmp_path: Path) -> None:
    found = reproduce(tmp_path, model(case), accelerator=case.accelerator, rule=case.rule)
    assert found.document["nodes_after"] == len(found.lines) <= case.lines
    assert found.document["nodes_before"] >= found.document["nodes_after"]
    assert "import inductor_debug" not in found.script
    assert "model.py:" in found.script
    for text in case.has:
        assert text in found.script
    assert found.status() == 0
    head, separator, rest = found.script.partition("def failing(")
    function, other, check = rest.partition("\n\n\nclass " if "class Watch" in rest else "\n\n\ndef reproduces")
    mended = head + separator + function.replace(*case.mend) + other + check
    assert mended != found.script
    assert found.status(mended) != 0


def test_the_finding_at_a_line_is_the_one_that_is_shown(tmp_path: Path) -> None:
    source = """
    class Model(nn.Module):
        def forward(self, x):
            a = x.double()
            b = x.sin().double()
            return a + b


    def get_inputs():
        return [torch.randn(4, 4)]
    """
    found = reproduce(tmp_path, source, rule="dtype", line=7)
    assert "model.py:8:" in found.script
    assert "failure goes when float64 becomes float32" in found.script
    assert found.document["neighbour"] == "float64 becomes float32"


def test_what_is_not_found_any_more_is_said_to_be_gone(tmp_path: Path) -> None:
    source = """
    class Model(nn.Module):
        def forward(self, x):
            return x.double()


    def get_inputs():
        return [torch.randn(4, 4)]
    """
    found = reproduce(tmp_path, source, rule="layout")
    assert found.document["script"] is None
    assert "does not reproduce" in found.why
    assert "dtype" in found.why


def test_symbolic_sizes_become_numbers_that_fit(tmp_path: Path) -> None:
    source = """
    class Model(nn.Module):
        def forward(self, x):
            return x.repeat(1, 2).double()


    model = torch.compile(Model(), dynamic=True)
    model(torch.randn(6, 8))
    """
    found = reproduce(tmp_path, source, rule="dtype")
    assert found.status() == 0
    assert "was symbolic" in found.script


def test_an_operator_of_the_users_own_is_replaced_by_a_stand_in(tmp_path: Path) -> None:
    source = """
    @torch.library.custom_op("repro_tests::widen", mutates_args=())
    def widen(x: torch.Tensor, by: int) -> torch.Tensor:
        return x.double() * by


    @widen.register_fake
    def _(x, by):
        return torch.empty_like(x, dtype=torch.float64)


    class Model(nn.Module):
        def forward(self, x):
            return torch.ops.repro_tests.widen(x.relu(), 3)


    def get_inputs():
        return [torch.randn(4, 4)]
    """
    found = reproduce(tmp_path, source, rule="dtype")
    assert "stand-in" in found.script
    assert len(found.lines) == 1
    assert found.status() == 0
    fake = "from torch._subclasses import FakeTensorMode\n    FakeTensorMode().__enter__()\n    values = make_inputs()"
    assert found.status(found.script.replace("values = make_inputs()", fake)) == 0


def test_what_an_operator_raises_is_shown_by_the_operator_alone(tmp_path: Path) -> None:
    source = """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(8, 16), nn.Linear(8, 4)

        def forward(self, x):
            return self.b(torch.relu(self.a(x)))


    def get_inputs():
        return [torch.randn(2, 8)]
    """
    found = reproduce(tmp_path, source, rule="capture-error")
    assert found.lines == ["addmm = torch.addmm(x, x_2, x_3)"]
    assert found.status() == 0
    assert found.status(found.script.replace("torch.randn(2, 16)", "torch.randn(2, 8)")) == 1


def test_a_finding_in_the_backward_pass_is_shown_as_well(tmp_path: Path) -> None:
    source = """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Conv2d(4, 4, 3)

        def forward(self, x):
            return self.layer(x).sum()


    def get_inputs():
        return [torch.randn(1, 4, 8, 8)]
    """
    denied = [{"match": ["aten.convolution_backward"], "reason": "there is no backward kernel"}]
    found = reproduce(tmp_path, source, accelerator=profile(operators=denied), rule="unsupported-op")
    assert "convolution_backward" in found.lines[0]
    assert found.status() == 0


def test_a_file_that_does_not_parse_gets_no_reproducer(tmp_path: Path) -> None:
    path = reproduce(tmp_path, "def broken(:\n    pass\n")
    assert path.finished.findings[0].rule == "syntax-error"


def test_a_file_that_raises_when_it_is_loaded_says_what(tmp_path: Path) -> None:
    found = reproduce(tmp_path, "nothing_of_that_name\n").finished.findings
    assert "nothing_of_that_name" in found[0].message
