"""A graph break becomes the statement that breaks the graph, a recompilation the function with two of its calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from repro_jobs import reproduce

pytestmark = pytest.mark.torch


def model(statement: str, attributes: str, helper: str) -> str:
    """A model that has `attributes` and runs `statement` between two operations, and a `helper` before it."""
    return f"""
import math


{helper.strip()}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {attributes}

    def forward(self, x):
        x = torch.relu(x)
        {statement}
        return x.sum()


def get_inputs():
    return [torch.randn(4, 8)]
"""


CLIPPED = """
def clipped(x, most):
    print(x)
    return x.clamp(max=most)
"""
DIVIDED = """
def divided(x, by):
    return x / (1 // by)
"""
BREAKS = {
    "a print": (
        "scale = x.mean()\n        print('mean', scale * self.scale)",  # one name, two values
        "print('mean', scale * scale_2)",
    ),
    "an item": ("x = x * int(x.sum().item())", "x = x * int(x.sum().item())"),
    "a branch": ("if self.layer(x).sum() > 0:\n            x = x + 1", "if layer(x).sum() > 0:"),
    "a helper": ("x = clipped(x, math.pi)", "    print(x)"),
}


@pytest.mark.parametrize(("statement", "line"), BREAKS.values(), ids=BREAKS.keys())
def test_a_graph_break_becomes_the_statement_that_breaks(statement: str, line: str, tmp_path: Path) -> None:
    source = model(statement, "self.layer, self.scale = nn.Linear(8, 8), 3", CLIPPED)
    found = reproduce(tmp_path, source, rule="graph-break")
    assert line in found.script
    assert "import inductor_debug" not in found.script
    assert not found.why
    assert found.status() == 0


RECOMPILED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def step(self, x, factor):
        y = x * factor
        return y.relu()

    def forward(self, x):
        for name in "abcdefghijkl":
            x = self.step(x, name == "b")
            torch._dynamo.graph_break()
            x = self.named(x, name)
        return x

    def named(self, x, name):
        return x + ord(name)


def get_inputs():
    return [torch.randn(4, 8)]
"""


def test_a_recompilation_becomes_the_function_and_its_calls(tmp_path: Path) -> None:
    found = reproduce(tmp_path, RECOMPILED, rule="recompile")
    assert found.document["script"], found.why
    assert "error_on_recompile" in found.script
    assert not found.why
    assert found.status() == 0


def test_what_a_call_leaves_behind_in_the_model_may_be_why_the_next_is_compiled_again(tmp_path: Path) -> None:
    source = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.step = nn.Linear(8, 8), 0

    def forward(self, x):
        self.step += 1
        return self.layer(x) * self.step


def get_inputs():
    return [torch.randn(4, 8)]
"""
    found = reproduce(tmp_path, source, rule="recompile")
    assert "step += 1" in found.script
    assert found.status() == 0


def test_a_recompilation_between_two_sets_of_inputs_shows_both(tmp_path: Path) -> None:
    source = """
# inductor-debug: inputs=[(torch.randn(4, 8), 1), (torch.randn(4, 8).half(), 2)]
def scaled(x, factor):
    return torch.relu(x) * factor
"""
    found = reproduce(tmp_path, source, rule="recompile")
    assert "[torch.randn(4, 8), 1]," in found.script
    assert "[torch.randn(4, 8, dtype=torch.float16), 2]," in found.script
    assert found.status() == 0


def test_what_cannot_stand_alone_is_refused_by_name(tmp_path: Path) -> None:
    source = """
    class Store:
        def take(self, x):
            return x.sum().item()


    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.store = Store()

        def forward(self, x):
            return x * self.store.take(self.store)


    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.store = Store()

        def forward(self, x):
            print(self.store, x)
            return x


    def get_inputs():
        return [torch.randn(4, 8)]
    """
    found = reproduce(tmp_path, source, rule="graph-break")
    assert found.document["script"] is None
    assert "`self.store`, a Store" in found.why


RAISES = {
    "itself": ('raise ValueError(f"{x.shape[0]} is not what is wanted")', "raise ValueError"),
    "a lookup": ("x = x * self.numbers[self.names[1]]", "x = x * numbers[names[1]]"),
    "a helper": ("x = divided(x, 0)", "    return x / (1 // by)"),
}


@pytest.mark.parametrize(("statement", "line"), RAISES.values(), ids=RAISES.keys())
def test_what_python_code_raises_becomes_the_statement_that_raises(statement: str, line: str, tmp_path: Path) -> None:
    source = model(statement, 'self.names, self.numbers = ["four", "five"], {"four": 4}', DIVIDED)
    found = reproduce(tmp_path, source, rule="capture-error")
    assert line in found.script
    assert not found.why
    assert found.status() == 0
    mended = (
        found.script.replace("raise ValueError", "print").replace('"four": 4', '"five": 5').replace("by)\n", "1)\n")
    )
    assert found.status(mended) == 1


def test_an_exception_that_only_values_raise_is_found_when_nothing_else_is(tmp_path: Path) -> None:
    source = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 32)

    def forward(self, ids):
        return self.table(ids).relu()


def get_inputs():
    return [torch.tensor([[1, 2, 30], [3, 4, 5]])]
"""
    found = reproduce(tmp_path, source)
    assert found.lines == ["result = functional.embedding(x_2, x)"] or "embedding" in found.lines[0]
    assert "IndexError" in found.script
    assert not found.files
    assert found.status() == 0
    assert found.status(found.script.replace("30", "3").replace("31,", "3,")) == 1


EAGER = {
    "too many versions": (
        ", ".join(f"(torch.randn({', '.join('2' * rank)}),)" for rank in range(1, 11)),
        "return x.sin()",
        (", 2, 2, 2, 2, 2)", ")"),
    ),
    "a break inside of try": (
        "(torch.randn(4),)",
        "try:\n        for _ in range(2):\n            x = x.sin()\n            print(x)\n    finally:\n"
        "        x = x * 2\n    return x",
        ("print(x)", "pass"),
    ),
}


@pytest.mark.parametrize(("inputs", "body", "mend"), EAGER.values(), ids=EAGER.keys())
def test_a_function_that_runs_eagerly_is_shown_with_a_backend_that_counts(
    inputs: str, body: str, mend: tuple[str, str], tmp_path: Path
) -> None:
    source = f"""
# inductor-debug: inputs=[{inputs}]
def f(x):
    {body}
"""
    found = reproduce(tmp_path, source, rule="eager-fallback")
    assert "def backend(graph_module" in found.script
    assert not found.why
    assert found.status() == 0
    assert found.status(found.script.replace(*mend)) == 1


def test_a_method_that_is_compiled_again_may_use_its_modules(tmp_path: Path) -> None:
    source = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def step(self, x, factor):
        return self.layer(x) * factor

    def forward(self, x):
        for factor in (True, False):
            x = self.step(x, factor)
            torch._dynamo.graph_break()
        return x


def get_inputs():
    return [torch.randn(4, 8)]
"""
    found = reproduce(tmp_path, source, rule="recompile")
    assert "return layer(x) * factor" in found.script
    assert found.status() == 0
