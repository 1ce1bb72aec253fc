"""A search for inputs takes what runs; where that only avoids a mistake, the mistake is told all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from inductor_debug_schema import Severity
from test_plain_bugs import expression, findings, told

pytestmark = pytest.mark.torch

IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
FIELD = """
class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(36, 4)

    def forward(self, points):
        '''A radiance field: `points` are (num_rays, 3).'''
        scaled = points[...] * 2.0 ** torch.arange(6)
        return self.net(torch.cat([scaled.sin(), scaled.cos()], -1).flatten(-2))
"""
TRANSLATOR = """
class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 32)
        self.encoder, self.head = nn.Linear(64, 32), nn.Linear(32, 100)

    def forward(self, source, target, memory=None):
        if memory is None:
            memory = self.encoder(self.words(source))
        return self.head(self.words(target) + memory.mean(1, keepdim=True))
"""
CROSS = """
class Cross(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = nn.Linear(32, 32)

    def forward(self, x, memory=None, mask=None):
        return x @ self.keys(memory).transpose(-2, -1)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.cross = Cross()

    def forward(self, x, memory):
        return self.cross(x, memory) if self.training and x.shape[0] > 10**6 else x
"""
CAPTIONED = """
class Captioned(nn.Module):
    def __init__(self, encoder=None):
        super().__init__()
        self.encoder, self.words, self.keys = encoder, nn.Embedding(100, 32), nn.Linear(48, 32)

    def forward(self, text, images=None, tokens=None):
        if images is not None:
            assert self.encoder is not None, "an encoder is needed for images"
            tokens = self.encoder(images)
        return self.words(text) @ self.keys(tokens).transpose(-2, -1)
"""
MASKED = """
class Masked(nn.Module):
    def forward(self, tokens: "Float[Tensor, 'batch seq dim']", keep: "Bool[Tensor, 'batch seq']"):
        scores = tokens @ tokens.transpose(1, 2)
        return scores.masked_fill((~keep.unsqueeze(1))[..., 1:], -1e9).softmax(-1) @ tokens
"""
PYRAMID = """
class Pyramid(nn.Module):
    def __init__(self, channels=48, width=64):
        super().__init__()
        self.stem, self.head = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(channels, 5, 1)

    def forward(self, x):
        return self.head(self.stem(x).relu())
"""
SOFTMAX = """
# inductor-debug: inputs=(torch.randn(2, 16, 64),)
class Weights(nn.Module):
    def forward(self, x):
        return (x @ x.transpose(-2, -1)).softmax(dim=3)
"""


def test_inputs_of_which_the_text_states_another_shape_hide_no_mistake(tmp_path: Path) -> None:
    text = IMPORTS + FIELD
    (finding,) = [item for item in findings(told(tmp_path, text)) if item.rule == "capture-error"]
    assert expression(text, finding).startswith("points[...] * 2.0")
    assert finding.severity is Severity.WARNING
    assert "The text says that `points` is (num_rays, 3)." in finding.message


@pytest.mark.parametrize(
    "said", ["`points` are (num_rays, 3) or (batch, 3, 6).", "`points` are (..., 3).", "`points` are [0, 1)", ""]
)
def test_a_text_that_leaves_doubts_blames_nobody(said: str, tmp_path: Path) -> None:
    text = IMPORTS + FIELD.replace("`points` are (num_rays, 3).", said)
    assert findings(told(tmp_path, text)) == []


def test_what_the_text_calls_by_one_name_is_one_size(tmp_path: Path) -> None:
    text = IMPORTS + MASKED
    (finding,) = findings(told(tmp_path, text))
    assert finding.rule == "fixed-size"
    assert expression(text, finding).startswith("scores.masked_fill")
    assert findings(told(tmp_path, text.replace("[..., 1:]", ""))) == []


@pytest.mark.parametrize("mark", ["#", "?", "_"])
def test_a_name_that_may_stand_for_several_sizes_blames_nobody(mark: str, tmp_path: Path) -> None:
    text = IMPORTS + MASKED.replace("'batch seq']", f"'batch {mark}seq']")
    assert findings(told(tmp_path, text)) == []


@pytest.mark.parametrize(("built", "rules"), [("Pyramid(channels=64)", []), ("Pyramid(width=32)", ["capture-error"])])
def test_defaults_that_the_project_never_uses_are_not_blamed(built: str, rules: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"from model import Pyramid\n\nmodel = {built}\n", encoding="utf-8")
    assert [item.rule for item in findings(told(tmp_path, IMPORTS + PYRAMID))] == rules


def test_an_argument_that_may_be_left_out_hides_no_mistake_in_what_it_replaces(tmp_path: Path) -> None:
    text = IMPORTS + TRANSLATOR
    (finding,) = [item for item in findings(told(tmp_path, text)) if item.rule == "capture-error"]
    assert expression(text, finding).startswith("self.encoder(self.words(source))")
    assert findings(told(tmp_path, text.replace("nn.Linear(64, 32)", "nn.Linear(32, 32)"))) == []


def test_a_part_is_called_as_its_owner_calls_it(tmp_path: Path) -> None:
    assert findings(told(tmp_path, IMPORTS + CROSS)) == []
    alone = CROSS.partition("class Block")[0]
    assert [item.rule for item in findings(told(tmp_path, IMPORTS + alone))] == ["unusable-default"]


def test_a_dimension_that_is_not_there_is_told_once_where_fake_tensors_do_not_look(tmp_path: Path) -> None:
    text = IMPORTS + SOFTMAX
    (finding,) = findings(told(tmp_path, text))
    assert expression(text, finding).startswith("(x @ x.transpose(-2, -1)).softmax(dim=3)")
    assert "[2, 16, 16] has no dimension 3" in finding.message


def test_an_argument_that_another_replaces_with_an_option_of_the_constructor_is_not_blamed(tmp_path: Path) -> None:
    assert findings(told(tmp_path, IMPORTS + CAPTIONED)) == []
    first, last = CAPTIONED.index("        if images"), CAPTIONED.index("        return self.words")
    alone = CAPTIONED[:first] + CAPTIONED[last:]
    assert [item.rule for item in findings(told(tmp_path, IMPORTS + alone))] == ["unusable-default"]
