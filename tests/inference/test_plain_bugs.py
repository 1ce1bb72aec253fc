"""Single mistakes in ordinary models that declare no inputs are found, freshly opened and by an edit."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import breadth
import pytest
from forked import in_child
from inductor_debug.capture.inference import ways
from inductor_debug.capture.session import analyze
from inductor_debug_schema import (
    Event,
    Finding,
    InferenceHint,
    Inferred,
    JobRequest,
    Severity,
    ShapeConflict,
    Stage,
    StageFinished,
    StageState,
)

pytestmark = pytest.mark.torch

ATTENTION = """
import math
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, dim=128, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // self.heads)
        out = scores.softmax(-1) @ v
        return self.proj(out.transpose(1, 2).reshape(B, T, C))
"""
DIGITS = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.dropout1(x)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)
"""
ENCODER = """
import torch
import torch.nn.functional as F
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.code = nn.Linear(784, 400), nn.Linear(400, 20)

    def forward(self, x):
        return self.code(F.relu(self.hidden(x.view(-1, 784))))
"""
PYRAMID = """
import torch
from torch import nn

class Pyramid(nn.Module):
    def __init__(self, widths=(16, 32, 48)):
        super().__init__()
        self.boxes = nn.ModuleList([nn.Conv2d(width, 4, 1) for width in widths])
        self.classes = nn.ModuleList([nn.Conv2d(width, 9, 1) for width in widths])

    def forward(self, levels, scale=1.0):
        found = [self.boxes[i](level) * scale for i, level in enumerate(levels)]
        return found, [self.classes[i](level) for i, level in enumerate(levels)]
"""
GRAPH = """
import torch
from torch import nn

class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.score = nn.Linear(20, 16), nn.Linear(32, 1)

    def forward(self, h, adjacency):
        n, h = h.shape[0], self.wide(h)
        pairs = torch.cat([h.repeat_interleave(n, 0), h.repeat(n, 1)], 1).view(n, n, -1)
        scores = self.score(pairs).squeeze(-1).masked_fill(adjacency == 0, -1e9)
        return scores.softmax(1) @ h
"""
LAZY = """
import torch
from torch import nn

class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LazyLinear(32), nn.Linear(32, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))
"""

BUGS = {
    # what: (model, what is replaced, by what, where it is told, the rule on a fresh open)
    "a transpose is missing": (ATTENTION, "k.transpose(-2, -1)", "k", "q @ k", "fixed-size"),
    "a precision is mixed": (ATTENTION, "softmax(-1) @ v", "softmax(-1).double() @ v", "scores", "capture-error"),
    "a size has no methods": (
        ATTENTION,
        "return self.proj(out.transpose(1, 2).reshape(B, T, C))",
        "return self.proj(out.transpose(1, 2).reshape(B, T.long(), C))",
        "T.long()",
        "capture-error",
    ),
    "an attribute is misspelt": (ATTENTION, "return self.proj", "return self.prj", "self.prj", "capture-error"),
    "heads are split wrongly": (
        ATTENTION,
        "C // self.heads).perm",
        "C // self.heads + 1).perm",
        "self",
        "capture-error",
    ),
    "a layer takes too many features": (DIGITS, "9216", "9200", "self.fc1(x)", "capture-error"),
    "a layer takes too few features": (DIGITS, "nn.Linear(128", "nn.Linear(120", "self.fc2(x)", "capture-error"),
    "a convolution takes other channels": (DIGITS, "Conv2d(32", "Conv2d(33", "self.conv2(x)", "capture-error"),
    "a layer gives fewer parts than there are names": (
        """
import torch
from torch import nn

class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(64, 3 * 64)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=2)
        return (q @ k.transpose(-2, -1)).softmax(-1) @ v
""",
        "3 * 64",
        "2 * 64",
        "q, k, v",
        "capture-error",
    ),
    "a method lacks self": (DIGITS, "def forward(self, x)", "def forward(x)", "forward(x)", "capture-error"),
    "a constructor lacks self": (DIGITS, "def __init__(self)", "def __init__()", "__init__()", "capture-error"),
    "a constructor that only calls its base lacks self": (
        """
import torch
from torch import nn

class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 3)
    def forward(self, x):
        return self.layer(x)

class Small(Base):
    def __init__(self):
        super().__init__(8)
""",
        "def __init__(self):",
        "def __init__():",
        "__init__()",
        "capture-error",
    ),
    "a number is added to a shape": (
        ATTENTION,
        "reshape(B, T, C)",
        "reshape(x.shape + 1)",
        "x.shape + 1",
        "capture-error",
    ),
    "an attribute lacks self": (DIGITS, "self.dropout1(x)", "dropout1(x)", "dropout1", "capture-error"),
    "a name of the library is misspelt": (DIGITS, "nn.Dropout(", "nn.Droput(", "nn.Droput", "capture-error"),
    "a function is misspelt": (DIGITS, "torch.flatten", "torch.flaten", "torch.flaten", "capture-error"),
    "a precision is mixed where channels are fixed, too": (
        DIGITS,
        "self.conv1(x)",
        "self.conv1(x.double())",
        "self.conv1(x.double())",
        "capture-error",
    ),
    "layers of a list contradict each other": (
        PYRAMID,
        "nn.Conv2d(width, 9",
        "nn.Conv2d(width + 1, 9",
        "self.",
        "capture-error",
    ),
    "a layout grows otherwise than what is laid out": (
        GRAPH,
        "view(n, n, -1)",
        "view(n + 1, n, -1)",
        "torch.cat([h",
        "capture-error",
    ),
    "lazy layers are given another precision": (
        LAZY,
        "self.first(x)",
        "self.first(x.double())",
        "self.first(x",
        "capture-error",
    ),
    "rows are laid out as rows of another size": (
        DIGITS,
        "F.log_softmax(self.fc2(x), dim=1)",
        "F.log_softmax(self.fc2(x).view(-1, 11), dim=1)",
        "self.fc2(x).view(",
        "capture-error",
    ),
    "a number stands where a tensor does": (
        DIGITS,
        "torch.flatten(x, 1)",
        "torch.flatten(1, x)",
        "torch.flatten(1, x)",
        "capture-error",
    ),
    "fractions are added to whole numbers": (
        DIGITS,
        "x = F.relu(self.conv1(x))",
        "x = F.relu(self.conv1(x)).long().add_(x.mean())",
        "F.relu(self.conv1(x)).long().add_",
        "capture-error",
    ),
    "the batch becomes features": (ENCODER, "x.view(-1, 784)", "x.view(784, -1)", "self.hidden(x", "fixed-size"),
    "a mask is made one column short": (
        ATTENTION,
        "out = scores.softmax",
        "out = (scores + torch.ones(T, T).triu(1)[..., 1:]).softmax",
        "scores + torch",
        "fixed-size",
    ),
    "a precision is mixed behind a layer that was guessed": (
        DIGITS,
        "self.conv2(x)",
        "self.conv2(F.pixel_shuffle(x, 1).double())",
        "self.conv2(F.pixel",
        "capture-error",
    ),
    "the batch and the length are exchanged": (
        ATTENTION,
        "softmax(-1) @ v",
        "softmax(-1) @ v.transpose(0, 2)",
        "scores.softmax(-1) @ v",
        "fixed-size",
    ),
    "a part is called by the name of an argument": (
        LAZY,
        "def forward(self, x):\n        return self.second(torch.relu(self.first(x)))",
        "def forward(self, first):\n        return self.second(torch.relu(first(first)))",
        "first(first)",
        "capture-error",
    ),
    "pixels are pooled after they were flattened": (
        DIGITS,
        "x = torch.flatten(x, 1)",
        "x = F.max_pool2d(torch.flatten(x, 1), 2)",
        "F.max_pool2d(torch",
        "capture-error",
    ),
    "an argument too many": (DIGITS, "self.dropout1(x)", "self.dropout1(x, 2)", "self.dropout1(x, 2)", "capture-error"),
}


def told(folder: Path, text: str, hints: list[InferenceHint] | None = None) -> list[Event]:
    """What one job tells of a file."""

    def work() -> list[Event]:
        events: list[Event] = []
        path = str(folder / "model.py")
        request = JobRequest(1, path, text, str(folder), [Stage.PREVIEW], {"name": "x"}, hints=list(hints or ()))
        analyze(request, events.append)
        return [event for event in events if isinstance(event, StageFinished | InferenceHint)]

    events, output = in_child(work)
    assert isinstance(events, list), output
    return events


def findings(events: list[Event]) -> list[Finding]:
    return [finding for event in ends(events) for finding in event.findings]


def inferred(events: list[Event]) -> Inferred:
    (end,) = ends(events)
    assert end.inferred is not None
    return end.inferred


def ends(events: list[Event]) -> list[StageFinished]:
    """What is told of each target in the end: what is told again takes the place of what was told first."""
    return list({event.target: event for event in events if isinstance(event, StageFinished)}.values())


def hints(events: list[Event]) -> list[InferenceHint]:
    return [event for event in events if isinstance(event, InferenceHint)]


def expression(text: str, finding: Finding) -> str:
    """The text at which a finding starts."""
    return text.splitlines()[finding.range.start.line][finding.range.start.character :]


@pytest.mark.parametrize("what", BUGS)
def test_a_mistake_is_found_when_the_file_is_opened(what: str, tmp_path: Path) -> None:
    model, right, wrong, where, rule = BUGS[what]
    text = model.replace(right, wrong)
    (finding,) = [item for item in findings(told(tmp_path, text)) if item.rule in ("capture-error", "fixed-size")]
    assert expression(text, finding).startswith(where)
    assert finding.rule == rule
    assert finding.severity is (Severity.WARNING if rule == "fixed-size" else Severity.ERROR)


@pytest.fixture(scope="module")
def told_before(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Event]]:
    """What is told of a model without a mistake, once for all mistakes in it."""
    folder = tmp_path_factory.mktemp("before")
    return functools.cache(lambda model: told(folder, model))


MODELS = list(dict.fromkeys(model for model, *_ in BUGS.values()))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.partition("class ")[2].partition("(")[0])
def test_a_model_without_a_mistake_is_left_alone(
    model: str, tmp_path: Path, told_before: Callable[[str], list[Event]]
) -> None:
    before = told_before(model)
    assert findings(before) == []
    assert findings(told(tmp_path, model, hints(before))) == []


@breadth.some("what", BUGS, every=3)
def test_a_mistake_is_found_when_it_is_typed(
    what: str, tmp_path: Path, told_before: Callable[[str], list[Event]]
) -> None:
    model, right, wrong, where, _ = BUGS[what]
    before, text = told_before(model), model.replace(right, wrong)
    after = told(tmp_path, text, hints(before))
    (finding,) = [item for item in findings(after) if item.rule == "capture-error"]
    assert expression(text, finding).startswith(where)
    assert finding.severity is Severity.ERROR
    # What did not run is not kept in place of what did.
    assert hints(after) == []


def test_inputs_that_ran_judge_an_edit_and_what_would_run_is_told_beside(tmp_path: Path) -> None:
    before = told(tmp_path, DIGITS)
    text = DIGITS.replace("nn.Conv2d(1, 32", "nn.Conv2d(3, 32")
    after = told(tmp_path, text, hints(before))
    (finding,) = findings(after)
    assert finding.severity is Severity.WARNING
    assert inferred(after).kept_since
    assert inferred(after).instead == "x f32[batch, 3, 28, 28]"
    assert finding.message.endswith("It would run with x f32[batch, 3, 28, 28].")
    # The editor is shown it before other inputs are sought, at the same place.
    first, _ = [event for event in after if isinstance(event, StageFinished)]
    (early,) = first.findings
    assert (early.rule, early.range) == (finding.rule, finding.range)
    assert "It would run with" not in early.message
    assert findings(told(tmp_path, text)) == []


def test_dtypes_that_torch_refuses_are_judged_with_the_sizes_that_ran(
    tmp_path: Path, told_before: Callable[[str], list[Event]]
) -> None:
    before = told_before(ATTENTION)
    assert not inferred(before).signature.endswith("f32[2, 16, 128]")
    text = ATTENTION.replace("self.proj(out", "self.proj(out.double()")
    after = told(tmp_path, text, hints(before))
    (finding,) = [item for item in findings(after) if item.rule == "mixed-dtypes"]
    assert (finding.severity, expression(text, finding)[:9]) == (Severity.ERROR, "self.proj")
    assert inferred(after).signature.endswith("f32[2, 16, 128]")
    assert hints(after) == []
    cast = text.replace("double", "bfloat16").replace("return self", 'with torch.autocast("cpu"): return self')
    assert findings(told(tmp_path, cast, hints(before))) == []


def test_a_device_mix_is_told_in_the_words_of_the_code(
    tmp_path: Path, told_before: Callable[[str], list[Event]]
) -> None:
    text = ATTENTION.replace("scores.softmax(-1)", 'scores.softmax(-1) + torch.zeros(1, device="meta")')
    after = told(tmp_path, text, hints(told_before(ATTENTION)))
    (finding,) = findings(after)
    assert finding.severity is Severity.ERROR
    assert "needs one device" in finding.message
    assert isinstance(finding.facts, ShapeConflict)


def test_inputs_are_inferred_anew_where_a_signature_or_a_documentation_changes(tmp_path: Path) -> None:
    before = told(tmp_path, DIGITS)
    text = DIGITS.replace("Conv2d(1, 32", "Conv2d(3, 32").replace("forward(self, x):", "forward(self, x, scale=1):")
    after = told(tmp_path, text, hints(before))
    assert findings(after) == []
    assert not inferred(after).kept_since
    assert inferred(after).signature == "x f32[batch, 3, 28, 28]"


HEALTHY = {
    "a size is written where a result is broadcast": """
        def __init__(self):
            super().__init__()
            self.conv, self.head = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(17, 8, 4)
        def forward(self, x):
            x = self.conv(x)
            spread = x.std(0).mean().expand(x.size(0), 1, 4, 4)
            return self.head(torch.cat([x, spread], 1))
    """,
    "a size is picked with an index of the model's": """
        def __init__(self):
            super().__init__()
            self.register_buffer("index", torch.arange(64))
        def forward(self, r, b):
            diagonal = r[:, self.index, self.index]
            return torch.bmm(b.unsqueeze(1), r).squeeze(1) * diagonal
    """,
    "all that is joined may be volumes": """
        def __init__(self):
            super().__init__()
            self.norm, self.conv = nn.GroupNorm(8, 64), nn.Conv3d(64, 32, 3, padding=1)
            self.next = nn.Sequential(nn.GroupNorm(8, 32), nn.Conv3d(32, 32, 3, padding=1))
        def forward(self, skip, x):
            x = torch.cat([skip, nn.functional.interpolate(x, size=skip.size()[2:])], 1)
            return self.next(self.conv(self.norm(x)))
    """,
    "nothing is required by the signature": """
        def __init__(self):
            super().__init__()
            self.embedding, self.conv = nn.Embedding(100, 8), nn.Conv2d(3, 8, 3)
        def forward(self, input_ids=None, pixel_values=None):
            batch, _, height, width = pixel_values.shape
            return self.embedding(input_ids).mean(1), self.conv(pixel_values).mean((2, 3))
    """,
    "a script makes the model double": """
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTMCell(1, 8)
        def forward(self, x):
            h = torch.zeros(x.size(0), 8, dtype=torch.double)
            h, c = self.cell(x[:, :1], (h, h))
            return h
    if __name__ == "__main__":
        model = Model()
        model.double()
    """,
    "an input that may be left out is needed": """
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(64, 8)
        def forward(self, x, skip=None):
            x = x.reshape(x.shape[0], 32)
            if skip is not None:
                x = torch.cat([x, skip.reshape(x.shape[0], 32)], 1)
            return self.layer(x)
    """,
    "the code refuses by itself": """
        def forward(self, x):
            if sum(map(int, str(x.shape[-1]))) != 44:
                raise ValueError("a size that nobody can guess")
            return x
    """,
    "an attribute is set by somebody else": """
        def forward(self, x):
            return x * self.scale
    def prepare(model):
        model.scale = 2
    """,
    "a name is defined when the file is a script": """
        def forward(self, x):
            return x * FACTOR
    if __name__ == "__main__":
        FACTOR = 3
    """,
    "an attribute asks for another kind of input": """
        def forward(self, graph):
            return graph.ndata["h"] * graph.number_of_edges()
    """,
    "positions have a table": """
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.zeros(1, 16, 32))
            self.layer = nn.Linear(32, 32)
        def forward(self, x):
            return self.layer(x) + self.table
    """,
    "two inputs have one length": """
        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Linear(32, 8), nn.Linear(16, 8)
        def forward(self, x, y):
            return self.left(x) + self.right(y)
    """,
    "a scale is an input of its own, and made of the other one as well": """
        def forward(self, x, gain):
            mean = torch.mean(x, [0, 2, 3], keepdim=True)
            scale = torch.rsqrt(torch.mean(x**2, [0, 2, 3], keepdim=True) - mean**2) * gain
            return x * scale - mean * scale
    """,
    "real numbers are given where complex ones are wanted": """
        def forward(self, spectrum):
            return torch.view_as_real(spectrum).flatten(-2)
    """,
    "two inputs are added whose ranks nobody says": """
        def __init__(self):
            super().__init__()
            self.value, self.mark = nn.Conv1d(3, 64, 3, padding=1), nn.Sequential(nn.Linear(4, 64))
        def forward(self, x, x_mark):
            return self.value(x.permute(0, 2, 1)).transpose(1, 2) + self.mark(x_mark)
    """,
    "a state is set by another method": """
        def __init__(self):
            super().__init__()
            self.layer, self.memory = nn.Linear(8, 8), None
        def reset(self, batch):
            self.memory = torch.zeros(batch, 8)
        def forward(self, x):
            self.memory = self.memory * 0.9 + self.layer(x)
            return self.memory
    """,
    "a list is filled by another method": """
        def __init__(self):
            super().__init__()
            self.scales = []
        def forward(self, x):
            return x * self.scales[0]
    """,
    "a function could not be imported": """
        def forward(self, x):
            return fused(x)
    try:
        from a_library_that_nobody_has import fused
    except ImportError:
        fused = None
    """,
    "a function could not be imported, and the file goes on without": """
        def forward(self, x):
            return fused(x)
    try:
        from a_library_that_nobody_has import fused
    except ImportError:
        print("slower without")
    """,
    "four parts of a box are unpacked, and more boxes are chosen than small scores have": """
        def forward(self, outputs: dict):
            scores, boxes = outputs["scores"], outputs["boxes"]
            chosen = scores.view(scores.shape[0], -1).topk(100, dim=1)[1] // scores.shape[2]
            x, y, w, h = boxes.unbind(-1)
            corners = torch.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], dim=-1)
            return torch.gather(corners, 1, chosen.unsqueeze(-1).repeat(1, 1, 4))
    """,
    "the kind of a layer is a word that its caller has": """
        def __init__(self, width, kind):
            super().__init__()
            self.layer = getattr(nn, kind.upper())(width, width)
        def forward(self, x):
            return self.layer(x)[0]
    """,
    "the features of edges need not be given, and the layer was made for them": """
        def __init__(self, width=32, of_edges=1):
            super().__init__()
            self.layer = nn.Linear(width * 2 + of_edges, 8)
        def forward(self, x, edge_index, edge_attr=None):
            row, col = edge_index
            pairs = torch.cat([x[row], x[col]], dim=1)
            if edge_attr is not None:
                pairs = torch.cat([pairs, edge_attr], dim=1)
            return self.layer(pairs)
    """,
    "a subclass defines a step": """
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)
        def head(self, x):
            pass
        def forward(self, x):
            return self.head(self.layer(x)) + 1
    """,
    "an input is to be differentiated": """
        def __init__(self):
            super().__init__()
            self.energy = nn.Linear(3, 1)
        def forward(self, positions):
            (gradient,) = torch.autograd.grad(self.energy(positions).sum(), positions)
            return -gradient
    """,
    "an input is a number": """
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))
        def forward(self, x, which):
            return self.layers[which](x)
    """,
    "an input is a generator of random numbers": """
        def forward(self, x, generator):
            return x + torch.randn(x.shape, generator=generator)
    """,
    "two inputs have more dimensions than were guessed": """
        def __init__(self):
            super().__init__()
            self.register_buffer("pairs", torch.triu_indices(27, 27, 1))
            self.layer = nn.Linear(351, 1)
        def forward(self, dense, sparse):
            x = torch.cat([dense[:, None], sparse], 1)
            z = x @ x.transpose(1, 2)
            return self.layer(z[:, self.pairs[0], self.pairs[1]])
    """,
    "a part is given to the constructor": """
        def __init__(self, attention, width):
            super().__init__()
            self.attention, self.layer = attention, nn.Linear(width, width)
        def forward(self, x, mask=None):
            y, weights = self.attention(x, x, x, mask=mask)
            return self.layer(x + y)
    """,
    "two sizes make one": """
        def __init__(self):
            super().__init__()
            self.layer, self.table = nn.Linear(32, 32), nn.Parameter(torch.zeros(49, 49))
        def forward(self, x):
            batch, rows, columns, width = x.shape
            x = self.layer(x).view(batch, rows * columns, width)
            return x @ x.transpose(1, 2) + self.table
    """,
    "an input is a list that is copied": """
        def forward(self, levels):
            levels = levels.copy()
            levels.reverse()
            return levels[0] + 1
    """,
    "a list has tensors of several sizes": """
        def __init__(self):
            super().__init__()
            self.wide, self.narrow = nn.Linear(64, 8), nn.Linear(32, 8)
        def forward(self, levels):
            return self.wide(levels[0]) + self.narrow(levels[1])
    """,
    "a size grows slowly with an input": """
        def __init__(self):
            super().__init__()
            self.down, self.layer = nn.Conv1d(8, 8, 24, stride=24, padding=12), nn.Conv1d(8, 8, 18)
        def forward(self, x):
            return self.layer(self.down(x.permute(0, 2, 1))[..., :30])
    """,
    "two inputs go together": """
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(33, 16)
        def forward(self, nodes, edge_index, edge_attr):
            source, target = edge_index
            return self.layer(torch.cat([nodes[source], nodes[target], edge_attr], -1))
    """,
    "two inputs have the same rows": """
        def forward(self, features, boxes):
            left, top, right, bottom = boxes.unbind(-1)
            return features * (right - left)[..., None]
    """,
    "an image is a square": """
        def __init__(self):
            super().__init__()
            self.layer = nn.Conv2d(3, 8, 1)
        def forward(self, x):
            batch, _, rows, columns = x.shape
            return self.layer(x).view(batch, 8, rows * rows).softmax(-1)
    """,
    "samples of several rows are laid out anew": """
        def __init__(self):
            super().__init__()
            self.layer, self.head = nn.Linear(12, 80), nn.Linear(200, 3)
        def forward(self, x):
            return self.head(self.layer(x).view(x.shape[0], -1, 200))
    """,
    "an input is a single example": """
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(64, 3)
        def forward(self, board):
            return self.layer(board.view(1, -1))
    """,
    "pairs of layers are given to the constructor": """
        def __init__(self, blocks):
            super().__init__()
            self.blocks = blocks
        def forward(self, x, **route):
            for (first, second), given in zip(self.blocks, [{}] * len(self.blocks)):
                x = x + second(first(x), **given)
            return x
    """,
    "lists are as long as their layers": """
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Conv2d(width, 8, 1) for width in (16, 32))
        def forward(self, levels):
            first, second = levels
            return self.layers[0](first) + nn.functional.interpolate(self.layers[1](second), first.shape[-2:])
    """,
    "a detector finds nothing in a small image of noise": """
        def __init__(self):
            super().__init__()
            self.layer = nn.Conv2d(3, 8, 3)
        def forward(self, image):
            image, found, side = image.permute(0, 3, 1, 2).float(), [], min(image.shape[1:3]) * 0.6
            while side >= 2000:
                found.append(self.layer(image))
                side *= 0.7
            return torch.cat(found)
    """,
    "there may be more of what is taken by position": """
        def __init__(self):
            super().__init__()
            self.last, self.fine = nn.Conv2d(16, 8, 1), nn.Conv2d(4, 8, 1)
        def forward(self, *features):
            depth = len(self._modules) + 2
            return self.last(features[-1]).mean((2, 3)) + self.fine(features[-depth]).mean((2, 3))
    """,
    "an image that is halved again and again has a mask": """
        def __init__(self):
            super().__init__()
            self.mask = nn.Conv2d(3, 3, 1)
            self.down = nn.ModuleList(nn.Conv2d(3, 3, 3, 2, 1) for _ in range(6))
        def forward(self, input, input_mask):
            levels = [(input * input_mask) / self.mask(input_mask)]
            for layer in self.down:
                levels.append(layer(levels[-1]))
            x = levels.pop()
            while levels:
                x = torch.cat([nn.functional.interpolate(x, scale_factor=2), levels.pop()], 1)[:, :3]
            return x
    """,
    "a picture is no tensor": """
        def forward(self, image, label):
            left = image.size[0] - 16
            return image.crop((left, 0, left + 16, 16)), label
    """,
    "columns are gone through, as many as there are parts": """
        def __init__(self):
            super().__init__()
            self.tables = nn.ModuleList(nn.Embedding(rows, 8) for rows in (5, 6, 2))
        def forward(self, features, mask=None):
            return sum(self.tables[column](features[:, column] % 2) for column in range(features.shape[1]))
    """,
    "pictures of people are twice as high as wide": """
        def __init__(self):
            super().__init__()
            self.conv = nn.Sequential(*(nn.Conv2d(3 if not n else 8, 8, 4, 2, 1) for n in range(6)))
            self.head = nn.Linear(64, 3)
        def forward(self, x):
            return self.head(self.conv(x).flatten(1))
    """,
    "what is left of a graph may be one": """
        def __init__(self):
            super().__init__()
            self.layer, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8)
        def forward(self, x, graph):
            graphs = int(graph.max()) + 1
            pooled = torch.zeros(graphs, 8).index_add(0, graph, self.layer(x))
            return self.norm(pooled)
    """,
    "one input is shorter than the other": """
        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Linear(8, 16), nn.Linear(16, 8)
        def forward(self, x, y):
            return self.left(x)[:, 1:, :8] + self.right(y)[:, :-2]
    """,
}


def model_of(body: str) -> str:
    lines = [line[4:] for line in body.strip("\n").splitlines()]
    return "\n".join(["import torch", "from torch import nn", "", "class Model(nn.Module):", *lines, ""])


@pytest.mark.parametrize("what", HEALTHY)
def test_nobody_is_blamed_for_a_guess(what: str, tmp_path: Path) -> None:
    assert findings(told(tmp_path, model_of(HEALTHY[what]))) == []


def test_what_runs_only_without_gradients_is_judged_without_and_says_so(tmp_path: Path) -> None:
    body = """
        def __init__(self):
            super().__init__()
            self.layer, self.mean = nn.Conv2d(3, 8, 3), nn.Parameter(torch.zeros(8))
            self.deviation = nn.Parameter(torch.ones(8))
        def forward(self, x):
            return nn.functional.batch_norm(self.layer(x), self.mean, self.deviation)
    """
    (finished,) = [event for event in told(tmp_path, model_of(body)) if isinstance(event, StageFinished)]
    assert (finished.findings, finished.report.state) == ([], StageState.DONE)
    assert any("where torch records gradients" in note for note in finished.report.notes)


def test_a_constructor_that_hands_on_what_it_is_given_is_given_what_its_base_takes(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn

class Readout(nn.Linear):
    def __init__(self, *args, scale=1.0, **kwargs):
        self.scale = scale
        super().__init__(*args, **kwargs)

    def forward(self, x):
        return super().forward(self.scale * x)
"""
    events = told(tmp_path, text)
    assert findings(events) == []
    assert (inferred(events).signature, inferred(events).reason) == ("x f32[batch, 64]", "")


def test_a_class_that_was_not_run_says_how_far_it_came(tmp_path: Path) -> None:
    told_of = inferred(told(tmp_path, model_of(HEALTHY["the code refuses by itself"])))
    assert "a size that nobody can guess" in told_of.reason
    assert told_of.directive.startswith("# inductor-debug: inputs=")


def test_what_is_padded_for_images_gets_an_image(tmp_path: Path) -> None:
    body = """
        def __init__(self):
            super().__init__()
            self.pad, self.convolution = nn.ReflectionPad2d(4), nn.Conv2d(3, 8, 9)
        def forward(self, x):
            return self.convolution(self.pad(x))
    """
    assert "x f32[batch, 3, " in inferred(told(tmp_path, model_of(body))).signature


def test_a_model_written_for_torchscript_is_judged_like_others(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn

class Block(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    @torch.jit.script_method
    def forward(self, x):
        return self.layer(x)
"""
    assert findings(told(tmp_path, text)) == []


MASKED = """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x, mask=None):
        scores = self.query(x) @ self.key(x).transpose(1, 2)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        return scores.softmax(-1) @ x

class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(2))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x
"""
NEEDED = {
    # what: (what is replaced in MASKED, by what)
    "one of several arguments": ("x, mask=None", "x=None, mask=None"),
    "the code says so itself": (
        "if mask is not None:",
        "if mask is None:\n            raise ValueError(mask)\n        if 1:",
    ),
}


def test_a_default_of_none_that_does_not_run_is_told_where_it_fails(tmp_path: Path) -> None:
    assert findings(told(tmp_path, MASKED)) == []
    text = MASKED.replace("if mask is not None:", "if True:")
    events = told(tmp_path, text)
    (finding,) = findings(events)
    assert (finding.rule, finding.severity) == ("unusable-default", Severity.WARNING)
    assert expression(text, finding).startswith("mask.unsqueeze")
    assert "`mask` is None by default" in finding.message
    assert inferred(events).signature == "x f32[batch, seq, 64], mask b8[batch, seq]"


def test_a_default_of_none_is_told_where_no_call_runs(tmp_path: Path) -> None:
    text = MASKED.replace("if mask is not None:", "if True:").replace("unsqueeze(1)", "view(7, 11, 13)")
    (finding,) = findings(told(tmp_path, text))
    assert (finding.rule, finding.severity) == ("capture-error", Severity.WARNING)
    assert expression(text, finding).startswith("mask.view")
    assert "`mask` is None by default" in finding.message


@pytest.mark.parametrize("what", NEEDED)
def test_what_the_code_needs_as_it_says_is_no_unusable_default(what: str, tmp_path: Path) -> None:
    text = MASKED.replace(*NEEDED[what])
    assert findings(told(tmp_path, text)) == []


OWN_METHOD = """
import torch
from torch import nn

class Decoder(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(tags, tags))

    def decode(self, features, mask):
        return (features @ self.scores) * mask

    def forward(self, features):
        return self.decode(features)
"""


def test_a_method_of_its_own_that_is_called_wrongly_is_the_classs_fault_whatever_it_is_built_of(tmp_path: Path) -> None:
    (finding, *_) = findings(told(tmp_path, OWN_METHOD))
    assert expression(OWN_METHOD, finding) == "self.decode(features)"
    assert "`self.decode` is not given `mask`" in finding.message


def test_a_base_that_is_not_the_classs_own_is_told_where_super_names_it(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self):
        super().__init__()

class Gate(nn.Module):
    def __init__(self, part):
        super(Scale, self).__init__()
        self.part = part

    def forward(self, x):
        return x * self.part(x)
"""
    (finding, *_) = findings(told(tmp_path, text))
    assert expression(text, finding).startswith("super(Scale, self)")
    assert finding.severity is Severity.ERROR


def test_a_name_that_only_its_own_statement_binds_is_the_classs_fault(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.log_variance = nn.Linear(20, 4), nn.Linear(20, 4)

    def forward(self, x):
        mean, log_variance = self.mean(x), log_variance(x)
        return mean + log_variance
"""
    (finding, *_) = findings(told(tmp_path, text))
    assert expression(text, finding) == "log_variance(x)"
    assert finding.severity is Severity.ERROR


REMOVED = """
import torch
from torch import nn

class Whiten(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.basis = nn.Parameter(AT_ONCE)

    def forward(self, x):
        return x @ self.basis + torch.matrix_rank(x)
"""


@pytest.mark.parametrize("at_once", ["torch.symeig(torch.eye(width))[1]", "torch.eye(width)"])
def test_a_function_that_torch_has_removed_is_told_as_an_error_where_it_is_called(at_once: str, tmp_path: Path) -> None:
    text = REMOVED.replace("AT_ONCE", at_once)
    (finding, *_) = findings(told(tmp_path, text))
    removed = "torch.symeig(torch.eye(width))" if "symeig" in text else "torch.matrix_rank(x)"
    assert expression(text, finding).startswith(removed)
    assert finding.severity is Severity.ERROR
    assert "is now removed" in finding.message


CONVERTED = """
import torch
from torch import nn

class Router(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.classifier = nn.Linear(width, 4)

    def forward(self, hidden_states: torch.Tensor):
        self.classifier = self.classifier.to(torch.bfloat16)
        return self.classifier(hidden_states).softmax(-1)
"""


def test_weights_that_are_converted_to_half_precision_are_given_inputs_of_it(tmp_path: Path) -> None:
    assert findings(told(tmp_path, CONVERTED)) == []


def test_one_layer_of_half_precision_among_others_is_still_an_error(tmp_path: Path) -> None:
    text = CONVERTED.replace("softmax(-1)", "float().softmax(-1) @ self.table")
    text = text.replace("nn.Linear(width, 4)", "nn.Linear(width, 4); self.table = nn.Parameter(torch.ones(4, 4))")
    text = text.replace(
        "        return self", "        hidden_states = hidden_states @ self.first\n        return self"
    )
    text = text.replace("self.table =", "self.first = nn.Parameter(torch.ones(width, width)); self.table =")
    assert [(finding.severity, finding.target) for finding in findings(told(tmp_path, text))] == [
        (Severity.ERROR, "Router")
    ]


INVERTED = """
import torch
from torch import nn

class Hidden(nn.Module):
    def forward(self, x, ignored: int = -1):
        kept, seen = x.ne(ignored), x > 0
        return x * (kept - seen)

class Given(nn.Module):
    def forward(self, x, mask, other_mask):
        return x * (mask - other_mask)
"""


def test_a_comparison_that_is_subtracted_is_an_error_whatever_is_given_and_an_argument_is_none(tmp_path: Path) -> None:
    (finding,) = findings(told(tmp_path, INVERTED))
    assert (finding.target, expression(INVERTED, finding), finding.severity) == (
        "Hidden",
        "kept - seen)",
        Severity.ERROR,
    )
    assert "bool tensors" in finding.message


def test_a_mask_of_one_of_two_ranks_needs_no_more_dimensions_than_the_smaller(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn

class SharedDropout(nn.Module):
    def forward(self, x, dropout=0.5, dim=3):
        if dim == 4:
            mask = x.data.new(x.size(0), x.size(1), 1, x.size(3)).bernoulli_(1 - dropout)
        else:
            mask = x.data.new(x.size(0), 1, x.size(2)).bernoulli_(1 - dropout)
        return mask.expand_as(x) * x
"""
    assert not findings(told(tmp_path, text))


def test_a_constructor_that_sets_elements_one_by_one_is_run_with_real_tensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "CONSTRUCTION_SECONDS", 0.5)  # less than it takes without values
    text = """
import math
import torch
from torch import nn

class Positions(nn.Module):
    def __init__(self, width: int = 512, longest: int = 16):
        super().__init__()
        table = torch.zeros(longest, width)
        for position in range(longest):
            for index in range(width):
                table[position, index] = math.sin(position / 10000 ** (index / width))
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(1)]
"""
    job = told(tmp_path, text)
    assert not findings(job)
    assert inferred(job).reason == "", "it was built"


def test_a_function_of_autograd_in_the_style_that_torch_no_longer_runs_is_told_where_it_is_called(
    tmp_path: Path,
) -> None:
    text = """
import torch
from torch import nn

class Sign(torch.autograd.Function):
    def forward(self, x):
        return x.sign()

    def backward(self, gradient):
        return gradient

class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.project = nn.Linear(width, 8)

    def forward(self, x):
        return self.project(Sign()(x))
"""
    [finding] = findings(told(tmp_path, text))
    assert finding.severity is Severity.ERROR
    assert expression(text, finding).startswith("Sign()(x)")


FITTING = {
    "a table of the constructor's": """
class Model(nn.Module):
    def __init__(self, fields):
        super().__init__()
        self.table = nn.Embedding(sum(fields), 16)
        self.offsets = np.cumsum(fields)

    def forward(self, x):
        return self.table(x + x.new_tensor(self.offsets).unsqueeze(0))
""",
    "a loss that is given what a list has": """
class Model(nn.CrossEntropyLoss):
    def forward(self, *inputs):
        outputs, target = tuple(inputs)
        return super().forward(*[*list(outputs), target])
""",
    "keys of a table that is empty by default": """
class Model(nn.Module):
    def __init__(self, settings={}):
        super().__init__()
        self.layer = nn.Linear(8, settings["outer"]["width"])

    def forward(self, x):
        return self.layer(x)
""",
    "stacks of two inputs": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(32, 1)

    def forward(self, values, keys):
        count = values.numel() // values.size(0) // values.size(-1)
        weight = self.score(torch.tanh(keys.view(-1, count, 32)).view(-1, 32)).view(-1, count)
        return torch.bmm(weight.softmax(1).unsqueeze(1), values.view(-1, count, values.size(-1)))
""",
    "features that a reshape takes the number of from a table of codes": """
class Codebook(nn.Module):
    def __init__(self, num_embeds, embed_dim):
        super().__init__()
        self.embedding = nn.Embedding(num_embeds, embed_dim)

    def forward(self, z_e):
        \"\"\"Looks codes up.

        Args:
            z_e (Tensor): Input tensor (B, embed_dim, T).

        \"\"\"
        rows, codes = z_e.transpose(2, 1).contiguous(), self.embedding.weight
        flat = rows.view(-1, codes.size(1))
        distances = (codes**2).sum(1) + (flat**2).sum(1, keepdim=True) - 2 * flat @ codes.t()
        return distances.argmin(1).view(*rows.size()[:-1])

class Whole(nn.Module):
    def __init__(self, num_embeds=512, embed_dim=256):
        super().__init__()
        self.codebook = Codebook(num_embeds=num_embeds, embed_dim=embed_dim)

    def forward(self, x):
        return x + self.codebook.embedding.weight[0]
""",
    "a state of more dimensions than what is first tried": """
class Cell(nn.Module):
    def __init__(self, size=(16, 16), channels=8, width=32):
        super().__init__()
        self.size, self.width = size, width
        self.gates = nn.Conv2d(channels + width, 2 * width, 3, padding=1)
        self.state = nn.Conv2d(channels + width, width, 3, padding=1)

    def forward(self, inputs, state=None):
        if state is None:
            state = torch.zeros(inputs.size(1), self.width, *self.size)
        for x in inputs:
            update, reset = self.gates(torch.cat((x, state), 1)).sigmoid().split(self.width, dim=1)
            state = (1 - update) * state + update * self.state(torch.cat((x, reset * state), 1)).tanh()
        return state
""",
}


@pytest.mark.parametrize("what", FITTING)
def test_what_fits_other_sizes_of_the_same_is_left_alone(what: str, tmp_path: Path) -> None:
    events = told(tmp_path, "import numpy as np\nimport torch\nfrom torch import nn\n" + FITTING[what])
    assert [finding.message for finding in findings(events) if finding.rule in ("capture-error", "fixed-size")] == []


def test_a_part_that_forgets_the_constructor_of_its_base_is_told_at_its_own(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, factor=3):
        self.factor = factor

    def forward(self, x):
        return x * self.factor

class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first, self.scale = nn.Linear(width, 8), Scale()

    def forward(self, x):
        return self.scale(self.first(x))
"""
    [finding] = findings(told(tmp_path, text))
    assert finding.severity is Severity.ERROR
    assert finding.message == (
        "`Scale.__init__` does not call `super().__init__()`, which every module needs (in Net)."
    )
    assert finding.range.start.line == text.splitlines().index("    def __init__(self, factor=3):")
