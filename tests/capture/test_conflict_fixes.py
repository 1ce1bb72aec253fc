"""What mends a call that torch refuses: the first guess that, run in its place, leaves no finding."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from forked import analyze
from inductor_debug.accelerators.profile import load_document
from inductor_debug.engine.fixes.edits import applied
from inductor_debug.engine.fixes.fix_candidates import guesses
from inductor_debug_schema import Finding

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\n"


def model(forward: str, inputs: str, init: str = "pass", arguments: str = "x") -> str:
    lines = [
        f"# inductor-debug: inputs=[{inputs}]",
        "class Net(nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        *textwrap.indent(init, " " * 8).splitlines(),
        f"    def forward(self, {arguments}):",
        *textwrap.indent(forward, " " * 8).splitlines(),
    ]
    return HEAD + "\n".join(lines) + "\n"


def findings(path: Path, text: str) -> list[Finding]:
    path.write_text(text, encoding="utf-8")
    return [finding for finding in analyze(path).findings if finding.severity.value == "error"]


def mended(path: Path, text: str) -> tuple[str, str]:
    """The title of the fix that mends the one error of a text, and the line that it changes, as it is then."""
    [finding] = findings(path, text)
    for fix in guesses(text, finding, load_document("mock")):
        edited = applied(text, fix.edits)
        if not findings(path, edited):
            changed = [
                line for line, before in zip(edited.split("\n"), text.split("\n"), strict=True) if line != before
            ]
            return fix.title, " / ".join(line.strip() for line in changed)
    return "", ""


BLOCK = """\
class Block(nn.Sequential):
    def __init__(self, inside, outside):
        super().__init__(nn.Conv2d(inside, outside, 3), nn.BatchNorm2d(outside + 1))
"""
TWO_BLOCKS = "self.a = Block(4, 6)\nself.b = Block(6, 8)"
CASES = {
    "a tensor that is made on another device": (
        model('return F.relu(x) + torch.ones(3, device="meta")', "torch.randn(2, 3)"),
        (
            "Make `torch.ones(3, device='meta')` on the device of `x`",
            "return F.relu(x) + torch.ones(3, device=x.device)",
        ),
    ),
    "a product in which one number is wrong": (
        model(
            "return self.b(self.a(x))",
            "torch.randn(2, 8)",
            "k = 4\nself.a = nn.Linear(8, 16 * k)\nself.b = nn.Linear(8*k, 2)",
        ),
        ("Set `in_features` of `b` to 16 * k", "self.b = nn.Linear(16 * k, 2)"),
    ),
    "a sum over the last dimension, where other dimensions have equal sizes": (
        model("return x / x.sum(-1)", "torch.randn(2, 8, 8)"),
        ("Give `x.sum(-1)` the shape [2, 8, 1]", "return x / x.sum(-1).unsqueeze(2)"),
    ),
    "a view's number that the next layer does not take": (
        model("return self.fc(x.view(-1, 4 * 5))", "torch.randn(2, 6, 5)", "self.fc = nn.Linear(30, 4)"),
        ("Set the size 4 * 5 to 30", "return self.fc(x.view(-1, 30))"),
    ),
    "tensors joined along another dimension than the next layer needs": (
        model("return self.fc(torch.cat([x, x], dim=0))", "torch.randn(2, 3)", "self.fc = nn.Linear(6, 4)"),
        ("Join along dimension 1", "return self.fc(torch.cat([x, x], dim=1))"),
    ),
    "of two layers that do not meet the one with the rarer number": (
        model(
            "return self.c(self.b(self.a(x)))",
            "torch.randn(2, 8)",
            "self.a = nn.Linear(8, 41)\nself.b = nn.Linear(40, 40)\nself.c = nn.Linear(40, 8)",
        ),
        ("Set `out_features` of `a` to 40", "self.a = nn.Linear(8, 40)"),
    ),
    "features that arrive": (
        model("return self.fc1(torch.flatten(x, 1))", "torch.randn(2, 64, 12, 12)", "self.fc1 = nn.Linear(9200, 128)"),
        ("Set `in_features` of `fc1` to 9216", "self.fc1 = nn.Linear(9216, 128)"),
    ),
    "features by name": (
        model("return self.fc1(x)", "torch.randn(2, 9)", "self.fc1 = nn.Linear(out_features=4, in_features=8)"),
        ("Set `in_features` of `fc1` to 9", "self.fc1 = nn.Linear(out_features=4, in_features=9)"),
    ),
    "features inside a container": (
        model("return self.net(x)", "torch.randn(2, 4)", "self.net = nn.Sequential(nn.Linear(4, 8), nn.Linear(7, 4))"),
        ("Set `in_features` of `net[1]` to 8", "self.net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 4))"),
    ),
    "what a used layer before gives": (
        model(
            "y = self.a(x)\nreturn self.c(y) + self.c(x)",
            "torch.randn(2, 8)",
            "self.a = nn.Linear(8, 7)\nself.c = nn.Linear(8, 8)",
        ),
        ("Set `out_features` of `a` to 8", "self.a = nn.Linear(8, 8)"),
    ),
    "features as the layer before says them": (
        model(
            "return self.b(self.a(x))",
            "torch.randn(2, 8)",
            "width = 4\nself.a = nn.Linear(8, 2 * width)\nself.b = nn.Linear(2 * width + 1, 8)",
        ),
        ("Set `in_features` of `b` to 2 * width", "self.b = nn.Linear(2 * width, 8)"),
    ),
    "a norm inside a block that is used twice": (
        model("return self.b(self.a(x))", "torch.randn(2, 4, 8, 8)", TWO_BLOCKS).replace(
            "# inductor-debug", f"{BLOCK}# inductor-debug"
        ),
        (
            "Set `num_features` of `a[1]` to outside",
            "super().__init__(nn.Conv2d(inside, outside, 3), nn.BatchNorm2d(outside))",
        ),
    ),
    "features in the wrong order": (
        model("return self.a(x) + torch.ones(24)", "torch.randn(2, 8)", "self.a = nn.Linear(24, 8)"),
        ("Exchange `in_features` and `out_features` of `a`", "self.a = nn.Linear(8, 24)"),
    ),
    "channels that arrive": (
        model("return self.conv(x)", "torch.randn(2, 1, 8, 8)", "self.conv = nn.Conv2d(3, 6, 3)"),
        ("Set `in_channels` of `conv` to 1", "self.conv = nn.Conv2d(1, 6, 3)"),
    ),
    "a norm": (
        model("return self.norm(x)", "torch.randn(2, 6, 4, 4)", "self.norm = nn.BatchNorm2d(8)"),
        ("Set `num_features` of `norm` to 6", "self.norm = nn.BatchNorm2d(6)"),
    ),
    "a recurrent layer": (
        model("return self.lstm(x)[0]", "torch.randn(2, 5, 12)", "self.lstm = nn.LSTM(16, 8)"),
        ("Set `input_size` of `lstm` to 12", "self.lstm = nn.LSTM(12, 8)"),
    ),
    "a transpose": (
        model("return q @ k", "torch.randn(2, 4, 16, 32), torch.randn(2, 4, 16, 32)", arguments="q, k"),
        ("Transpose the last two dimensions of `k`", "return q @ k.transpose(-2, -1)"),
    ),
    "heads that were not brought to the front": (
        model(
            "k = k.transpose(1, 2)\nreturn F.scaled_dot_product_attention(q, k, k)",
            "torch.randn(2, 16, 4, 8), torch.randn(2, 16, 4, 8)",
            arguments="q, k",
        ),
        ("Transpose dimensions 1 and 2 of `q`", "return F.scaled_dot_product_attention(q.transpose(1, 2), k, k)"),
    ),
    "a view with a size too many": (
        model(
            "B, T, C = x.shape\nreturn x.view(B, T, 4, C)",
            "torch.randn(2, 16, 32)",
        ),
        ("Let `view` find the size C", "return x.view(B, T, 4, -1)"),
    ),
    "a dtype": (
        model("s = x.double()\nreturn s @ v", "torch.randn(1, 4, 4), torch.randn(1, 4, 4)", arguments="x, v"),
        ("Take `.double()` away", "s = x"),
    ),
    "a dtype that something else makes": (
        model("s = x.to(torch.float64)\nreturn s @ v", "torch.randn(1, 4, 4), torch.randn(1, 4, 4)", arguments="x, v"),
        ("Convert `s` to float32", "return s.to(v.dtype) @ v"),
    ),
    "a dtype that fake tensors let pass": (
        model("return self.fc(x.half())", "torch.randn(2, 4)", "self.fc = nn.Linear(4, 4)"),
        ("Take `.half()` away", "return self.fc(x)"),
    ),
    "indices": (
        model("return self.table(x)", "torch.randn(2, 3)", "self.table = nn.Embedding(10, 4)"),
        ("Convert `x` to int64", "return self.table(x.long())"),
    ),
    "a mask": (
        model("return x.masked_fill(m, 0.0)", "torch.randn(4, 4), torch.ones(4, 4)", arguments="x, m"),
        ("Convert `m` to bool", "return x.masked_fill(m.bool(), 0.0)"),
    ),
    "a mask without heads": (
        model(
            "return s.masked_fill(m == 0, 0.0)",
            "torch.randn(2, 4, 8, 8), torch.ones(2, 8, 8)",
            arguments="s, m",
        ),
        ("Give `m == 0` the shape [2, 1, 8, 8]", "return s.masked_fill((m == 0).unsqueeze(1), 0.0)"),
    ),
    "a view beside -1": (
        model("return x.view(-1, 9200)", "torch.randn(2, 64, 12, 12)"),
        ("Set the size 9200 to 9216", "return x.view(-1, 9216)"),
    ),
    "a view": (
        model("return x.view(2, 3, 5)", "torch.randn(2, 12)"),
        ("Set the size 5 to 4", "return x.view(2, 3, 4)"),
    ),
    "a view of what is transposed": (
        model("return x.transpose(1, 2).view(2, 12)", "torch.randn(2, 3, 4)"),
        ("Use `reshape`, which copies where it must", "return x.transpose(1, 2).reshape(2, 12)"),
    ),
    "the wrong dimension": (
        model("return torch.cat([x, y], dim=0)", "torch.randn(2, 3), torch.randn(2, 4)", arguments="x, y"),
        ("Join along dimension 1", "return torch.cat([x, y], dim=1)"),
    ),
    "a dimension that is missing before a join": (
        model(
            "start = self.start.expand(x.shape[0], -1)\nreturn torch.cat([start, x], dim=1)",
            "torch.randn(2, 10, 32)",
            "self.start = nn.Parameter(torch.zeros(32))",
        ),
        ("Give `start` the shape [2, 1, 32]", "return torch.cat([start.unsqueeze(1), x], dim=1)"),
    ),
    "a column that is missing before a table of products": (
        model("return torch.sin(p * d)", "torch.randn(16), torch.randn(32)", arguments="p, d"),
        ("Make a column of `p`", "return torch.sin(p.unsqueeze(1) * d)"),
    ),
    "a flatten that is missing before a layer": (
        model("return self.fc(x)", "torch.randn(2, 120, 1, 1)", "self.fc = nn.Linear(120, 8)"),
        ("Flatten `x` from dimension 1", "return self.fc(x.flatten(1))"),
    ),
    "batches of matrices in the wrong order": (
        model("return v @ scores", "torch.randn(2, 4, 9, 8), torch.randn(2, 4, 9, 9)", arguments="v, scores"),
        ("Swap `v` and `scores`", "return scores @ v"),
    ),
    "a flatten that begins too early": (
        model("return x.flatten(1) + y", "torch.randn(2, 3, 4, 5), torch.randn(2, 3, 20)", arguments="x, y"),
        ("Change `1` to `2` in `flatten(1)`", "return x.flatten(2) + y"),
    ),
    "halves of the wrong dimension": (
        model(
            "mean, spread = self.fc(x).chunk(2, dim=0)\nreturn mean + spread * y",
            "torch.randn(2, 8), torch.randn(2, 5)",
            "self.fc = nn.Linear(8, 10)",
            arguments="x, y",
        ),
        ("Change `0` to `1` in `chunk(2, dim=0)`", "mean, spread = self.fc(x).chunk(2, dim=1)"),
    ),
    "a slice of the wrong dimension": (
        model("return x[:3] + y", "torch.randn(2, 6), torch.randn(2, 3)", arguments="x, y"),
        ("Slice dimension 1 of `x`", "return x[:, :3] + y"),
    ),
    "a view that loses a dimension": (
        model(
            "B, T, C = x.shape\nreturn x.view(B, -1) @ self.weight",
            "torch.randn(2, 7, 32)",
            "self.weight = nn.Parameter(torch.zeros(32, 8))",
        ),
        ("Keep the dimension `T` in `view(B, -1)`", "return x.view(B, T, -1) @ self.weight"),
    ),
    "a product of matrices where numbers are multiplied": (
        model("return std @ eps + std", "torch.randn(2, 10), torch.randn(2, 10)", arguments="std, eps"),
        ("Change `std @ eps` to `std * eps`", "return std * eps + std"),
    ),
    "matrices in the wrong order": (
        model("return w @ x", "torch.randn(3, 8), torch.randn(8, 5)", arguments="x, w"),
        ("Swap `w` and `x`", "return x @ w"),
    ),
    "a method that lacks self": (
        model("return Net.twice(x) if False else self.twice(x)", "torch.randn(3)", "self.factor = 2").replace(
            "    def forward", "    def twice(x):\n        return x * self.factor\n    def forward"
        ),
        ("Give `twice` the parameter `self`", "def twice(self, x):"),
    ),
    "a constructor that lacks self": (
        model("return self.factor * x", "torch.randn(3)", "self.factor = 2").replace("__init__(self)", "__init__()"),
        ("Give `__init__` the parameter `self`", "def __init__(self):"),
    ),
    "a forward that lacks self": (
        model("return self.factor * x", "torch.randn(3)", "self.factor = 2").replace("forward(self, x)", "forward(x)"),
        ("Give `forward` the parameter `self`", "def forward(self, x):"),
    ),
    "arguments in the wrong order": (
        model("return torch.flatten(1, x)", "torch.randn(3, 4, 5)"),
        ("Swap `1` and `x`", "return torch.flatten(x, 1)"),
    ),
    "a misspelt layer": (
        model("return self.droput1(x)", "torch.randn(3)", "self.dropout1 = nn.Dropout(0.1)"),
        ("Rename `droput1` to `dropout1`", "return self.dropout1(x)"),
    ),
    "a layer without self": (
        model("return dropout1(x)", "torch.randn(3)", "self.dropout1 = nn.Dropout(0.1)"),
        ("Rename `dropout1` to `self.dropout1`", "return self.dropout1(x)"),
    ),
    "a misspelt variable": (
        model("hidden = x.relu()\nreturn hiden", "torch.randn(3)"),
        ("Rename `hiden` to `hidden`", "return hidden"),
    ),
}


def test_a_size_that_was_made_up_says_with_what_it_holds(tmp_path: Path) -> None:
    init = "self.conv = nn.Conv2d(1, 8, 3)\nself.fc = nn.Linear(9200, 128)"
    text = model("return self.fc(torch.flatten(self.conv(x), 1))", "torch.randn(2, 1, 28, 28)", init)
    assert mended(tmp_path / "declared.py", text)[0] == "Set `in_features` of `fc` to 5408"
    undeclared = text.replace("# inductor-debug: inputs=[torch.randn(2, 1, 28, 28)]\n", "")
    [finding] = findings(tmp_path / "inferred.py", undeclared)
    titles = [fix.title for fix in guesses(undeclared, finding, load_document("mock")) if fix.title.startswith("Set")]
    assert titles
    assert all(", for x [2, 1, " in title for title in titles)


def test_a_size_that_only_coincidence_fixes_is_mended_without_a_search(tmp_path: Path) -> None:
    text = model("q, k = self.q(x), self.k(x)\nreturn q @ k", "", "self.q = nn.Linear(8, 8)\nself.k = nn.Linear(8, 8)")
    path = tmp_path / "attention.py"
    path.write_text(text.replace("# inductor-debug: inputs=[]\n", ""), encoding="utf-8")
    [finding] = [found for found in analyze(path).findings if found.rule == "fixed-size"]
    first, *_ = fixes = guesses(path.read_text(), finding, load_document("none"))
    assert first.title == "Transpose the last two dimensions of `k`"
    assert not any(fix.title.startswith("Change") for fix in fixes)


@pytest.mark.parametrize("name", CASES)
def test_the_first_fix_that_holds(tmp_path: Path, name: str) -> None:
    text, expected = CASES[name]
    assert mended(tmp_path / "model.py", text) == expected
