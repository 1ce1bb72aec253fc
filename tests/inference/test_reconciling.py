"""Arguments of constructors that nobody wrote down, and that must agree: no contradiction between them is told."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import analyze
from inductor_debug.capture.inference.construction.call_sites import calls_in_project
from inductor_debug.capture.inference.construction.given_arguments import Construction
from inductor_debug.capture.inference.construction.reconciling import reconciled
from inductor_debug.capture.inference.hints import KeptInputs, read, written
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.specs.specs import ConstantSpec, Guess, SpecArgument, TensorSpec
from inductor_debug_schema import StageFinished, StageState

pytestmark = pytest.mark.torch

TIED = """
    import torch
    from torch import nn

    class Tied(nn.Module):
        def __init__(self, words, width, channels):
            super().__init__()
            self.table, self.head = nn.Embedding(words, width), nn.Linear(width, words)
            self.head.weight = self.table.weight
            sizes = [width, *channels]
            self.mix = nn.Sequential(*(nn.Conv1d(a, b, 1) for a, b in zip(sizes, sizes[1:])))

        def forward(self, ids):
            return self.head(self.mix(self.table(ids).transpose(1, 2)).transpose(1, 2))
"""
GATED = """
    import torch
    from torch import nn

    class Gated(nn.Module):
        def __init__(self, in_channels, hidden):
            super().__init__()
            self.gates, self.first = nn.Conv2d(in_channels, 2 * hidden, 1), nn.Conv2d(in_channels, hidden, 1)

        def forward(self, x):
            return x * self.first(x) + self.gates(x).chunk(2, 1)[0]
"""

BRANCHED = """
    from torch import nn

    class Branched(nn.Module):
        def __init__(self, num_branches, widths, blocks):
            super().__init__()
            self.check(num_branches, widths)
            assert len(blocks) == num_branches
            self.layers = nn.ModuleList(nn.Conv2d(3, width, 1) for width in widths)

        def check(self, branches, widths):
            if branches != len(widths):
                raise ValueError(f"{branches} <> {len(widths)}")

        def forward(self, x):
            return [layer(x) for layer in self.layers]
"""
DROPPED = """
    import torch
    from torch import nn

    def dropped(x, rate, training):
        if rate == 0 or not training:
            return x
        return x * torch.empty_like(x).bernoulli_(1 - rate)

    class Dropped(nn.Module):
        def __init__(self, rate=None):
            super().__init__()
            self.rate = rate

        def forward(self, x):
            return dropped(x, self.rate, self.training)
"""
RESIZED = """
    from torch import nn

    class Resized(nn.Module):
        def __init__(self, size=None, scale_factor=None):
            super().__init__()
            self.size, self.scale_factor = size, scale_factor

        def forward(self, image):
            return nn.functional.interpolate(image, self.size, self.scale_factor)
"""
HOOKED = """
    from torch import nn

    class Hooked(nn.Module):
        def __init__(self, width=8):
            super().__init__()
            self.layer = nn.Linear(width, width)

        def keep(self, gradient):
            self.gradient = gradient

        def forward(self, x):
            y = self.layer(x)
            y.register_hook(self.keep)
            return y
"""
DISTILLED = """
    from torch import nn

    class Distilled(nn.Module):
        def __init__(self, criterion: nn.Module, weight: float):
            super().__init__()
            self.criterion, self.weight = criterion, weight

        def forward(self, outputs, labels):
            return self.criterion(outputs, labels) * self.weight
"""
LISTED = """
    from torch import nn

    class Listed(nn.Module):
        def __init__(self, width=8):
            super().__init__()
            self.layer = nn.Linear(width, width)
            self.modules = [self.layer]

        def forward(self, x):
            return self.modules[0](x)
"""
NORMED = """
    from functools import partial
    from torch import nn

    class Normed(nn.Module):
        def __init__(self, config):
            super().__init__()
            norm_layer = config.norm_layer or nn.BatchNorm2d
            if config.norm_options:
                norm_layer = partial(norm_layer, **config.norm_options)
            self.norm = norm_layer(config.width)

        def forward(self, x):
            return self.norm(x)
"""
GROUPED = """
    from torch import nn

    class _Part(nn.Module):
        def __init__(self, dim, *, codebook_size, num_quantizers):
            super().__init__()
            self.tables = nn.ModuleList([nn.Linear(dim, codebook_size) for _ in range(num_quantizers)])

        def forward(self, x):
            return sum(table(x) for table in self.tables)

    class Grouped(nn.Module):
        def __init__(self, dim, groups=2, **options):
            super().__init__()
            self.parts = nn.ModuleList([_Part(dim=dim // groups, **options) for _ in range(groups)])

        def forward(self, x):
            return [part(half) for part, half in zip(self.parts, x.chunk(len(self.parts), dim=-1))]
"""
KEYED = """
    from torch import nn

    class Keyed(nn.Module):
        def __init__(self, width=8, **others):
            super().__init__()
            self.layer = nn.Linear(width, others["hidden_dim"])
            self.with_bias = others["with_bias"]

        def forward(self, x):
            return self.layer(x) + 1 if self.with_bias else self.layer(x)
"""
MADE_WHOLE = {
    "a list and a number": TIED,
    "a residual": GATED,
    "the length of a list": BRANCHED,
    "a rate that is None by default": DROPPED,
    "one of two that are None by default": RESIZED,
    "gradients are recorded": HOOKED,
    "a layer that has another in its place": NORMED,
    "a list called as a method of modules is": LISTED,
    "a module that is called with two": DISTILLED,
    "what a part needs, by name": GROUPED,
    "what is looked up among the other arguments": KEYED,
}


@pytest.mark.parametrize("text", MADE_WHOLE.values(), ids=list(MADE_WHOLE))
def test_invented_widths_that_must_be_equal_are(text: str, tmp_path: Path) -> None:
    job = analyze(tmp_path / "model.py", dedent(text))
    assert "capture-error" not in {finding.rule for finding in job.findings}
    assert [event.report.state for event in job.events if isinstance(event, StageFinished)] == [StageState.DONE]


ASSEMBLED = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, widths):
            super().__init__()
            self.main = nn.Sequential(*(nn.Linear(a, b) for a, b in zip(widths, widths[1:])))

        def forward(self, x):
            return self.main(x)

    class Old(nn.Module):
        def __init__(self, size, hidden):
            super().__init__()
            self.table, self.layer = nn.Embedding(100, size), nn.Linear(size, hidden)

        def forward(self, ids):
            return self.layer(self.table(ids).sum(1))

    class New(Old):
        pass

    class Model(nn.Module):
        def __init__(self, table, net):
            super().__init__()
            self.table, self.net = table, net

        def forward(self, ids):
            return self.net(self.table(ids))

    def build(dataset, hidden):
        return Model(Old(300, hidden), Net([hidden, hidden]))

    def build_new(dataset, hidden):
        return Model(New(300, hidden), Net([hidden, hidden]))
"""


def test_parts_that_were_made_up_alike_in_two_ways_blame_nobody(tmp_path: Path) -> None:
    assert analyze(tmp_path / "model.py", dedent(ASSEMBLED)).findings == []


SWITCHED_OFF = """
    from dataclasses import dataclass
    import torch
    from torch import nn

    @dataclass
    class Config:
        width: int = 16
        experts: int = 0

    class Router(nn.Module):
        def __init__(self, config: Config) -> None:
            super().__init__()
            self.config = config
            self.weight = nn.Parameter(torch.empty(config.experts, config.width))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            scores = nn.functional.linear(x, self.weight)
            return scores.view(-1, self.config.experts).topk(2, dim=-1)[0]
"""


def test_a_configuration_that_leaves_out_what_a_class_is_for_blames_nobody(tmp_path: Path) -> None:
    assert analyze(tmp_path / "model.py", dedent(SWITCHED_OFF)).findings == []


def test_likeliest_changes_come_first_and_what_was_written_stays() -> None:
    values = {"width": 64, "channels": [32, 128], "words": 64}
    arguments = tuple(SpecArgument(name, ConstantSpec(repr(value), value)) for name, value in values.items())
    made = Construction(arguments, invented=("width", "channels"))
    assert list(reconciled(made, 64, 128)) == [
        (("width", 128),),
        (("channels", [32, 64]),),
        (("channels", [32, 256]),),
        (("channels", [64, 128]),),
        (("width", 32),),
        (("channels", [16, 128]),),
        (("channels", [32, 192]),),
        (("channels", [96, 128]),),
    ]


def test_changes_are_kept_with_the_inputs() -> None:
    guess = Guess((SpecArgument("x", TensorSpec(("B", 8))),), (("B", 2),))
    kept = KeptInputs(1, "(128,)", Found(guess, frozenset("B"), guess), "2026-01-01T00:00:00", (("width", 128),))
    assert read(written(kept)) == kept


def test_calls_of_another_files_class_of_the_same_name_tell_nothing(tmp_path: Path) -> None:
    for name, width in (("first", 8), ("second", 16)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.py").write_text("class Net(Module):\n    pass\n")
        (tmp_path / name / "train.py").write_text(f"from {name}.model import Net\nnet = Net({width})\n")
    (tmp_path / "second" / "again.py").write_text("from model import *\nnet = Net(32)\n")
    assert list(calls_in_project(str(tmp_path), str(tmp_path / "first" / "model.py"), "Net")) == [([8], {})]


SCRIPT = """
import os
from model import *
shape = (3, 8 * 4)
os.makedirs("/nowhere/%s" % "pictures", exist_ok=True)
os.makedirs("/nowhere/models", exist_ok=True)
part = Part(8)
net = Net(shape, part=part)
"""


def test_a_script_beside_that_takes_all_names_of_a_file_tells_what_its_class_is_given(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("class Part(Module):\n    pass\nclass Net(Module):\n    pass\n")
    (tmp_path / "train.py").write_text(SCRIPT)
    part = type("Part", (), {})
    calls = calls_in_project(str(tmp_path), str(tmp_path / "model.py"), "Net", {"Part": part})
    ((args, kwargs),) = calls
    assert args == [(3, 32)]
    assert (kwargs["part"].kind, kwargs["part"].args) == (part, (8,))
