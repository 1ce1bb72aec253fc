"""What a user reads of a call that torch refuses: their own expressions, the sizes, and where those come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from capture_targets import build, excerpt
from forked import analyze
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug_schema import Finding, Location, ShapeConflict, UnknownName

NET = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            {init}
        def forward(self, {arguments}):
            {forward}
    model = Net()
    inputs = ({inputs},)
"""


def told(folder: Path, forward: str, inputs: str, init: str = "pass", arguments: str = "x") -> Finding:
    lines = {"forward": forward, "init": init}
    parts = {name: "\n            ".join(text.strip().splitlines()) for name, text in lines.items()}
    target, sources = build(folder, NET.format(arguments=arguments, inputs=inputs, **parts))
    [finding] = run_preview(target, sources).findings
    return finding


MESSAGES = {
    "transpose forgotten": (
        "return q @ k",
        "q, k",
        "torch.ones(2, 4, 16, 32), torch.ones(2, 4, 16, 32)",
        "pass",
        "`q` [2, 4, 16, 32] @ `k` [2, 4, 16, 32]: 32 ≠ 16: the last size of `q` must be the second to last size of `k`",
    ),
    "features of a layer": (
        "return self.fc1(x)",
        "x",
        "torch.ones(2, 9216)",
        "self.fc1 = nn.Linear(9200, 128)",
        "`self.fc1` takes 9200 features, `x` [2, 9216] has 9216",
    ),
    "features of a layer over a sequence": (
        "return self.fc1(x.relu())",
        "x",
        "torch.ones(2, 5, 7)",
        "self.fc1 = nn.Linear(8, 4)",
        "`self.fc1` takes 8 features, `x.relu()` [2, 5, 7] has 7",
    ),
    "a layer inside a container": (
        "return self.net(x)",
        "x",
        "torch.ones(2, 16)",
        "self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(31, 4))",
        "`self.net[2]` takes 31 features, what `self.net[1]` gives [2, 32] has 32",
    ),
    "channels": (
        "return self.conv(x)",
        "x",
        "torch.ones(1, 1, 8, 8)",
        "self.conv = nn.Conv2d(3, 6, 3)",
        "`self.conv` takes 3 channels, `x` [1, 1, 8, 8] has 1",
    ),
    "a kernel that is too large": (
        "return self.conv(x)",
        "x",
        "torch.ones(1, 3, 2, 8)",
        "self.conv = nn.Conv2d(3, 6, 3)",
        "`x` [1, 3, 2, 8]: the second to last size of `x` is 2, and the kernel of `self.conv` needs at least 3",
    ),
    "a norm": (
        "return self.norm(x)",
        "x",
        "torch.ones(2, 5)",
        "self.norm = nn.LayerNorm(4)",
        "`self.norm` takes 4 features, `x` [2, 5] has 5",
    ),
    "a recurrent layer": (
        "return self.lstm(x)[0]",
        "x",
        "torch.ones(2, 5, 12)",
        "self.lstm = nn.LSTM(16, 32)",
        "`self.lstm` takes 16 features, `x` [2, 5, 12] has 12",
    ),
    "attention": (
        "return self.attention(x, x, x)[0]",
        "x",
        "torch.ones(5, 2, 16)",
        "self.attention = nn.MultiheadAttention(32, 4)",
        "`self.attention` takes 32 features, `x` [5, 2, 16] has 16",
    ),
    "operands without a name of their own": (
        "return torch.cat([*[x, x[:, :2]]])",
        "x",
        "torch.ones(2, 4)",
        "pass",
        "`x` [2, 4] and what `x[:, :2]` gives [2, 2]: 4 ≠ 2: the last size of `x` must equal the last size of "
        "what `x[:, :2]` gives for `cat`",
    ),
    "one tensor under two names": (
        "return (lambda a, b: a @ b)(x, x)",
        "x",
        "torch.ones(2, 4)",
        "pass",
        "`a` [2, 4] @ `b` [2, 4]: 4 ≠ 2: the last size of `a` must be the first size of `b`",
    ),
    "targets of a loss": (
        "return nn.functional.cross_entropy(x, y)",
        "x, y",
        "torch.ones(8, 10), torch.ones(7, dtype=torch.int64)",
        "pass",
        "`x` [8, 10] and `y` [7]: 8 ≠ 7: the first size of `x` must equal the size of `y` for `cross_entropy`",
    ),
    "two dtypes": (
        "scores = x.double()\nreturn scores @ v",
        "x, v",
        "torch.ones(1, 4, 4), torch.ones(1, 4, 4)",
        "pass",
        "`scores` is float64, `v` float32: `@` needs one dtype; `scores` became float64 at line 6",
    ),
    "indices that are no whole numbers": (
        "return self.table(x)",
        "x",
        "torch.ones(2, 3)",
        "self.table = nn.Embedding(10, 4)",
        "`x` is float32, `self.table` takes int64",
    ),
    "a mask of numbers": (
        "return x.masked_fill(mask, 0.0)",
        "x, mask",
        "torch.ones(4, 4), torch.ones(4, 4)",
        "pass",
        "`mask` is float32, `masked_fill` takes bool",
    ),
    "parts of different sizes": (
        "return torch.cat([x, y], dim=0)",
        "x, y",
        "torch.ones(2, 3), torch.ones(2, 4)",
        "pass",
        "`x` [2, 3] and `y` [2, 4]: 3 ≠ 4: the last size of `x` must equal the last size of `y` for `cat`",
    ),
    "named arguments": (
        "return nn.functional.linear(weight=w, input=x)",
        "x, w",
        "torch.ones(2, 3), torch.ones(2, 4)",
        "pass",
        "`x` [2, 3] and `w` [2, 4]: 3 ≠ 4: the last size of `x` must equal the last size of `w` for `linear`",
    ),
    "a view": (
        "return x.view(2, 10)",
        "x",
        "torch.ones(2, 3, 4)",
        "pass",
        "`x` [2, 3, 4] has 24 elements; the sizes that `view` is given make 20",
    ),
    "a view of what is transposed": (
        "return x.transpose(0, 1).view(12)",
        "x",
        "torch.ones(3, 4)",
        "pass",
        "`x.transpose(0, 1)` [4, 3] does not lie in memory in the order of its dimensions: "
        "`reshape` copies it, `view` cannot",
    ),
    "a dimension that is not there": (
        "return x.transpose(0, 3)",
        "x",
        "torch.ones(2, 3)",
        "pass",
        "`x` [2, 3] has no dimension 3",
    ),
    "an index past the end": (
        "return x[:, 3]",
        "x",
        "torch.ones(2, 3)",
        "pass",
        "`x` [2, 3] has no index 3 in dimension 1, whose size is 3",
    ),
    "a misspelt layer": (
        "return self.droput1(x)",
        "x",
        "torch.ones(2)",
        "self.dropout1 = nn.Dropout(0.1)",
        "`Net` has no `droput1`; did you mean `dropout1`?",
    ),
    "a misspelt variable": (
        "hidden = x + 1\nreturn hiden",
        "x",
        "torch.ones(2)",
        "pass",
        "`hiden` is not defined; did you mean `hidden`?",
    ),
    "what nobody understands": (
        "return torch.fft.fft(x, n=0)",
        "x",
        "torch.ones(2)",
        "pass",
        "RuntimeError: Invalid number of data points (0) specified",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_the_message_is_in_the_users_own_expressions(tmp_path: Path, name: str) -> None:
    forward, arguments, inputs, init, message = MESSAGES[name]
    assert told(tmp_path, forward, inputs, init, arguments).message == message


def test_dtypes_that_fake_tensors_let_pass_are_told_in_the_users_terms(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import torch\nfrom torch import nn\n# inductor-debug: inputs=[torch.randn(2, 4)]\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 4)\n"
        "    def forward(self, x):\n        y = x.double()\n        return self.fc(y)\n"
    )
    [finding] = analyze(path).of("mixed-dtypes")
    assert finding.message == (
        "`y` is float64, `self.fc` float32: `self.fc` needs one dtype; `y` became float64 at line 9"
    )


def test_a_name_that_is_missing_while_a_model_is_built(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.fc = nn.Linaer(4, 4)\nmodel = Net()\n"
    )
    [finding] = analyze(path).findings
    assert finding.message == "`torch.nn` has no `Linaer`; did you mean `Linear`?"


CONVOLUTIONS = """
self.conv1 = nn.Conv2d(1, 32, 3)
self.conv2 = nn.Conv2d(32, 64, 3)
self.fc1 = nn.Linear(9200, 128)
"""
FLATTENED = """
x = self.conv1(x).relu()
x = self.conv2(x).relu()
x = nn.functional.max_pool2d(x, 2)
x = torch.flatten(x, 1)
return self.fc1(x)
"""


def test_a_size_is_traced_back_to_what_gave_it(tmp_path: Path) -> None:
    finding = told(tmp_path, FLATTENED, "torch.ones(2, 1, 28, 28)", CONVOLUTIONS)
    assert isinstance(finding.facts, ShapeConflict)
    operand = finding.facts.operands[finding.facts.left.operand]
    assert [(step.text, step.sizes) for step in operand.trace] == [
        ("flatten 64·12·12", [9216]),
        ("max_pool2d", [64, 12, 12]),
        ("conv2", [64, 24, 24]),
        ("conv1", [26, 26]),
        ("x [2, 1, 28, 28]", [28, 28]),
    ]
    assert [excerpt(step.place) for step in operand.trace[:4] if step.place is not None] == [
        "torch.flatten(x, 1)",
        "nn.functional.max_pool2d(x, 2)",
        "self.conv2(x)",
        "self.conv1(x)",
    ]
    first = finding.related[0]
    assert first.message == (
        "`x` [2, 9216] is made here: 9216 ← flatten 64·12·12 ← max_pool2d ← conv2 ← conv1 ← x [2, 1, 28, 28]"
    )
    assert excerpt(Location(first.path, first.range)) == "torch.flatten(x, 1)"


HEADS = """
q = self.q(x).view(2, 16, 4, 32).transpose(1, 2)
k = self.k(x).reshape(2, 16, 4, 32).permute(0, 2, 1, 3)
return q @ k
"""


def test_a_size_is_followed_through_views_that_fold_and_unfold_it(tmp_path: Path) -> None:
    init = "self.q = nn.Linear(128, 128)\nself.k = nn.Linear(128, 128)"
    finding = told(tmp_path, HEADS, "torch.ones(2, 16, 128)", init)
    assert isinstance(finding.facts, ShapeConflict)
    q, k = finding.facts.operands
    assert [step.text for step in q.trace] == ["view of 128", "q.weight [128, 128]"]
    assert [step.text for step in k.trace] == ["x [2, 16, 128]"]


def test_facts_name_the_place_of_every_operand(tmp_path: Path) -> None:
    finding = told(tmp_path, "return torch.cat([x, x[:, 1:].t()])", "torch.ones(2, 3)")
    assert isinstance(finding.facts, ShapeConflict)
    places = [operand.place for operand in finding.facts.operands]
    assert [excerpt(place) for place in places if place is not None] == ["x", "x[:, 1:].t()"]


def test_a_missing_name_is_a_fact(tmp_path: Path) -> None:
    init = "self.encoder = nn.Linear(2, 2)"
    assert told(tmp_path, "return self.encodr(x)", "torch.ones(2)", init).facts == UnknownName(
        "encodr", "Net", "encoder"
    )
    assert told(tmp_path, "return self.zzz(x)", "torch.ones(2)", init).facts == UnknownName("zzz", "Net", None)


def test_a_size_is_the_same_for_both_of_two_runs(tmp_path: Path) -> None:
    """The second, watched run must not meet what the first one left behind."""
    init = "self.calls = 0\nself.fc = nn.Linear(4, 4)"
    finding = told(tmp_path, "self.calls += 1\nassert self.calls == 1\nreturn self.fc(x)", "torch.ones(2, 3)", init)
    assert finding.message == "`self.fc` takes 4 features, `x` [2, 3] has 3"


def test_expressions_that_raised_gave_nothing(tmp_path: Path) -> None:
    target, sources = build(
        tmp_path,
        NET.format(
            arguments="x",
            inputs="torch.ones(2, 3)",
            init="self.fc = nn.Linear(4, 4)",
            forward="return self.fc(x.relu())",
        ),
    )
    outcome = run_preview(target, sources)
    assert {excerpt(place) for place in outcome.unfinished} == {"self.fc(x.relu())"}


HISTORIES = {
    "a reduction": ("y = x.mean(1)", "2, 5, 7", ["x [2, 5, 7]"]),
    "an index": ("y = x[:, 0]", "2, 5, 7", ["x [2, 5, 7]"]),
    "a slice": ("y = x[:, :, 2:]", "2, 5, 7", ["[…]", "x [2, 5, 7]"]),
    "dimensions moved": ("y = x.permute(0, 2, 1)", "2, 7, 5", ["x [2, 7, 5]"]),
    "a dimension more and less": ("y = x.unsqueeze(0).squeeze(0)", "2, 7", ["x [2, 7]"]),
    "a sum of sizes": ("y = torch.cat([x, x[:, :2]], 1)", "2, 7", ["cat", "x [2, 7]"]),
    "joined dimensions": ("y = x.reshape(2, -1)", "2, 5, 7", ["reshape 5·7", "x [2, 5, 7]"]),
    "a product": ("y = x @ x.t()", "7, 5", ["x [7, 5]"]),
    "broadcasting": ("y = x + torch.ones(3, 1)", "7", ["x [7]"]),
    "padding": ("y = nn.functional.pad(x, (1, 1))", "2, 7", ["pad", "x [2, 7]"]),
    "a loop in place": ("y = x.clone()\nfor _ in range(3):\n    y.relu_()", "2, 7", ["x [2, 7]"]),
    "half of it": ("y = x.chunk(2, -1)[0]", "2, 14", ["chunk of 14", "x [2, 14]"]),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_size_is_followed_through(tmp_path: Path, name: str) -> None:
    forward, shape, expected = HISTORIES[name]
    finding = told(tmp_path, f"{forward}\nreturn y @ torch.ones(99, 1)", f"torch.ones({shape})")
    assert isinstance(finding.facts, ShapeConflict)
    assert [step.text for step in finding.facts.operands[0].trace] == expected
